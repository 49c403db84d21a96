package import Base

/// The content of a folder of trusted documents, to be shown to people; no decision depends on it.
package struct TrustedState: Sendable, Equatable {
    /// One document that would be trusted.
    package struct Document: Sendable, Equatable {
        package let role: RoleName
        package let version: Int64
        package let expires: WallTime
        package let isExpired: Bool
        package let signers: Int
        package let threshold: Int
    }

    package let documents: [Document]

    /// Lists root, and those of the other top-level documents that root's keys have signed.
    package init(
        _ files: some TrustFiles,
        now: WallTime,
        limits: TrustLimits = TrustLimits()
    ) throws(TrustError) {
        let store = TrustStore(files)
        guard let bytes = try store.document(of: .root, limit: limits.root) else { throw .noRoot }
        let root: RootMetadata
        do throws(MetadataFault) {
            root = try RootMetadata(bytes)
        } catch { throw .malformed(.root, error) }
        var documents: [Document] = []
        func add(_ role: RoleName, _ envelope: Envelope, _ header: MetadataHeader) {
            let keys = root.keys(of: role)
            let signers = envelope.signers(of: keys, in: root.ring)
            guard signers >= keys.threshold else { return }
            documents.append(
                Document(
                    role: role,
                    version: header.version,
                    expires: header.expires,
                    isExpired: header.expires <= now,
                    signers: signers,
                    threshold: keys.threshold
                )
            )
        }
        add(.root, root.envelope, root.header)
        guard !documents.isEmpty else {
            throw .notSigned(
                .root,
                signers: root.envelope.signers(of: root.keys(of: .root), in: root.ring),
                threshold: root.keys(of: .root).threshold,
                by: .root
            )
        }
        if let bytes = try store.document(of: .timestamp, limit: limits.timestamp),
            let timestamp = try? TimestampMetadata(bytes)
        {
            add(.timestamp, timestamp.envelope, timestamp.header)
        }
        if let bytes = try store.document(of: .snapshot, limit: limits.listed),
            let snapshot = try? SnapshotMetadata(bytes)
        {
            add(.snapshot, snapshot.envelope, snapshot.header)
        }
        if let bytes = try store.document(of: .targets, limit: limits.listed),
            let targets = try? TargetsMetadata(bytes, of: .targets)
        {
            add(.targets, targets.envelope, targets.header)
        }
        self.documents = documents
    }
}
