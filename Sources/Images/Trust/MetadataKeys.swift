import Base

/// The usable keys of a document, by their key id.
///
/// A key is left out when its id is not the digest of its own description, or when we do not know
/// its scheme: signatures by it do not count.
struct KeyRing: Sendable, Equatable {
    private let keys: [ExactText: VerifyingKey]

    init(_ value: JSONValue?) throws(MetadataFault) {
        guard let members = value?.members else { throw .badMember("keys") }
        var keys: [ExactText: VerifyingKey] = [:]
        for member in members {
            guard member.value.members != nil else { throw .badMember("keys") }
            guard let canonical = member.value.canonicalBytes else { throw .notCanonical }
            let id = SHA256.digest(of: canonical).description
            guard id.utf8.elementsEqual(member.name.utf8) else { continue }
            keys[ExactText(member.name)] = Self.key(member.value)
        }
        self.keys = keys
    }

    subscript(id: ExactText) -> VerifyingKey? { keys[id] }

    private static func key(_ value: JSONValue) -> VerifyingKey? {
        guard let type = value["keytype"]?.string, let scheme = value["scheme"]?.string,
            let text = value["keyval"]?["public"]?.string
        else { return nil }
        switch (scheme, type) {
        case ("ed25519", "ed25519"):
            return Hex.bytes(text).flatMap { VerifyingKey(ed25519: $0) }
        case ("ecdsa-sha2-nistp256", "ecdsa"),
            ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
            return VerifyingKey(pem: Array(text.utf8), scheme: .ecdsaP256)
        case ("rsassa-pss-sha256", "rsa"):
            return VerifyingKey(pem: Array(text.utf8), scheme: .rsaPSS)
        default: return nil
        }
    }
}

/// The keys whose signatures count for a role: the key ids, each once, and the required number of
/// signatures.
struct RoleKeys: Sendable, Equatable {
    let keyIDs: [ExactText]
    let threshold: Int

    init(_ value: JSONValue?) throws(MetadataFault) {
        guard let value, let list = value["keyids"]?.array else { throw .badMember("keyids") }
        var ids: [ExactText] = []
        var seen: Set<ExactText> = []
        for element in list {
            guard let text = element.string else { throw .badMember("keyids") }
            let id = ExactText(text)
            guard seen.insert(id).inserted else { throw .duplicateKeyID(id) }
            ids.append(id)
        }
        guard let number = value["threshold"]?.integer else { throw .badMember("threshold") }
        guard number >= 1, let threshold = Int(exactly: number) else { throw .badThreshold }
        keyIDs = ids
        self.threshold = threshold
    }
}
