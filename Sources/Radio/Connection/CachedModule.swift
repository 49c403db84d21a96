package import Base

/// Facts about a module from earlier links.
package struct CachedModule: Sendable, Hashable {
    /// The profile that its properties are from.
    package struct Model: Sendable, Hashable {
        package let family: Family
        package let profile: String
        /// The kind of vehicle, where that decides which properties there are.
        package let variant: String?

        package init(family: Family, profile: String, variant: String?) {
            self.family = family
            self.profile = profile
            self.variant = variant
        }
    }

    /// The last value of a property that was read.
    package struct Reading: Sendable, Hashable {
        package let value: PropertyValue
        package let time: WallTime

        package init(_ value: PropertyValue, at time: WallTime) {
            self.value = value
            self.time = time
        }
    }

    package var name: String?
    /// Its last known address; the module may have another one by now.
    package var peer: Peer?
    package var type: Int?
    /// The variant, as read on this link.
    package var variant: Int?
    /// The version that it ran, for which `lacking` holds.
    package var version: String?
    /// Registers that it does not have.
    package var lacking: Set<UInt16> = []
    package var model: Model?
    /// By the name of the property.
    package var readings: [String: Reading] = [:]

    package init() {}
}
