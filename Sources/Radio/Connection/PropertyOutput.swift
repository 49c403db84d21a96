/// The last known value of a property, or why there is none.
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

/// The last known values of all properties.
package enum PropertyList: Sendable, Hashable {
    /// The module is not connected.
    case notAvailable
    case available(Listing)

    /// The properties of a connected module, each list in the profile's order.
    package struct Listing: Sendable, Hashable {
        package var readable: [PropertyReading]
        package var writeOnly: [PropertySpec]
        /// Properties that the profile has and for which this module gives no value.
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
