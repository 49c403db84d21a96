import COpenSSL

/// A pair of X25519 keys (RFC 7748) for one key agreement.
package struct KeyPair: ~Copyable, Sendable {
    package static let length = 32

    private let secret: Secret
    package let publicKey: [UInt8]

    /// Nil unless the private key has 32 bytes.
    package init?(secret: Secret) {
        guard let publicKey = secret.withBytes({ Self.publicKey(of: $0) }) else { return nil }
        self.secret = secret
        self.publicKey = publicKey
    }

    /// The secret that both sides calculate; nil when the other key is invalid, or would reveal the
    /// secret (a point of small order).
    package func sharedSecret(with other: [UInt8]) -> Secret? {
        guard other.count == Self.length else { return nil }
        guard let shared = secret.withBytes({ Self.agree($0, other) }) else { return nil }
        return Secret(consume shared)
    }

    private static func publicKey(of secret: [UInt8]) -> [UInt8]? {
        guard secret.count == length,
            let key = unsafe EVP_PKEY_new_raw_private_key(
                EVP_PKEY_X25519,
                nil,
                secret,
                secret.count
            )
        else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: length)
        var count = length
        guard unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == length else {
            return nil
        }
        return bytes
    }

    private static func agree(_ secret: [UInt8], _ other: [UInt8]) -> [UInt8]? {
        guard
            let own = unsafe EVP_PKEY_new_raw_private_key(
                EVP_PKEY_X25519,
                nil,
                secret,
                secret.count
            )
        else { return nil }
        defer { unsafe EVP_PKEY_free(own) }
        guard
            let peer = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, other, other.count)
        else { return nil }
        defer { unsafe EVP_PKEY_free(peer) }
        guard let context = unsafe EVP_PKEY_CTX_new(own, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: length)
        var count = length
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer(context, peer) == 1,
            unsafe EVP_PKEY_derive(context, &bytes, &count) == 1, count == length
        else { return nil }
        return bytes
    }
}
