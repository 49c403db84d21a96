import Base

/// A document as it was received: its bytes, the signed part, and its signatures.
package struct Envelope: Sendable, Equatable {
    /// Exactly the received bytes; they are stored unchanged, since other documents contain their
    /// digest.
    package let bytes: [UInt8]
    let signed: JSONValue
    private let canonical: [UInt8]
    private let signatures: [ExactText: [UInt8]]

    init(_ bytes: [UInt8]) throws(MetadataFault) {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(json: bytes)
        } catch { throw .notJSON(error) }
        guard let signed = document["signed"], signed.members != nil else {
            throw .badMember("signed")
        }
        guard let canonical = signed.canonicalBytes else { throw .notCanonical }
        guard let list = document["signatures"]?.array else { throw .badMember("signatures") }
        var signatures: [ExactText: [UInt8]] = [:]
        for element in list {
            guard let text = element["keyid"]?.string, let value = element["sig"]?.string else {
                throw .badMember("signatures")
            }
            let id = ExactText(text)
            guard signatures[id] == nil else { throw .duplicateSignature(id) }
            // A signature that is not hex digits simply does not count.
            signatures[id] = Hex.bytes(value) ?? []
        }
        self.bytes = bytes
        self.signed = signed
        self.canonical = canonical
        self.signatures = signatures
    }

    /// The number of different keys of the role that have signed it.
    ///
    /// Two ids of the same key count once: its owner is one signer.
    func signers(of role: RoleKeys, in ring: KeyRing) -> Int {
        var counted: Set<VerifyingKey> = []
        for id in role.keyIDs {
            guard let signature = signatures[id], let key = ring[id], !counted.contains(key),
                key.verifies(signature, of: canonical)
            else { continue }
            counted.insert(key)
        }
        return counted.count
    }
}
