import Base

/// The document that names the keys of the top-level roles, including its own.
package struct RootMetadata: Sendable, Equatable {
    package let envelope: Envelope
    package let header: MetadataHeader
    let isConsistent: Bool
    let ring: KeyRing
    /// How long depots without network may use expired documents.
    let offlineGrace: Duration
    private let roles: [RoleName: RoleKeys]

    package init(_ bytes: [UInt8]) throws(MetadataFault) {
        envelope = try Envelope(bytes)
        let signed = envelope.signed
        header = try MetadataHeader(signed, of: .root)
        if let given = signed["consistent_snapshot"] {
            guard let flag = given.bool else { throw .badMember("consistent_snapshot") }
            isConsistent = flag
        } else {
            isConsistent = false
        }
        ring = try KeyRing(signed["keys"])
        if let given = signed["custom"]?["yardmaster"]?["offline-grace"] {
            // More than a year would not be a grace period, but the end of expiry.
            guard let seconds = given.integer, (0...31_622_400).contains(seconds) else {
                throw .badMember("offline-grace")
            }
            offlineGrace = .seconds(seconds)
        } else {
            offlineGrace = .zero
        }
        var roles: [RoleName: RoleKeys] = [:]
        for role in [RoleName.root, .timestamp, .snapshot, .targets] {
            roles[role] = try RoleKeys(signed["roles"]?[role.name.text])
        }
        self.roles = roles
    }

    /// The keys of a top-level role.
    func keys(of role: RoleName) -> RoleKeys {
        guard let keys = roles[role] else { preconditionFailure("root has no role \(role)") }
        return keys
    }

    /// Whether the keys of timestamp or snapshot differ from those in `other`.
    func rotates(since other: RootMetadata) -> Bool {
        [RoleName.timestamp, .snapshot].contains { role in
            Set(keys(of: role).keyIDs) != Set(other.keys(of: role).keyIDs)
        }
    }
}
