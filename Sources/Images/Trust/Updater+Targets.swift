import Base

extension Updater {
    /// The entry of a target, from the first role that is responsible for its name and lists it.
    ///
    /// Roles are searched depth first, in the order of their delegation, each once.
    package mutating func find(_ path: TargetPath) async throws(TrustError) -> TargetFile {
        try await find(path, fetching: true)
    }

    /// The same from the store alone, after `resume`.
    package mutating func findStored(_ path: TargetPath) async throws(TrustError) -> TargetFile {
        try await find(path, fetching: false)
    }

    private struct VisitedRole {
        let delegation: DelegatedRole
        let ring: KeyRing
        let delegator: RoleName
    }

    private mutating func find(
        _ path: TargetPath,
        fetching: Bool
    ) async throws(TrustError) -> TargetFile {
        guard let targets else { throw .notListed(.targets) }
        lister = .targets
        if let file = targets.files[path.name] { return file }
        var waiting = Self.visits(targets, .targets, path)
        var visited: Set<RoleName> = []
        // The next one is at the end.
        while let visit = waiting.popLast() {
            let role = visit.delegation.role
            guard visited.insert(role).inserted else { continue }
            guard visited.count <= limits.roles else { throw .tooManyRoles(limit: limits.roles) }
            let document = try await delegated(visit, fetching: fetching)
            lister = role
            if let file = document.files[path.name] { return file }
            if visit.delegation.isTerminating { waiting.removeAll() }
            waiting += Self.visits(document, role, path)
        }
        throw .noTarget(path)
    }

    /// The roles to which a document delegates the path, in reverse order.
    private static func visits(
        _ document: TargetsMetadata,
        _ role: RoleName,
        _ path: TargetPath
    ) -> [VisitedRole] {
        guard let delegations = document.delegations else { return [] }
        return delegations.roles(for: path).reversed().map {
            VisitedRole(delegation: $0, ring: delegations.ring, delegator: role)
        }
    }

    /// The role's document, verified with the keys that this delegation names.
    ///
    /// It may have been verified along another delegation before; that proves nothing here.
    private mutating func delegated(
        _ visit: VisitedRole,
        fetching: Bool
    ) async throws(TrustError) -> TargetsMetadata {
        let role = visit.delegation.role
        guard let listed = snapshot?.listed[role.listedName] else { throw .notListed(role) }
        let keys = visit.delegation.keys
        if let known = delegated[role] {
            try Self.verify(known.envelope, role, keys, visit.ring, by: visit.delegator)
            return known
        }
        let document: TargetsMetadata
        if fetching {
            document = try await targetsDocument(
                role,
                listed,
                keys: keys,
                ring: visit.ring,
                by: visit.delegator
            )
        } else {
            guard let stored = try storedTargets(role, listed, keys, visit.ring) else {
                throw .source(role.path(version: listed.version), .notThere)
            }
            try checkExpiry(stored.header, role)
            document = stored
        }
        delegated[role] = document
        return document
    }
}

// MARK: Files

extension Updater {
    /// The address of a file, relative to the repository's targets.
    func address(of file: TargetFile, _ path: TargetPath) -> String {
        path.address(hash: root.isConsistent ? file.hashes.preferred : nil)
    }

    /// The bytes of a file: complete, and with every listed digest that we know.
    package func fetch(
        _ file: TargetFile,
        _ path: TargetPath,
        from source: some MetadataSource
    ) async throws(TrustError) -> [UInt8] {
        try file.checkIsCheckable(path)
        guard file.length <= limits.file else {
            throw .targetTooLarge(path, length: file.length, limit: limits.file)
        }
        let address = address(of: file, path)
        let bytes: [UInt8]
        do throws(SourceError) {
            bytes = try await source.fetch(address, limit: file.length)
        } catch { throw .source(address, error) }
        try file.check(bytes, path)
        return bytes
    }
}

extension TargetFile {
    package func checkIsCheckable(_ path: TargetPath) throws(TrustError) {
        guard !hashes.known.isEmpty else { throw .noKnownHash(path) }
    }

    /// Throws unless these are the bytes that the role has signed.
    package func check(_ bytes: [UInt8], _ path: TargetPath) throws(TrustError) {
        try checkIsCheckable(path)
        guard Int64(bytes.count) == length else {
            throw .targetWrongLength(path, expected: length, found: Int64(bytes.count))
        }
        if let hash = hashes.mismatch(of: bytes) { throw .targetWrongHash(path, hash) }
    }
}
