import Base
import BlueZ
import PrivateBus
import Testing

@Suite(.timeLimit(.minutes(5))) struct ObjectTests {
    private static let properties = "org.freedesktop.DBus.Properties"

    private func export(_ service: Connection) async throws {
        await service.exportManager(at: .root)
        await service.export(
            Sample.description("s", gives: "s"),
            at: Sample.path,
            properties: ["Mood": .string("fair"), "Age": .uint32(7)]
        ) { call in
            guard call.member == "Set" else { return call.reply(call.arguments[0]) }
            guard call.arguments[2].unwrapped != .string("bad") else {
                return call.fail(.failed("never"))
            }
            call.reply()
        }
    }

    private func call(
        _ member: String,
        _ interface: String,
        on service: Connection,
        at path: ObjectPath = Sample.path,
        _ arguments: [DBusValue] = []
    ) async -> MethodCall {
        MethodCall(member, of: interface, at: path, on: await service.uniqueName, arguments)
    }

    @Test func `properties are read, set and told`() async throws {
        try await withPair { service, client in
            try await export(service)
            func get(_ name: String) async throws -> [DBusValue] {
                try await client.call(
                    call(
                        "Get",
                        Self.properties,
                        on: service,
                        [.string(Sample.interface), .string(name)]
                    )
                )
            }
            func set(_ name: String, _ value: DBusValue) async throws {
                _ = try await client.call(
                    call(
                        "Set",
                        Self.properties,
                        on: service,
                        [.string(Sample.interface), .string(name), .variant(value)]
                    )
                )
            }
            #expect(try await get("Mood") == [.variant(.string("fair"))])
            await #expect(throws: BusError.refused(.unknownProperty("X"))) { try await get("X") }
            await #expect(throws: BusError.refused(.readOnlyProperty("Age"))) {
                try await set("Age", .uint32(1))
            }
            await #expect(throws: BusError.refused(.failed("never"))) {
                try await set("Mood", .string("bad"))
            }
            await #expect(throws: BusError.self) { try await set("Mood", .byte(1)) }
            try await set("Mood", .string("good"))

            let seen = Monitor<[[DBusValue]]>([])
            _ = try await client.observe(SignalRule(interface: Self.properties)) { message in
                seen.withLock { $0.append(message.body) }
            }
            #expect(
                try await service.update(
                    ["Mood": .string("good")],
                    removed: ["Age"],
                    of: Sample.interface,
                    at: Sample.path
                )
            )
            #expect(try await !service.update([:], of: "a.b", at: Sample.path))
            let all = try await client.call(
                call("GetAll", Self.properties, on: service, [.string(Sample.interface)])
            )
            #expect(all.first?.asProperties == ["Mood": .string("good")])
            #expect(
                seen.withLock { $0 } == [
                    [
                        .string(Sample.interface), .properties(["Mood": .string("good")]),
                        .strings(["Age"]),
                    ]
                ]
            )
        }
    }

    @Test func `a manager lists what is below it and tells what comes and goes`() async throws {
        try await withPair { service, client in
            try await export(service)
            let seen = Monitor<[String]>([])
            _ = try await client.observe(
                SignalRule(interface: "org.freedesktop.DBus.ObjectManager", path: .root)
            ) { message in
                seen.withLock { $0.append("\(message.member ?? "") \(message.signature)") }
            }
            let manager = "org.freedesktop.DBus.ObjectManager"
            let tree = try await client.call(
                call("GetManagedObjects", manager, on: service, at: .root),
                answering: "a{oa{sa{sv}}}"
            )
            guard case .dictionary(_, _, let objects) = tree[0] else { return }
            #expect(objects.map(\.key) == [.objectPath(Sample.path)])
            let other = try #require(ObjectPath("/ee/other"))
            await service.export(Sample.description(), at: other)
            try await service.announce(other)
            try await service.withdraw(other)
            try await service.withdraw(other)
            await #expect(throws: BusError.refused(.unknownObject(other))) {
                try await client.call(call("Do", Sample.interface, on: service, at: other))
            }
            #expect(
                seen.withLock { $0 } == ["InterfacesAdded oa{sa{sv}}", "InterfacesRemoved oas"]
            )
            #expect(await service.exportedCount == 1)
        }
    }

    static let tools: [(String, [String], String)] = [
        (
            "busctl",
            [
                "--system", "call", Sample.name, "/ee/example/thing", Sample.interface, "Do", "s",
                "hello",
            ],
            "s \"hello\"\n"
        ),
        (
            "busctl",
            [
                "--system", "get-property", Sample.name, "/ee/example/thing", Sample.interface,
                "Age",
            ],
            "u 7\n"
        ),
        (
            "busctl",
            ["--system", "--list", "tree", Sample.name],
            "/\n/ee\n/ee/example\n/ee/example/thing\n"
        ),
        (
            "dbus-send",
            [
                "--system", "--print-reply=literal", "--dest=" + Sample.name,
                "/ee/example/thing", Sample.interface + ".Do", "string:hello",
            ],
            "   hello"
        ),
        (
            "gdbus",
            [
                "call", "--system", "--dest", Sample.name, "--object-path", "/ee/example/thing",
                "--method", Sample.interface + ".Do", "hello",
            ],
            "('hello',)\n"
        ),
        (
            "gdbus",
            [
                "call", "--system", "--dest", Sample.name, "--object-path", "/", "--method",
                "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
            ],
            "({objectpath '/ee/example/thing': {'ee.example.Thing': "
                + "{'Age': <uint32 7>, 'Mood': <'fair'>}}},)\n"
        ),
    ]

    @Test(arguments: tools.indices)
    func `programs of others find, ask and read our objects`(index: Int) async throws {
        let (program, arguments, expected) = Self.tools[index]
        try await withPair { service, client in
            try await export(service)
            #expect(try await service.requestName(Sample.name))
            let text = try await output(of: program, arguments, bus: client.address)
            // On a machine without the program there is nothing to compare.
            #expect(text == nil || text == expected, "\(text ?? "")")
        }
    }
}
