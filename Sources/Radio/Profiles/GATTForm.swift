package import Base

/// The purpose of a characteristic, by the name that profiles use; each family has its own.
package struct GATTRole: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

/// The services and characteristics of a profile by their roles.
package struct GATTForm: Sendable, Hashable {
    private let characteristics: [GATTRole: Characteristic]
    /// Characteristics whose service is known only at run time.
    private let uuids: [GATTRole: GATTUUID]

    package init(
        characteristics: [GATTRole: Characteristic] = [:],
        uuids: [GATTRole: GATTUUID] = [:]
    ) {
        self.characteristics = characteristics
        self.uuids = uuids
    }

    /// Nil when the profile does not name it, or when its service is known only at run time.
    package func characteristic(_ role: GATTRole) -> Characteristic? { characteristics[role] }

    package func uuid(_ role: GATTRole) -> GATTUUID? {
        uuids[role] ?? characteristics[role]?.uuid
    }
}

/// How this program authenticates to a module; each family has its own methods.
package struct AuthenticationForm: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let none = Self(rawValue: "none")
}
