import BlueZ
import CDBus
import Testing

/// Messages as bytes, as no correct program would send them.
@Suite struct HostileMessageTests {
    /// The bytes of a signal whose body `build` appends.
    private static func bytes(_ build: (inout DBusMessageIter) -> Void) -> [UInt8] {
        guard let message = dbus_message_new_signal("/a", "a.b", "C") else { return [] }
        defer { dbus_message_unref(message) }
        dbus_message_set_serial(message, 1)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        build(&iterator)
        var pointer: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        guard dbus_message_marshal(message, &pointer, &count) != 0, let pointer else { return [] }
        defer { dbus_free(pointer) }
        return UnsafeBufferPointer(start: pointer, count: Int(count)).map(UInt8.init(bitPattern:))
    }

    private static func nest(_ iterator: inout DBusMessageIter, _ depth: Int) {
        guard depth > 0 else {
            var byte: UInt8 = 1
            dbus_message_iter_append_basic(&iterator, CInt(UInt8(ascii: "y")), &byte)
            return
        }
        var inner = DBusMessageIter()
        let code = CInt(UInt8(ascii: "v"))
        dbus_message_iter_open_container(&iterator, code, depth == 1 ? "y" : "v", &inner)
        nest(&inner, depth - 1)
        dbus_message_iter_close_container(&iterator, &inner)
    }

    @Test func `values nested as deep as the specification allows are read`() throws {
        let bytes = Self.bytes { Self.nest(&$0, 60) }
        let message = try #require(try Message.parse(bytes))
        #expect(message.body == [ValueTests.nested(60)])
    }

    @Test(arguments: [65, 70, 200, 5_000])
    func `values nested deeper are no message`(depth: Int) throws {
        // The body is written by hand, because libdbus refuses to write it, too: "v" in "v" in "v".
        var bytes = Self.bytes { Self.nest(&$0, 1) }
        let body = (1..<depth).flatMap { _ in [1, UInt8(ascii: "v"), 0] } + bytes.suffix(4)
        bytes.replaceSubrange((bytes.count - 4)..., with: body)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: body.count >> (index * 8))
        }
        #expect(try Message.parse(bytes) == nil)
    }

    @Test func `more values than a body may have are an error, not memory`() {
        let bytes = Self.bytes { iterator in
            var inner = DBusMessageIter()
            dbus_message_iter_open_container(&iterator, CInt(UInt8(ascii: "a")), "b", &inner)
            let flags = [UInt32](repeating: 1, count: 2_100_000)
            flags.withUnsafeBufferPointer { buffer in
                var pointer = buffer.baseAddress
                dbus_message_iter_append_fixed_array(
                    &inner,
                    CInt(UInt8(ascii: "b")),
                    &pointer,
                    CInt(buffer.count)
                )
            }
            dbus_message_iter_close_container(&iterator, &inner)
        }
        #expect(throws: ValueError.tooMany(limit: 2_000_000)) { try Message.parse(bytes) }
    }

    @Test func `a message cut anywhere is no message`() throws {
        let whole = Self.bytes { Self.nest(&$0, 3) }
        #expect(try Message.parse(whole) != nil)
        for count in 0..<whole.count {
            #expect(try Message.parse(Array(whole.prefix(count))) == nil, "\(count)")
        }
    }

    @Test func `a message with any byte changed is refused or read, never a crash`() throws {
        let whole = Self.bytes { Self.nest(&$0, 3) }
        for index in whole.indices {
            for value: UInt8 in [0, 1, 0x61, 0x76, 0x7F, 0x80, 0xFF] {
                var changed = whole
                changed[index] = value
                _ = try? Message.parse(changed)
            }
        }
    }
}
