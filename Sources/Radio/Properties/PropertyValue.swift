import Base

/// A value of a property.
package enum PropertyValue: Sendable, Hashable, CustomStringConvertible {
    /// In the property's unit.
    case number(Double)
    /// One of the states that the profile names.
    case state(String)
    /// A value of the module for which the profile has no state.
    case unknownState(UInt64)
    case bytes([UInt8])

    /// The word for every state without a name.
    package static let unknown = "unknown"

    /// As a manifest writes it: `40`, `25.3`, `enabled`, `unknown(7)`, `0x00ff`.
    package var text: String {
        switch self {
        case .number(let number): Int64(exactly: number).map(String.init) ?? number.description
        case .state(let name): name
        case .unknownState(let raw): "\(Self.unknown)(\(raw))"
        case .bytes(let bytes): "0x" + Hex.text(bytes)
        }
    }

    package var description: String { text }

    package var kind: PropertyKind {
        switch self {
        case .number: .range
        case .state, .unknownState: .states
        case .bytes: .raw
        }
    }
}

/// The interpretation of a property's bytes.
package enum PropertyKind: String, CaseIterable, Sendable, Hashable {
    /// A number between two limits.
    case range
    /// One of several words.
    case states
    /// Up to eight bytes whose meaning only their reader knows.
    case raw
    /// Words that the module itself defines.
    case text
}

/// A property's name and the value that was read.
package struct PropertyReading: Sendable, Hashable {
    package let name: String
    package let value: PropertyValue

    package init(_ name: String, _ value: PropertyValue) {
        self.name = name
        self.value = value
    }
}
