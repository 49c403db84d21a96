package import Base

/// A DSSE envelope (version 1.0.0): a payload with its type, and signatures over both.
package struct SignedPayload: Sendable, Equatable {
    private static let mostSignatures = 64

    let type: String
    package let payload: [UInt8]
    private let signatures: [[UInt8]]

    /// `line` is the line of the envelope in its file, for messages.
    package init(_ document: JSONValue, line: Int) throws(AttestationFault) {
        guard let type = document["payloadType"]?.string else {
            throw .badEnvelope(line: line, member: "payloadType")
        }
        guard let payload = document["payload"]?.string.flatMap({ Self.bytes($0) }) else {
            throw .badEnvelope(line: line, member: "payload")
        }
        guard let list = document["signatures"]?.array,
            (1...Self.mostSignatures).contains(list.count)
        else { throw .badEnvelope(line: line, member: "signatures") }
        var signatures: [[UInt8]] = []
        for element in list {
            // The key id beside the signature is a hint and must not be relied on.
            guard let signature = element["sig"]?.string.flatMap({ Self.bytes($0) }) else {
                throw .badEnvelope(line: line, member: "sig")
            }
            signatures.append(signature)
        }
        self.type = type
        self.payload = payload
        self.signatures = signatures
    }

    /// Decodes both alphabets of Base64 (RFC 4648, sections 4 and 5), as the protocol demands.
    private static func bytes(_ text: String) -> [UInt8]? {
        Base64.bytes(
            text.utf8.map { byte -> UInt8 in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            }
        )
    }

    /// The bytes that signatures cover: the protocol's "pre-authentication encoding".
    package static func signedBytes(type: String, payload: [UInt8]) -> [UInt8] {
        Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
    }

    package func isSigned(by key: VerifyingKey) -> Bool {
        let message = Self.signedBytes(type: type, payload: payload)
        return signatures.contains { signature in
            if key.verifies(signature, of: message) { return true }
            // The protocol's own example concatenates the two numbers of ECDSA.
            guard key.scheme == .ecdsaP256, signature.count == 64 else { return false }
            return key.verifies(Self.sequence(signature), of: message)
        }
    }

    /// The two numbers of 32 bytes as DER (X.690).
    private static func sequence(_ numbers: [UInt8]) -> [UInt8] {
        let body = [numbers[..<32], numbers[32...]].flatMap { number -> [UInt8] in
            var digits = Array(number.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }
        return [0x30, UInt8(body.count)] + body
    }
}
