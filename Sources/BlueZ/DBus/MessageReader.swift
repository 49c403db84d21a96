import CDBus

/// Reads the body of a message, and counts what it reads.
///
/// libdbus has checked the message against the specification. These limits keep one hostile message
/// from exhausting memory or stack.
struct MessageReader {
    static let deepest = 64
    /// The objects of a host that has seen ten thousand devices have about 200,000 values.
    static let mostValues = 2_000_000

    private var left = Self.mostValues

    static func body(of message: OpaquePointer) throws(ValueError) -> [DBusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
        var reader = MessageReader()
        return try reader.values(&iterator, depth: 0)
    }

    private mutating func values(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(ValueError) -> [DBusValue] {
        var values: [DBusValue] = []
        while true {
            let type = dbus_message_iter_get_arg_type(&iterator)
            if type == 0 { return values }
            values.append(try value(&iterator, type, depth: depth))
            guard dbus_message_iter_next(&iterator) != 0 else { return values }
        }
    }

    private mutating func value(
        _ iterator: inout DBusMessageIter,
        _ type: CInt,
        depth: Int
    ) throws(ValueError) -> DBusValue {
        guard depth <= Self.deepest else { throw .tooDeep(limit: Self.deepest) }
        guard left > 0 else { throw .tooMany(limit: Self.mostValues) }
        left -= 1
        switch UInt8(truncatingIfNeeded: type) {
        case UInt8(ascii: "y"): return .byte(number(&iterator, 0))
        case UInt8(ascii: "b"): return .boolean(number(&iterator, UInt32(0)) != 0)
        case UInt8(ascii: "n"): return .int16(number(&iterator, 0))
        case UInt8(ascii: "q"): return .uint16(number(&iterator, 0))
        case UInt8(ascii: "i"): return .int32(number(&iterator, 0))
        case UInt8(ascii: "u"): return .uint32(number(&iterator, 0))
        case UInt8(ascii: "x"): return .int64(number(&iterator, 0))
        case UInt8(ascii: "t"): return .uint64(number(&iterator, 0))
        case UInt8(ascii: "d"): return .double(number(&iterator, 0))
        case UInt8(ascii: "s"): return .string(text(&iterator))
        case UInt8(ascii: "o"): return .objectPath(ObjectPath(checked: text(&iterator)))
        case UInt8(ascii: "g"): return .signature(Signature.list(text(&iterator)) ?? [])
        case UInt8(ascii: "h"): return .descriptor(try descriptor(&iterator))
        case UInt8(ascii: "v"):
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            let type = dbus_message_iter_get_arg_type(&inner)
            return .variant(try value(&inner, type, depth: depth + 1))
        case UInt8(ascii: "r"):
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .structure(try values(&inner, depth: depth + 1))
        case UInt8(ascii: "a"): return try array(&iterator, depth: depth + 1)
        default: throw .unknownType(type)
        }
    }

    private mutating func array(
        _ iterator: inout DBusMessageIter,
        depth: Int
    ) throws(ValueError) -> DBusValue {
        let type = dbus_message_iter_get_element_type(&iterator)
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        if type == CInt(UInt8(ascii: "y")) { return .bytes(Self.bytes(&inner)) }
        let element = try Self.signature(&inner)
        guard type == CInt(UInt8(ascii: "e")) else {
            return .array(of: element, try values(&inner, depth: depth))
        }
        // The element type has the form "{sv}", with a key of one letter.
        let letters = element.text.utf8.dropFirst().dropLast()
        let key = Signature(checked: String(letters.prefix(1)) ?? "")
        let value = Signature(checked: String(letters.dropFirst()) ?? "")
        var entries: [DBusEntry] = []
        while dbus_message_iter_get_arg_type(&inner) == CInt(UInt8(ascii: "e")) {
            var entry = DBusMessageIter()
            dbus_message_iter_recurse(&inner, &entry)
            let pair = try values(&entry, depth: depth)
            guard pair.count == 2 else { throw .wrongContainer(element) }
            entries.append(DBusEntry(key: pair[0], value: pair[1]))
            guard dbus_message_iter_next(&inner) != 0 else { break }
        }
        return .dictionary(key: key, value: value, entries)
    }

    // MARK: Basic values

    private func number<T: BitwiseCopyable>(
        _ iterator: inout DBusMessageIter,
        _ zero: T
    ) -> T {
        var number = zero
        dbus_message_iter_get_basic(&iterator, &number)
        return number
    }

    /// A string, path or signature: libdbus has checked that each is UTF-8 without NUL.
    private func text(_ iterator: inout DBusMessageIter) -> String {
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &pointer)
        return pointer.map { String(cString: $0) } ?? ""
    }

    /// Each read duplicates the descriptor, so it is read once and owned from then on.
    private func descriptor(
        _ iterator: inout DBusMessageIter
    ) throws(ValueError) -> UnixDescriptor {
        var number: CInt = -1
        dbus_message_iter_get_basic(&iterator, &number)
        guard number >= 0 else { throw .descriptor }
        return UnixDescriptor(owning: number)
    }

    private static func bytes(_ inner: inout DBusMessageIter) -> [UInt8] {
        var pointer: UnsafePointer<UInt8>?
        var count: CInt = 0
        dbus_message_iter_get_fixed_array(&inner, &pointer, &count)
        guard let pointer, count > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
    }

    private static func signature(
        _ inner: inout DBusMessageIter
    ) throws(ValueError) -> Signature {
        guard let text = dbus_message_iter_get_signature(&inner) else { throw .outOfMemory }
        defer { dbus_free(text) }
        return Signature(checked: String(cString: text))
    }
}
