/// What is known of a property now.
package enum PropertyOutput: Sendable, Hashable {
    case available(PropertySpec, PropertyValue)
    case writeOnly(PropertySpec)
    case notAvailable(Reason)

    package enum Reason: Sendable, Hashable {
        case moduleNotConnected
        /// The profile has none of this name, or the module has no value for it.
        case missing
    }

    package var value: PropertyValue? {
        if case .available(_, let value) = self { value } else { nil }
    }
}

/// What is known of all properties now.
package enum PropertyList: Sendable, Hashable {
    /// The module is not connected.
    case notAvailable
    case available(Listing)

    /// What a connected module can do, each part in the profile's order.
    package struct Listing: Sendable, Hashable {
        package var readable: [PropertyReading]
        package var writeOnly: [PropertySpec]
        /// What the profile has and this module does not give.
        package var missing: [PropertySpec]

        package init(
            readable: [PropertyReading],
            writeOnly: [PropertySpec],
            missing: [PropertySpec]
        ) {
            self.readable = readable
            self.writeOnly = writeOnly
            self.missing = missing
        }
    }
}
