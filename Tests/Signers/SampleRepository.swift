package import Base
import Images

/// A TUF repository for tests, signed according to its fields, also in ways that a client must
/// refuse.
package struct SampleRepository: Sendable {
    /// The signers of a role.
    package struct Signers: Sendable {
        package var keys: [SigningKey]
        package var threshold: Int
        /// The keys that actually sign; all keys unless a test chooses others.
        package var signing: [SigningKey]

        package init(_ keys: [SigningKey], threshold: Int? = nil, signing: [SigningKey]? = nil) {
            self.keys = keys
            self.threshold = threshold ?? keys.count
            self.signing = signing ?? keys
        }
    }

    /// A file with its signer's statement about it.
    package struct Target: Sendable {
        package var bytes: [UInt8]
        package var custom: JSONValue?

        package init(_ bytes: [UInt8], custom: JSONValue? = nil) {
            self.bytes = bytes
            self.custom = custom
        }
    }

    /// A role to which the paths of a pattern are delegated.
    package struct Delegation: Sendable {
        package var name: String
        package var signers: Signers
        package var paths: [String]
        package var targets: [String: Target]

        package init(
            _ name: String,
            _ signers: Signers,
            paths: [String],
            targets: [String: Target]
        ) {
            self.name = name
            self.signers = signers
            self.paths = paths
            self.targets = targets
        }
    }

    package var root = Signers([SigningKey(901)])
    package var timestamp = Signers([SigningKey(902)])
    package var snapshot = Signers([SigningKey(903)])
    package var targetsRole = Signers([SigningKey(904)])
    package var rootVersion: Int64 = 1
    package var version: Int64 = 1
    package var expires = "2099-01-01T00:00:00Z"
    package var timestampExpires: String?
    package var rootCustom: JSONValue?
    package var targets: [String: Target] = [:]
    package var targetsCustom: JSONValue?
    package var delegations: [Delegation] = []

    package init() {}

    /// The first root, with which a depot starts.
    package var rootDocument: [UInt8] {
        let roles: [(String, Signers)] = [
            ("root", root), ("timestamp", timestamp), ("snapshot", snapshot),
            ("targets", targetsRole),
        ]
        var keys: [JSONMember] = []
        for key in Set(roles.flatMap(\.1.keys)).sorted(by: { Self.id($0) < Self.id($1) }) {
            keys.append(JSONMember(Self.id(key), Self.description(of: key)))
        }
        let signed = JSONValue.object([
            "_type": "root",
            "spec_version": "1.0.31",
            "version": .integer(rootVersion),
            "expires": .string(expires),
            "consistent_snapshot": true,
            "keys": .object(keys),
            "roles": .object(roles.map { JSONMember($0.0, Self.role($0.1)) }),
            "custom": rootCustom,
        ])
        return Self.sealed(signed, root)
    }

    /// All documents, by their names below the repository's address, and the files as `targets/…`.
    package var files: [String: [UInt8]] {
        var files: [String: [UInt8]] = ["\(rootVersion).root.json": rootDocument]
        var listed: [JSONMember] = []
        let top = Self.sealed(targetsBody(targets, delegations, targetsCustom), targetsRole)
        files["\(version).targets.json"] = top
        listed.append(JSONMember("targets.json", Self.listing(top, version)))
        for delegation in delegations {
            let document = Self.sealed(targetsBody(delegation.targets, [], nil), delegation.signers)
            files["\(version).\(delegation.name).json"] = document
            listed.append(JSONMember("\(delegation.name).json", Self.listing(document, version)))
        }
        let snapshotDocument = Self.sealed(
            .object([
                "_type": "snapshot", "spec_version": "1.0.31", "version": .integer(version),
                "expires": .string(expires), "meta": .object(listed),
            ]),
            snapshot
        )
        files["\(version).snapshot.json"] = snapshotDocument
        let meta = JSONMember("snapshot.json", Self.listing(snapshotDocument, version))
        files["timestamp.json"] = Self.sealed(
            .object([
                "_type": "timestamp", "spec_version": "1.0.31", "version": .integer(version),
                "expires": .string(timestampExpires ?? expires), "meta": .object([meta]),
            ]),
            timestamp
        )
        for (path, target) in targets.merging(
            delegations.flatMap(\.targets).map { ($0.key, $0.value) },
            uniquingKeysWith: { first, _ in first }
        ) {
            let digest = SHA256.digest(of: target.bytes)
            var parts = path.split(separator: "/").map(String.init)
            let last = parts.removeLast()
            files["targets/" + (parts + ["\(digest).\(last)"]).joined(separator: "/")] =
                target.bytes
        }
        return files
    }

    private func targetsBody(
        _ targets: [String: Target],
        _ delegations: [Delegation],
        _ custom: JSONValue?
    ) -> JSONValue {
        let members = targets.sorted { $0.key < $1.key }.map { path, target in
            JSONMember(
                path,
                .object([
                    "length": .int(target.bytes.count),
                    "hashes": .object([
                        "sha256": .string(SHA256.digest(of: target.bytes).description)
                    ]),
                    "custom": target.custom,
                ])
            )
        }
        let keys = Set(delegations.flatMap(\.signers.keys)).sorted { Self.id($0) < Self.id($1) }
        let handed = JSONValue.object([
            "keys": .object(keys.map { JSONMember(Self.id($0), Self.description(of: $0)) }),
            "roles": .array(
                delegations.map { delegation in
                    .object([
                        "name": .string(delegation.name),
                        "keyids": .array(delegation.signers.keys.map { .string(Self.id($0)) }),
                        "threshold": .int(delegation.signers.threshold),
                        "terminating": false,
                        "paths": .array(delegation.paths.map { .string($0) }),
                    ])
                }
            ),
        ])
        return .object([
            "_type": "targets", "spec_version": "1.0.31", "version": .integer(version),
            "expires": .string(expires), "targets": .object(members),
            "delegations": delegations.isEmpty ? nil : handed, "custom": custom,
        ])
    }

    private static func description(of key: SigningKey) -> JSONValue {
        .object([
            "keytype": "ed25519", "scheme": "ed25519",
            "keyval": .object(["public": .string(Hex.text(key.publicBytes))]),
        ])
    }

    private static func id(_ key: SigningKey) -> String {
        SHA256.digest(of: description(of: key).canonicalBytes ?? []).description
    }

    private static func role(_ signers: Signers) -> JSONValue {
        .object([
            "keyids": .array(signers.keys.map { .string(id($0)) }),
            "threshold": .int(signers.threshold),
        ])
    }

    private static func listing(_ document: [UInt8], _ version: Int64) -> JSONValue {
        .object([
            "version": .integer(version), "length": .int(document.count),
            "hashes": .object(["sha256": .string(SHA256.digest(of: document).description)]),
        ])
    }

    private static func sealed(_ signed: JSONValue, _ signers: Signers) -> [UInt8] {
        let canonical = signed.canonicalBytes ?? []
        return JSONValue.object([
            "signatures": .array(
                signers.signing.map { key in
                    .object([
                        "keyid": .string(id(key)), "sig": .string(Hex.text(key.sign(canonical))),
                    ])
                }
            ),
            "signed": signed,
        ]).bytes
    }
}
