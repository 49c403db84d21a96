/// One value of a message's body.
package indirect enum DBusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    /// Any number of complete types, possibly none.
    case signature([Signature])
    case descriptor(UnixDescriptor)
    /// An array of bytes; it is never an `array`.
    case bytes([UInt8])
    /// An array of a type other than `byte`; all elements have exactly this type.
    case array(of: Signature, [DBusValue])
    /// In the order of the wire; keys may occur twice.
    case dictionary(key: Signature, value: Signature, [DBusEntry])
    /// One or more values.
    case structure([DBusValue])
    case variant(DBusValue)

    /// The type in the notation of a message.
    package var signature: Signature {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .descriptor: .descriptor
        case .bytes: .bytes
        case .array(let element, _): Signature(checked: "a" + element.text)
        case .dictionary(let key, let value, _):
            Signature(checked: "a{" + key.text + value.text + "}")
        case .structure(let fields):
            Signature(checked: "(" + fields.map(\.signature.text).joined() + ")")
        case .variant: .variant
        }
    }
}

/// One entry of a dictionary: its key and its value.
package struct DBusEntry: Hashable, Sendable {
    package let key: DBusValue
    package let value: DBusValue

    package init(key: DBusValue, value: DBusValue) {
        self.key = key
        self.value = value
    }
}

// MARK: Building

extension DBusValue {
    /// `a{sv}`, sorted by name, so that equal contents are equal on the wire.
    package static func properties(_ values: [String: DBusValue]) -> DBusValue {
        .dictionary(
            key: .string,
            value: .variant,
            values.sorted { $0.key < $1.key }.map {
                DBusEntry(key: .string($0.key), value: .variant($0.value))
            }
        )
    }

    package static func strings(_ values: [String]) -> DBusValue {
        .array(of: .string, values.map { .string($0) })
    }

    package static func objectPaths(_ values: [ObjectPath]) -> DBusValue {
        .array(of: .objectPath, values.map { .objectPath($0) })
    }
}

// MARK: Extracting

extension DBusValue {
    /// The value without the variants around it.
    package var unwrapped: DBusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    package var asBool: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    package var asString: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var asPath: ObjectPath? {
        if case .objectPath(let value) = self { value } else { nil }
    }

    package var asBytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    package var asDescriptor: UnixDescriptor? {
        if case .descriptor(let value) = self { value } else { nil }
    }

    /// Any integer, if it fits into an `Int`.
    package var asInt: Int? {
        switch self {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        case .boolean, .double, .string, .objectPath, .signature, .descriptor, .bytes, .array,
            .dictionary, .structure, .variant:
            nil
        }
    }

    /// The elements, if all are strings.
    package var asStrings: [String]? {
        guard case .array(.string, let elements) = self else { return nil }
        return elements.compactMap(\.asString)
    }

    /// The contents of `a{sv}`, without the variants; of equal names, the last one counts.
    package var asProperties: [String: DBusValue]? {
        guard case .dictionary(.string, .variant, let entries) = self else { return nil }
        var properties: [String: DBusValue] = [:]
        properties.reserveCapacity(entries.count)
        for entry in entries {
            guard case .string(let name) = entry.key else { continue }
            properties[name] = entry.value.unwrapped
        }
        return properties
    }
}
