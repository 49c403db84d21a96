import CDBus

/// Writes values into a message.
///
/// libdbus ends the process when it gets values that the specification forbids, so everything is
/// checked before.
struct MessageWriter {
    static let deepest = 32
    static let longest = 32 << 20

    private var left = Self.longest

    static func append(_ values: [DBusValue], to message: OpaquePointer) throws(ValueError) {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        var writer = MessageWriter()
        for value in values { try writer.append(value, to: &iterator, depth: 0) }
    }

    private mutating func append(
        _ value: DBusValue,
        to iterator: inout DBusMessageIter,
        depth: Int
    ) throws(ValueError) {
        guard depth <= Self.deepest else { throw .tooDeep(limit: Self.deepest) }
        try count(8)
        switch value {
        case .byte(let number): try basic(number, "y", &iterator)
        case .boolean(let value): try basic(UInt32(value ? 1 : 0), "b", &iterator)
        case .int16(let number): try basic(number, "n", &iterator)
        case .uint16(let number): try basic(number, "q", &iterator)
        case .int32(let number): try basic(number, "i", &iterator)
        case .uint32(let number): try basic(number, "u", &iterator)
        case .int64(let number): try basic(number, "x", &iterator)
        case .uint64(let number): try basic(number, "t", &iterator)
        case .double(let number): try basic(number, "d", &iterator)
        case .string(let text): try self.text(text, "s", &iterator)
        case .objectPath(let path): try text(path.text, "o", &iterator)
        case .signature(let list):
            let joined = list.map(\.text).joined()
            guard joined.utf8.count <= 255 else { throw .tooLong(limit: 255) }
            try text(joined, "g", &iterator)
        case .descriptor(let descriptor):
            let appended = descriptor.lend { number -> dbus_bool_t in
                var number = number
                return dbus_message_iter_append_basic(&iterator, Self.code("h"), &number)
            }
            guard appended == 1 else { throw .descriptor }
        case .bytes(let bytes): try self.bytes(bytes, &iterator)
        case .array(let element, let elements):
            guard element != .byte else { throw .wrongContainer(.bytes) }
            try container("a", element.text, &iterator) {
                writer,
                inner throws(ValueError) in
                for value in elements {
                    try Self.require(element, value)
                    try writer.append(value, to: &inner, depth: depth + 1)
                }
            }
        case .dictionary(let key, let value, let entries):
            try dictionary(key, value, entries, &iterator, depth: depth + 1)
        case .structure(let fields):
            guard !fields.isEmpty else { throw .emptyStructure }
            try container("r", nil, &iterator) { writer, inner throws(ValueError) in
                for field in fields { try writer.append(field, to: &inner, depth: depth + 1) }
            }
        case .variant(let content):
            let signature = content.signature
            // A structure of structures may be nested deeper than a signature allows.
            guard Signature(signature.text) != nil else { throw .tooDeep(limit: Self.deepest) }
            try container("v", signature.text, &iterator) { writer, inner throws(ValueError) in
                try writer.append(content, to: &inner, depth: depth + 1)
            }
        }
    }

    private mutating func dictionary(
        _ key: Signature,
        _ value: Signature,
        _ entries: [DBusEntry],
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(ValueError) {
        let element = "{" + key.text + value.text + "}"
        guard key.isBasic, Signature("a" + element) != nil else {
            throw .wrongContainer(Signature(checked: "a" + element))
        }
        try container("a", element, &iterator) { writer, inner throws(ValueError) in
            for entry in entries {
                try Self.require(key, entry.key)
                try Self.require(value, entry.value)
                try writer.container("e", nil, &inner) { writer, pair throws(ValueError) in
                    try writer.append(entry.key, to: &pair, depth: depth + 1)
                    try writer.append(entry.value, to: &pair, depth: depth + 1)
                }
            }
        }
    }

    private mutating func container(
        _ type: Unicode.Scalar,
        _ contents: String?,
        _ iterator: inout DBusMessageIter,
        _ body: (inout MessageWriter, inout DBusMessageIter) throws(ValueError) -> Void
    ) throws(ValueError) {
        // The signature of an array includes the array itself.
        if type == "a", let contents, Signature("a" + contents) == nil {
            throw .tooDeep(limit: Self.deepest)
        }
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, Self.code(type), contents, &inner) != 0
        else { throw .outOfMemory }
        do throws(ValueError) {
            try body(&self, &inner)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else {
            throw .outOfMemory
        }
    }

    // MARK: Basic values

    private func basic<T: BitwiseCopyable>(
        _ number: T,
        _ type: Unicode.Scalar,
        _ iterator: inout DBusMessageIter
    ) throws(ValueError) {
        var number = number
        guard dbus_message_iter_append_basic(&iterator, Self.code(type), &number) != 0 else {
            throw .outOfMemory
        }
    }

    private mutating func text(
        _ text: String,
        _ type: Unicode.Scalar,
        _ iterator: inout DBusMessageIter
    ) throws(ValueError) {
        guard !text.utf8.contains(0) else { throw .nulInText }
        try count(text.utf8.count)
        let appended = text.withCString { pointer -> dbus_bool_t in
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, Self.code(type), &pointer)
        }
        guard appended != 0 else { throw .outOfMemory }
    }

    private mutating func bytes(
        _ bytes: [UInt8],
        _ iterator: inout DBusMessageIter
    ) throws(ValueError) {
        try count(bytes.count)
        try container("a", "y", &iterator) { _, inner throws(ValueError) in
            let appended = bytes.withUnsafeBufferPointer { buffer -> dbus_bool_t in
                // libdbus requires an address even for no bytes.
                guard var pointer = buffer.baseAddress else { return 1 }
                return dbus_message_iter_append_fixed_array(
                    &inner,
                    Self.code("y"),
                    &pointer,
                    CInt(clamping: buffer.count)
                )
            }
            guard appended != 0 else { throw .outOfMemory }
        }
    }

    private mutating func count(_ bytes: Int) throws(ValueError) {
        guard bytes <= left else { throw .tooLong(limit: Self.longest) }
        left -= bytes
    }

    private static func require(
        _ expected: Signature,
        _ value: DBusValue
    ) throws(ValueError) {
        let found = value.signature
        guard found == expected else { throw .mismatch(expected: expected, found: found) }
    }

    private static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }
}
