import Base
import Images

/// Any bytes are attestations, a bill of materials or a key, or they are refused; no signature is
/// valid.
func fuzzAttestation(_ bytes: [UInt8]) {
    if let file = try? AttestationFile(bytes), let image = SHA256Digest(knownImage) {
        _ = try? file.statements(about: image, by: nil)
        if let key = try? VerifyingKey(pem: Array(knownKey.utf8)) {
            precondition((try? file.statements(about: image, by: key)) == nil)
        }
    }
    _ = try? BillOfMaterials(bytes)
    _ = try? VerifyingKey(pem: bytes)
    // The bytes that a signature would cover, without their envelope.
    let payload: JSONValue = .object([
        "payload": .string(Base64.text(bytes)),
        "payloadType": .string(InTotoStatement.payloadType),
        "signatures": [.object(["sig": "AAAA"])],
    ])
    if let signed = try? SignedPayload(payload, line: 1) {
        precondition(signed.payload == bytes)
        _ = try? InTotoStatement(signed)
    }
}

private let knownImage = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
private let knownKey = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEAZwi65kRT8rBwkPz8kzF1bSYXDPxfM5hhN1zGFwzd6lk=
    -----END PUBLIC KEY-----
    """
