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
    /// Any number of complete types, none included.
    case signature([Signature])
    case descriptor(UnixDescriptor)
    /// An array of bytes, which is never an `array`.
    case bytes([UInt8])
    /// Of a type that is not `byte`; the elements have just this type.
    case array(of: Signature, [DBusValue])
    /// In the order of the wire; keys may come twice.
    case dictionary(key: Signature, value: Signature, [DBusEntry])
    /// One value or more.
    case structure([DBusValue])
    case variant(DBusValue)

    /// What is written in a message for this type of value.
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

/// A key and its value in a dictionary.
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
    /// `a{sv}`, sorted by name so that equal contents are equal on the wire.
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

// MARK: Taking apart

extension DBusValue {
    /// Without the variants around it.
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

    /// Any of the whole numbers, as far as it fits.
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

    /// The elements when all are strings.
    package var asStrings: [String]? {
        guard case .array(.string, let elements) = self else { return nil }
        return elements.compactMap(\.asString)
    }

    /// What `a{sv}` holds, without the variants; the last wins when a name comes twice.
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
