import Domain

/// What a property holds, or is to hold.
package enum PropertyValue: Sendable, Hashable, CustomStringConvertible {
    /// In the property's unit.
    case number(Double)
    /// One of the states that the profile names.
    case state(String)
    /// What the module gave where the profile names no state for it.
    case unknownState(UInt64)
    case bytes([UInt8])

    /// The word that stands for every state nobody has named.
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

/// How a property's bytes are to be understood.
package enum PropertyKind: String, CaseIterable, Sendable, Hashable {
    /// A number between two limits.
    case range
    /// One of several words.
    case states
    /// Up to eight bytes that only their reader understands.
    case raw
    /// Words that the module has of its own.
    case text
}

/// A value as it was read, and of what.
package struct PropertyReading: Sendable, Hashable {
    package let name: String
    package let value: PropertyValue

    package init(_ name: String, _ value: PropertyValue) {
        self.name = name
        self.value = value
    }
}
