import Base
import COpenSSL

/// A private Ed25519 key for tests, derived from a number: the same number gives the same key.
package struct SigningKey: Sendable, Hashable {
    /// The seed, 32 bytes.
    package let seed: [UInt8]

    package init(_ number: UInt64) {
        seed = SHA256.digest(of: Array("test key \(number)".utf8)).bytes
    }

    /// The 32 bytes of the public key.
    package var publicBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = 32
        withKey { precondition(EVP_PKEY_get_raw_public_key($0, &bytes, &count) == 1) }
        return bytes
    }

    /// The 64 bytes of a signature.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        var count = 64
        withKey { key in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            precondition(EVP_DigestSignInit(context, nil, nil, nil, key) == 1)
            precondition(
                EVP_DigestSign(context, &signature, &count, message, message.count) == 1
            )
        }
        return signature
    }

    /// The public key as PEM.
    package var pem: String {
        // The SubjectPublicKeyInfo of RFC 8410 consists of this head and the key.
        let head: [UInt8] = [
            0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
        ]
        return "-----BEGIN PUBLIC KEY-----\n\(Base64.text(head + publicBytes))\n"
            + "-----END PUBLIC KEY-----\n"
    }

    private func withKey(_ body: (OpaquePointer) -> Void) {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
            preconditionFailure("OpenSSL makes no key")
        }
        defer { EVP_PKEY_free(key) }
        body(key)
    }
}

/// A signer whose signatures have minisign's format.
package struct MinisignSigner: Sendable, Hashable {
    package let key: SigningKey
    /// The eight bytes that name the key in signatures.
    package let id: [UInt8]

    package init(_ number: UInt64, id: [UInt8]? = nil) {
        key = SigningKey(number)
        self.id = id ?? Array(SHA256.digest(of: key.seed).bytes.prefix(8))
    }

    /// The line `RW…` of the public key.
    package var publicLine: String { Base64.text(Array("Ed".utf8) + id + key.publicBytes) }

    /// The file of the public key.
    package var publicText: String { "untrusted comment: a key for tests\n\(publicLine)\n" }

    /// The file of a signature.
    package func sign(
        _ bytes: [UInt8],
        comment: String = "timestamp:1790000000",
        prehashed: Bool = true
    ) -> [UInt8] {
        let message = prehashed ? LongDigest.blake2b512.digest(of: bytes) : bytes
        let signature = key.sign(message)
        let overall = key.sign(signature + comment.utf8)
        let first = Base64.text(Array((prehashed ? "ED" : "Ed").utf8) + id + signature)
        return Array(
            ("untrusted comment: made for tests\n\(first)\ntrusted comment: \(comment)\n"
                + "\(Base64.text(overall))\n").utf8
        )
    }
}
