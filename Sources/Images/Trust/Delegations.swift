import Base

/// The roles to which a targets role delegates parts of its names, in their order.
struct Delegations: Sendable, Equatable {
    let ring: KeyRing
    private let handed: Handed

    private enum Handed: Sendable, Equatable {
        case roles([DelegatedRole])
        case bins(HashBins)
    }

    init(_ value: JSONValue) throws(MetadataFault) {
        ring = try KeyRing(value["keys"])
        if let bins = value["succinct_roles"] {
            guard value["roles"] == nil else { throw .badMember("succinct_roles") }
            handed = .bins(try HashBins(bins))
            return
        }
        guard let list = value["roles"]?.array else { throw .badMember("roles") }
        var roles: [DelegatedRole] = []
        var names: Set<RoleName> = []
        for element in list {
            let role = try DelegatedRole(element)
            guard names.insert(role.role).inserted else { throw .duplicateRole(role.role.name) }
            roles.append(role)
        }
        handed = .roles(roles)
    }

    /// The roles that are responsible for a path, in the order in which they are searched.
    func roles(for path: TargetPath) -> [DelegatedRole] {
        switch handed {
        case .roles(let roles): roles.filter { $0.speaks(for: path) }
        case .bins(let bins): [bins.role(for: path)]
        }
    }
}

/// One role that is responsible for a part of the names.
struct DelegatedRole: Sendable, Equatable {
    let role: RoleName
    let keys: RoleKeys
    /// Whether the search for a path of this role ends with it.
    let isTerminating: Bool
    private let part: Part

    private enum Part: Sendable, Equatable {
        case patterns([PathPattern])
        /// Prefixes of the SHA-256 of the path, as hex digits.
        case prefixes([[UInt8]])
        /// The part of a hash bin.
        case one
    }

    init(_ value: JSONValue) throws(MetadataFault) {
        guard let text = value["name"]?.string else { throw .badMember("name") }
        guard let role = RoleName(delegated: ExactText(text)) else {
            throw .forbiddenRole(ExactText(text))
        }
        guard let isTerminating = value["terminating"]?.bool else {
            throw .badMember("terminating")
        }
        self.role = role
        self.isTerminating = isTerminating
        keys = try RoleKeys(value)
        switch (value["paths"], value["path_hash_prefixes"]) {
        case (let list?, nil):
            part = .patterns(try Self.texts(list, "paths").map { PathPattern($0) })
        case (nil, let list?):
            part = .prefixes(try Self.texts(list, "path_hash_prefixes").map { Array($0.utf8) })
        case (nil, nil), (.some, .some): throw .badMember("paths")
        }
    }

    init(bin role: RoleName, keys: RoleKeys) {
        self.role = role
        self.keys = keys
        isTerminating = true
        part = .one
    }

    private static func texts(
        _ value: JSONValue,
        _ name: String
    ) throws(MetadataFault) -> [String] {
        guard let list = value.array else { throw .badMember(name) }
        var texts: [String] = []
        for element in list {
            guard let text = element.string else { throw .badMember(name) }
            texts.append(text)
        }
        return texts
    }

    func speaks(for path: TargetPath) -> Bool {
        switch part {
        case .patterns(let patterns): patterns.contains { $0.matches(path.name) }
        case .prefixes(let prefixes): prefixes.contains { path.digestText.starts(with: $0) }
        case .one: true
        }
    }
}

/// Many roles with the same keys, defined by a number of bits: a path's digest determines its bin.
struct HashBins: Sendable, Equatable {
    let keys: RoleKeys
    let bits: Int
    let prefix: String

    init(_ value: JSONValue) throws(MetadataFault) {
        keys = try RoleKeys(value)
        guard let number = value["bit_length"]?.integer, (1...32).contains(number) else {
            throw .badMember("bit_length")
        }
        guard let prefix = value["name_prefix"]?.string else { throw .badMember("name_prefix") }
        guard RoleName(delegated: ExactText(prefix + "-0")) != nil else {
            throw .forbiddenRole(ExactText(prefix))
        }
        bits = Int(number)
        self.prefix = prefix
    }

    /// The name of the bin ends in its number, with as many hex digits as the highest number needs.
    func role(for path: TargetPath) -> DelegatedRole {
        let first = path.digest.bytes.prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let number = String(first >> UInt64(32 - bits), radix: 16)
        let width = (bits + 3) / 4
        let padding = String(repeating: "0", count: max(0, width - number.utf8.count))
        return DelegatedRole(
            bin: .delegated(ExactText("\(prefix)-\(padding)\(number)")),
            keys: keys
        )
    }
}
