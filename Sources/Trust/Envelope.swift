import Domain
import Signatures
package import Wire

/// A document as it came: its bytes, what was signed, and by whom it says that it was.
package struct Envelope: Sendable, Equatable {
    /// Exactly what was received; stored like this, since other documents name its digest.
    package let bytes: [UInt8]
    package let signed: JSONValue
    private let canonical: [UInt8]
    private let signatures: [ExactText: [UInt8]]

    package init(_ bytes: [UInt8]) throws(MetadataFault) {
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
            // A signature that is no hex digits just cannot count.
            signatures[id] = Hex.bytes(value) ?? []
        }
        self.bytes = bytes
        self.signed = signed
        self.canonical = canonical
        self.signatures = signatures
    }

    /// How many different keys of the role have signed it.
    ///
    /// Two ids of one key count once: anyone who holds that key is one signer.
    package func signers(of role: RoleKeys, in ring: KeyRing) -> Int {
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
