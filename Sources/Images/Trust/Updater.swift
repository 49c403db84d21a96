package import Base

/// A client of one repository, from its trusted root to the files that its targets roles have
/// signed.
///
/// It follows section 5 of the TUF specification, version 1.0. The clock is read once, before:
/// every expiry of a run is compared with the same time.
package struct Updater<Files: TrustFiles, Source: MetadataSource>: Sendable {
    let store: TrustStore<Files>
    let source: Source
    let now: WallTime
    let limits: TrustLimits
    /// How long after its expiry a document is accepted, as the operator of a depot without network
    /// configures it; root must allow it, too.
    package var grace: Duration = .zero
    private(set) var root: RootMetadata
    private(set) var snapshot: SnapshotMetadata?
    package private(set) var targets: TargetsMetadata?
    /// The role that listed the file that was found last.
    package internal(set) var lister: RoleName?
    var delegated: [RoleName: TargetsMetadata] = [:]

    /// Loads the trusted root: its own signatures must be valid; its expiry is checked later.
    package init(
        files: Files,
        source: Source,
        now: WallTime,
        limits: TrustLimits = TrustLimits()
    ) throws(TrustError) {
        store = TrustStore(files)
        self.source = source
        self.now = now
        self.limits = limits
        guard let bytes = try store.document(of: .root, limit: limits.root) else { throw .noRoot }
        root = try Self.selfSigned(bytes)
        if let seen = try store.latestTime(),
            now.advanced(by: limits.clockTolerance) < seen
        {
            throw .clockWentBack(to: now, seen: seen)
        }
    }

    /// Makes a root the trusted one, once; the caller must have received it in a trusted way.
    package static func begin(
        with bytes: [UInt8],
        in files: Files,
        limits: TrustLimits = TrustLimits()
    ) throws(TrustError) -> RootMetadata {
        let root = try selfSigned(bytes)
        let store = TrustStore(files)
        if let present = try store.document(of: .root, limit: limits.root) {
            guard present == bytes else { throw .otherRoot }
            return root
        }
        try store.keep(bytes, of: .root)
        return root
    }

    private static func selfSigned(_ bytes: [UInt8]) throws(TrustError) -> RootMetadata {
        let root = try parse(.root) { () throws(MetadataFault) in try RootMetadata(bytes) }
        try verify(root.envelope, .root, root.keys(of: .root), root.ring, by: .root)
        return root
    }

    /// Fetches and verifies the four top-level documents in their order.
    package mutating func refresh() async throws(TrustError) {
        try await refreshRoot()
        try checkExpiry(root.header, .root)
        let timestamp = try await refreshTimestamp()
        let snapshot = try await refreshSnapshot(timestamp.snapshot)
        self.snapshot = snapshot
        guard let listed = snapshot.listed[RoleName.targets.listedName] else {
            throw .notListed(.targets)
        }
        targets = try await targetsDocument(
            .targets,
            listed,
            keys: root.keys(of: .targets),
            ring: root.ring,
            by: .root
        )
        try store.keep(latestTime: now)
    }

    /// The same with the documents that were verified before, without the network.
    package mutating func resume() throws(TrustError) {
        try finishRecovery()
        try checkExpiry(root.header, .root)
        guard let timestamp = try storedTimestamp() else { throw .source("timestamp", .notThere) }
        try checkExpiry(timestamp.header, .timestamp)
        guard let snapshot = try storedSnapshot(),
            Self.agrees(snapshot.envelope, snapshot.header, timestamp.snapshot)
        else { throw .source("snapshot", .notThere) }
        try checkExpiry(snapshot.header, .snapshot)
        self.snapshot = snapshot
        guard let listed = snapshot.listed[RoleName.targets.listedName] else {
            throw .notListed(.targets)
        }
        let keys = root.keys(of: .targets)
        guard
            let targets = try storedTargets(.targets, listed, keys, root.ring)
        else { throw .source("targets", .notThere) }
        try checkExpiry(targets.header, .targets)
        self.targets = targets
    }

    // MARK: Root

    private mutating func refreshRoot() async throws(TrustError) {
        try finishRecovery()
        let start = root
        var isMarked = false
        for _ in 0..<limits.roots {
            let next = root.header.version + 1
            guard let bytes = try await nextRoot(next) else {
                if isMarked { try finishRecovery() }
                return
            }
            let new = try Self.parse(.root) { () throws(MetadataFault) in
                try RootMetadata(bytes)
            }
            try Self.verify(new.envelope, .root, root.keys(of: .root), root.ring, by: .root)
            try Self.verify(new.envelope, .root, new.keys(of: .root), new.ring, by: .root)
            guard new.header.version == next else {
                throw .wrongVersion(.root, expected: next, found: new.header.version)
            }
            if !isMarked, new.rotates(since: start) {
                // Before the root itself: a crash between the two must not lose it.
                try store.mark(recoveryAt: next)
                isMarked = true
            }
            try store.keep(bytes, of: .root)
            root = new
        }
        throw .tooManyRoots(limit: limits.roots)
    }

    /// Nil when the repository answers that it does not exist.
    private func nextRoot(_ version: Int64) async throws(TrustError) -> [UInt8]? {
        let path = RoleName.root.path(version: version)
        do throws(SourceError) {
            return try await source.fetch(path, limit: limits.root)
        } catch .notThere {
            return nil
        } catch { throw .source(path, error) }
    }

    /// Drops timestamp and snapshot when root has assigned other keys to them.
    ///
    /// The owner of the old keys may have signed versions so high that no honest one can follow.
    private func finishRecovery() throws(TrustError) {
        guard let version = try store.recovery() else { return }
        if root.header.version >= version { try store.drop([.timestamp, .snapshot]) }
        try store.unmarkRecovery()
    }

    // MARK: Timestamp

    private func storedTimestamp() throws(TrustError) -> TimestampMetadata? {
        guard let bytes = try store.document(of: .timestamp, limit: limits.timestamp),
            let stored = try? TimestampMetadata(bytes),
            isSigned(stored.envelope, root.keys(of: .timestamp), root.ring)
        else { return nil }
        return stored
    }

    private func refreshTimestamp() async throws(TrustError) -> TimestampMetadata {
        let stored = try storedTimestamp()
        let path = RoleName.timestamp.path(version: nil)
        let bytes = try await fetch(path, limit: limits.timestamp)
        let new = try Self.parse(.timestamp) { () throws(MetadataFault) in
            try TimestampMetadata(bytes)
        }
        try Self.verify(
            new.envelope,
            .timestamp,
            root.keys(of: .timestamp),
            root.ring,
            by: .root
        )
        if let stored {
            let (seen, offered) = (stored.header.version, new.header.version)
            guard offered >= seen else {
                throw .rolledBack(.timestamp, trusted: seen, offered: offered)
            }
            if offered == seen {
                try checkExpiry(stored.header, .timestamp)
                return stored
            }
            let (known, listed) = (stored.snapshot.version, new.snapshot.version)
            guard listed >= known else {
                throw .rolledBack(.snapshot, trusted: known, offered: listed)
            }
        }
        try checkExpiry(new.header, .timestamp)
        try store.keep(bytes, of: .timestamp)
        return new
    }

    // MARK: Snapshot

    private func storedSnapshot() throws(TrustError) -> SnapshotMetadata? {
        guard let bytes = try store.document(of: .snapshot, limit: limits.listed),
            let stored = try? SnapshotMetadata(bytes),
            isSigned(stored.envelope, root.keys(of: .snapshot), root.ring)
        else { return nil }
        return stored
    }

    private func refreshSnapshot(
        _ listed: ListedDocument
    ) async throws(TrustError) -> SnapshotMetadata {
        let stored = try storedSnapshot()
        if let stored, Self.agrees(stored.envelope, stored.header, listed),
            !isExpired(stored.header)
        {
            return stored
        }
        let bytes = try await document(.snapshot, listed, limit: limits.snapshot)
        let new = try Self.parse(.snapshot) { () throws(MetadataFault) in
            try SnapshotMetadata(bytes)
        }
        try Self.verify(
            new.envelope,
            .snapshot,
            root.keys(of: .snapshot),
            root.ring,
            by: .root
        )
        try Self.checkVersion(new.header, .snapshot, listed)
        if let stored { try Self.checkProgress(from: stored, to: new) }
        try checkExpiry(new.header, .snapshot)
        try store.keep(bytes, of: .snapshot)
        return new
    }

    /// Throws when a role is missing from the new snapshot, or has a lower version there.
    private static func checkProgress(
        from old: SnapshotMetadata,
        to new: SnapshotMetadata
    ) throws(TrustError) {
        for (name, document) in old.listed.sorted(by: { $0.key < $1.key }) {
            guard let listed = new.listed[name] else { throw .roleRemoved(name) }
            guard listed.version >= document.version else {
                let isTop = name == RoleName.targets.listedName
                let role =
                    isTop
                    ? RoleName.targets
                    : .delegated(ExactText(String(name.text.dropLast(".json".utf8.count))))
                throw .rolledBack(role, trusted: document.version, offered: listed.version)
            }
        }
    }

    // MARK: Targets

    /// The document of a targets role; the stored one if it is still the listed one.
    func targetsDocument(
        _ role: RoleName,
        _ listed: ListedDocument,
        keys: RoleKeys,
        ring: KeyRing,
        by delegator: RoleName
    ) async throws(TrustError) -> TargetsMetadata {
        if let stored = try storedTargets(role, listed, keys, ring),
            !isExpired(stored.header)
        {
            return stored
        }
        let bytes = try await document(role, listed, limit: limits.targets)
        let new = try Self.parse(role) { () throws(MetadataFault) in
            try TargetsMetadata(bytes, of: role)
        }
        try Self.verify(new.envelope, role, keys, ring, by: delegator)
        try Self.checkVersion(new.header, role, listed)
        try checkExpiry(new.header, role)
        try store.keep(bytes, of: role)
        return new
    }

    func storedTargets(
        _ role: RoleName,
        _ listed: ListedDocument,
        _ keys: RoleKeys,
        _ ring: KeyRing
    ) throws(TrustError) -> TargetsMetadata? {
        guard let bytes = try store.document(of: role, limit: limits.listed),
            let stored = try? TargetsMetadata(bytes, of: role),
            isSigned(stored.envelope, keys, ring),
            Self.agrees(stored.envelope, stored.header, listed)
        else { return nil }
        return stored
    }
}

// MARK: Checks

extension Updater {
    private static func parse<Document>(
        _ role: RoleName,
        _ read: () throws(MetadataFault) -> Document
    ) throws(TrustError) -> Document {
        do throws(MetadataFault) {
            return try read()
        } catch { throw .malformed(role, error) }
    }

    static func verify(
        _ envelope: Envelope,
        _ role: RoleName,
        _ keys: RoleKeys,
        _ ring: KeyRing,
        by delegator: RoleName
    ) throws(TrustError) {
        let signers = envelope.signers(of: keys, in: ring)
        guard signers >= keys.threshold else {
            throw .notSigned(role, signers: signers, threshold: keys.threshold, by: delegator)
        }
    }

    private func isSigned(_ envelope: Envelope, _ keys: RoleKeys, _ ring: KeyRing) -> Bool {
        envelope.signers(of: keys, in: ring) >= keys.threshold
    }

    /// The operator's grace, limited to what the signers of root allow.
    package var allowedGrace: Duration { min(grace, root.offlineGrace) }

    private func isExpired(_ header: MetadataHeader) -> Bool {
        header.expires.advanced(by: allowedGrace) <= now
    }

    func checkExpiry(_ header: MetadataHeader, _ role: RoleName) throws(TrustError) {
        // Root limits the grace, so it gets none itself.
        let expired = role == .root ? header.expires <= now : isExpired(header)
        guard !expired else { throw .expired(role, at: header.expires) }
    }

    private static func checkVersion(
        _ header: MetadataHeader,
        _ role: RoleName,
        _ listed: ListedDocument
    ) throws(TrustError) {
        guard header.version == listed.version else {
            throw .wrongVersion(role, expected: listed.version, found: header.version)
        }
    }

    /// Whether a document is the one that its parent lists.
    private static func agrees(
        _ envelope: Envelope,
        _ header: MetadataHeader,
        _ listed: ListedDocument
    ) -> Bool {
        header.version == listed.version
            && (listed.length.map { $0 == Int64(envelope.bytes.count) } ?? true)
            && listed.hashes?.mismatch(of: envelope.bytes) == nil
    }

    private func fetch(_ path: String, limit: Int64) async throws(TrustError) -> [UInt8] {
        do throws(SourceError) {
            return try await source.fetch(path, limit: limit)
        } catch { throw .source(path, error) }
    }

    /// Fetches a document that its parent lists, and checks the listed length and digests.
    private func document(
        _ role: RoleName,
        _ listed: ListedDocument,
        limit: Int64
    ) async throws(TrustError) -> [UInt8] {
        let path = role.path(version: root.isConsistent ? listed.version : nil)
        let bytes = try await fetch(
            path,
            limit: listed.length.map { min($0, limits.listed) } ?? limit
        )
        if let length = listed.length, length != Int64(bytes.count) {
            throw .wrongLength(role, expected: length, found: Int64(bytes.count))
        }
        if let hash = listed.hashes?.mismatch(of: bytes) { throw .wrongHash(role, hash) }
        return bytes
    }
}
