import COpenSSL

/// A public key on the curve P-256, which bootloaders use to verify their images.
package struct P256Key: Sendable, Equatable {
    /// The key with its algorithm (SubjectPublicKeyInfo, RFC 5480), in DER.
    package let encoded: [UInt8]

    /// Nil when the bytes are not such a key.
    package init?(encoded: [UInt8]) {
        self.encoded = encoded
        guard let key = unsafe Self.key(encoded) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_EC, unsafe EVP_PKEY_get_bits(key) == 256
        else {
            return nil
        }
    }

    /// The hash by which an image identifies the key.
    package var hash: SHA256Digest { SHA256.digest(of: encoded) }

    /// Whether this ECDSA signature, in DER, is valid for the digest.
    package func signed(_ digest: SHA256Digest, with signature: [UInt8]) -> Bool {
        guard let key = unsafe Self.key(encoded) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
        let bytes = digest.bytes
        return unsafe EVP_PKEY_verify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    /// Whether this signature, given as its two numbers with the most significant byte first, is
    /// valid for the digest.
    package func signed(_ digest: SHA256Digest, r: [UInt8], s: [UInt8]) -> Bool {
        signed(digest, with: DER.sequence(DER.natural(r) + DER.natural(s)))
    }

    private static func key(_ encoded: [UInt8]) -> OpaquePointer? {
        unsafe encoded.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &start, buffer.count)
            // Bytes after the key would be ignored here, but would change its hash.
            guard let key = unsafe key,
                unsafe start == buffer.baseAddress.map({ unsafe $0 + buffer.count })
            else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
    }
}
