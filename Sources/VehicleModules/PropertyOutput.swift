import Radio

/// The last known value of a property, or why there is none.
enum PropertyOutput: Sendable, Hashable {
    case available(PropertySpec, PropertyValue)
    case writeOnly(PropertySpec)
    case notAvailable(Reason)

    enum Reason: Sendable, Hashable {
        case moduleNotConnected
        /// The profile has none of this name, or the module has no value for it.
        case missing
    }

    var value: PropertyValue? {
        if case .available(_, let value) = self { value } else { nil }
    }
}
