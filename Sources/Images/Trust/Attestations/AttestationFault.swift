package import Base

/// Why a file beside an image does not contain the required statement.
package enum AttestationFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Lines are counted from 1.
    case notJSON(line: Int, JSONError)
    case empty
    case tooMany(Int)
    /// An envelope in which this member is missing or has another type.
    case badEnvelope(line: Int, member: String)
    /// The signed payload is not a statement about files.
    case otherPayload(String)
    case badStatement(String)
    case notSigned
    case otherSubject(SHA256Digest)
    case badKey
    case otherBytes(expected: SHA256Digest, found: SHA256Digest)
    /// A required member of a CycloneDX document is missing.
    case noBill(member: String)

    package var description: String {
        switch self {
        case .notJSON(let line, let error): "line \(line) is no JSON: \(error)"
        case .empty: "it is empty"
        case .tooMany(let count): "it holds \(count) envelopes, at most \(AttestationFile.most)"
        case .badEnvelope(let line, let member):
            "line \(line) is no DSSE envelope: '\(member)' is missing or wrong"
        case .otherPayload(let type): "its payload is '\(type.visible)', no in-toto statement"
        case .badStatement(let member):
            "it is no in-toto statement: '\(member)' is missing or wrong"
        case .notSigned: "no signature in it is by the key"
        case .otherSubject(let digest): "it is not about the image: no subject of it is \(digest)"
        case .badKey: "it is no public key of Ed25519, of P-256 or of RSA with 2048 bits, as PEM"
        case .otherBytes(let expected, let found):
            "its SHA-256 is \(found), the manifest pins \(expected)"
        case .noBill(let member):
            "it is no CycloneDX document: '\(member)' is missing or wrong"
        }
    }
}
