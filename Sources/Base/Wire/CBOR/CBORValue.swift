/// A CBOR item (RFC 8949), limited to what SMP uses.
///
/// Maps keep the order of their members.
package enum CBORValue: Sendable, Equatable {
    case unsigned(UInt64)
    /// The value is -1 minus the number.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORMember])
    case bool(Bool)
    case null
    case undefined
    /// A floating-point number of any width: not used here, but accepted.
    case float(Double)
    /// Another simple value.
    case simple(UInt8)
    /// An item with a tag that is not interpreted here.
    indirect case tagged(UInt64, CBORValue)

    /// The value of a map's text key; nil when this is not a map or has no such key.
    package subscript(key: String) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        for member in members {
            guard case .text(let name) = member.key, name.utf8.elementsEqual(key.utf8) else {
                continue
            }
            return member.value
        }
        return nil
    }

    /// The number, if it fits into an `Int`.
    package var integer: Int? {
        switch self {
        case .unsigned(let number): Int(exactly: number)
        case .negative(let number): Int(exactly: number).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null, .undefined, .float, .simple, .tagged: nil
        }
    }

    package var bytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    package var bool: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    package var array: [CBORValue]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    package var members: [CBORMember]? {
        guard case .map(let members) = self else { return nil }
        return members
    }
}

/// One key of a CBOR map, with its value.
package struct CBORMember: Sendable, Equatable {
    package let key: CBORValue
    package let value: CBORValue

    package init(_ key: CBORValue, _ value: CBORValue) {
        self.key = key
        self.value = value
    }
}

extension CBORValue {
    /// A map of the members that have a value, in the given order.
    package static func map(_ members: KeyValuePairs<String, CBORValue?>) -> CBORValue {
        .map(
            members.compactMap { member in
                member.value.map { CBORMember(.text(member.key), $0) }
            }
        )
    }

    package static func int(_ number: Int) -> CBORValue {
        number >= 0 ? .unsigned(UInt64(number)) : .negative(UInt64(-1 - number))
    }
}
