package import Domain

/// What a characteristic is for, as profiles call it; each family has its own.
package struct GATTRole: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Services and characteristics by their roles.
package struct GATTForm: Sendable, Hashable {
    private let characteristics: [GATTRole: Characteristic]
    /// Without a service: it is known at run time only.
    private let uuids: [GATTRole: GATTUUID]

    package init(
        characteristics: [GATTRole: Characteristic] = [:],
        uuids: [GATTRole: GATTUUID] = [:]
    ) {
        self.characteristics = characteristics
        self.uuids = uuids
    }

    /// Nil when the profile does not name it, or its service is known at run time only.
    package func characteristic(_ role: GATTRole) -> Characteristic? { characteristics[role] }

    package func uuid(_ role: GATTRole) -> GATTUUID? {
        uuids[role] ?? characteristics[role]?.uuid
    }
}

/// How we prove to a module that we may speak to it; each family knows its own ways.
package struct AuthenticationForm: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let none = Self(rawValue: "none")
}
