import BlueZ
import CDBus
import Glibc
import Testing

@Suite struct SignatureTests {
    @Test(arguments: [
        "y", "a{sv}", "aay", "(i(s)av)", "a{oa{sa{sv}}}", "a(ybnqiuxtdsogh)",
        String(repeating: "a", count: 32) + "y",
        String(repeating: "(", count: 32) + "y" + String(repeating: ")", count: 32),
    ])
    func `a complete type is accepted`(text: String) {
        #expect(Signature(text)?.text == text)
    }

    @Test(arguments: [
        "", "z", "ss", "a", "a{s}", "a{vs}", "a{sss}", "{sv}", "(", "()", "(s", "s)", "a{s(", "m",
        String(repeating: "a", count: 33) + "y",
        String(repeating: "(", count: 33) + "y" + String(repeating: ")", count: 33),
        String(repeating: "y", count: 256), "\0", "é",
    ])
    func `what is no complete type is refused`(text: String) {
        #expect(Signature(text) == nil)
    }

    @Test func `random letters are judged as libdbus judges them`() {
        var random = SystemRandomNumberGenerator()
        let letters = Array("aaaaa(((()))){{}}sybv")
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...10, using: &random)
            let text = String((0..<length).map { _ in letters.randomElement() ?? "s" })
            let single = dbus_signature_validate_single(text, nil) != 0
            #expect((Signature(text) != nil) == single, "\(text)")
            #expect((Signature.list(text) != nil) == (dbus_signature_validate(text, nil) != 0))
        }
    }
}

@Suite struct ObjectPathTests {
    @Test(arguments: ["/", "/a", "/org/bluez/hci0/dev_C0_00", "/A1/_"])
    func `a path is accepted`(text: String) {
        #expect(ObjectPath(text)?.text == text)
        #expect(dbus_validate_path(text, nil) != 0)
    }

    @Test(arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/ä", "/a b", "/a\0", "/a\n"])
    func `what is no path is refused`(text: String) {
        #expect(ObjectPath(text) == nil)
    }

    @Test func `a path knows what stands within it`() throws {
        let outer = try #require(ObjectPath("/org/bluez"))
        let inner = try #require(ObjectPath("/org/bluez/hci0"))
        let other = try #require(ObjectPath("/org/bluezed"))
        #expect(inner.isWithin(outer) && outer.isWithin(outer) && outer.isWithin(.root))
        #expect(!other.isWithin(outer) && !outer.isWithin(inner))
        #expect(inner.parent == outer && inner.name == "hci0")
        #expect(ObjectPath("/a")?.parent == .root && ObjectPath.root.parent == nil)
        #expect(ObjectPath.root.appending("x")?.text == "/x" && outer.appending("a/b") == nil)
    }
}

@Suite struct ValueTests {
    static let values: [DBusValue] = [
        .byte(255), .boolean(true), .boolean(false), .int16(-1), .uint16(65_535), .int32(.min),
        .uint32(.max), .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("tõsi 🚲"),
        .objectPath(.root), .signature([]), .signature([.properties, .byte]),
        .bytes([]), .bytes(Array(0...255)), .strings([]), .strings(["a", ""]),
        .array(of: .bytes, [.bytes([1]), .bytes([])]),
        .array(of: .variant, [.variant(.byte(1)), .variant(.string("x"))]),
        .properties([:]),
        .properties(["RSSI": .int16(-60), "UUIDs": .strings(["180a"]), "Data": .bytes([1, 2])]),
        .dictionary(
            key: .uint16,
            value: .variant,
            [DBusEntry(key: .uint16(0xFFFF), value: .variant(.bytes([9])))]
        ),
        .structure([.byte(1), .structure([.string("in"), .boolean(true)])]),
        .variant(.variant(.variant(.uint32(7)))),
        .variant(.array(of: .properties, [])),
        nested(30),
    ]

    static func nested(_ depth: Int) -> DBusValue {
        (0..<depth).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
    }

    @Test(arguments: values)
    func `a value goes over the bus and comes back as it was`(value: DBusValue) async throws {
        let type = value.signature.text
        let echoed = try await withPair { service, client in
            await service.export(Sample.description(type, gives: type), at: Sample.path) {
                $0.reply($0.arguments[0])
            }
            return try await client.call(Sample.call(service, [value]), answering: type)
        }
        #expect(echoed == [value])
    }

    static let unsendable: [(DBusValue, ValueError)] = [
        (.string("a\0b"), .nulInText),
        (.structure([]), .emptyStructure),
        (.array(of: .string, [.byte(1)]), .mismatch(expected: .string, found: .byte)),
        (.array(of: .byte, [.byte(1)]), .wrongContainer(.bytes)),
        (
            .dictionary(key: .string, value: .byte, [.init(key: .byte(1), value: .byte(1))]),
            .mismatch(expected: .string, found: .byte)
        ),
        (nested(40), .tooDeep(limit: 32)),
        ((0..<40).reduce(.byte(1)) { value, _ in .structure([value]) }, .tooDeep(limit: 32)),
        (.bytes(Array(repeating: 0, count: 33 << 20)), .tooLong(limit: 32 << 20)),
    ]

    @Test(arguments: unsendable.indices)
    func `what the bus forbids is refused before it is sent`(index: Int) async throws {
        let (value, expected) = Self.unsendable[index]
        try await withPair { service, client in
            await #expect(throws: BusError.unsendable(expected)) {
                try await client.call(Sample.call(service, [value]))
            }
            await #expect(throws: BusError.unsendable(.wrongName("no name"))) {
                try await client.call(
                    MethodCall("no name", of: "a.b", at: .root, on: nil)
                )
            }
            // The connection still works.
            await #expect(throws: BusError.refused(.unknownObject(Sample.path))) {
                try await client.call(Sample.call(service))
            }
        }
    }

    @Test func `a descriptor that was taken is not sent`() async throws {
        try await withPair { service, client in
            let pair = try #require(UnixDescriptor.packetPair())
            if let number = pair.theirs.take() { close(number) }
            await #expect(throws: BusError.unsendable(.descriptor)) {
                try await client.call(Sample.call(service, [.descriptor(pair.theirs)]))
            }
        }
    }
}
