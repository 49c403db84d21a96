import COpenSSL

/// A public key with the only scheme that it may be used with.
///
/// The scheme belongs to the key and is never taken from a signature. A key that does not meet the
/// requirements of its scheme cannot be created.
package struct VerifyingKey: Sendable, Hashable {
    package enum Scheme: Sendable, Hashable, CaseIterable {
        /// RFC 8032.
        case ed25519
        /// P-256 with SHA-256, signatures in DER.
        case ecdsaP256
        /// RSA of 2048 to 16384 bits, PSS with SHA-256 for both hashes.
        case rsaPSS
    }

    let scheme: Scheme
    /// The key as DER (SubjectPublicKeyInfo): identical for all encodings of the same key.
    let encoded: [UInt8]

    /// An Ed25519 key of 32 bytes; nil for another number of bytes.
    init?(ed25519 bytes: [UInt8]) {
        guard bytes.count == 32,
            let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        self.init(key, .ed25519)
    }

    /// A key as PEM text; nil unless it is a key for the scheme.
    package init?(pem text: [UInt8], scheme: Scheme) {
        guard text.count <= Self.longestText, let length = CInt(exactly: text.count) else {
            return nil
        }
        defer { ERR_clear_error() }
        // The memory must not move while it is being read.
        let key = text.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, length) else { return nil }
            defer { BIO_free(memory) }
            return PEM_read_bio_PUBKEY(memory, nil, nil, nil)
        }
        guard let key else { return nil }
        defer { EVP_PKEY_free(key) }
        self.init(key, scheme)
    }

    private static let longestText = 16_384

    private init?(_ key: OpaquePointer, _ scheme: Scheme) {
        guard Self.fits(key, scheme) else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PUBKEY(key, &der))
        guard count > 0, let der else { return nil }
        defer { CRYPTO_free(der, #file, #line) }
        encoded = Array(UnsafeBufferPointer(start: der, count: count))
        self.scheme = scheme
    }

    private static func fits(_ key: OpaquePointer, _ scheme: Scheme) -> Bool {
        switch scheme {
        case .ed25519: return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519
        case .ecdsaP256:
            guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return false }
            var name = [CChar](repeating: 0, count: 64)
            var count = 0
            guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return false }
            return name.prefix(count).map(UInt8.init(bitPattern:)).elementsEqual("prime256v1".utf8)
        case .rsaPSS:
            return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
                && (2_048...16_384).contains(EVP_PKEY_get_bits(key))
        }
    }
}

extension VerifyingKey {
    /// Whether the signature was made with this key over the message; false for anything invalid.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        if scheme == .ed25519, signature.count != 64 { return false }
        return Self.holds(
            signature,
            of: message,
            by: encoded,
            scheme == .ed25519 ? nil : EVP_sha256(),
            isPSS: scheme == .rsaPSS
        )
    }

    /// Whether a signature is one over the message, by a key in DER (SubjectPublicKeyInfo).
    ///
    /// The digest is nil where the key's algorithm has its own.
    static func holds(
        _ signature: [UInt8],
        of message: [UInt8],
        by encoded: [UInt8],
        _ digest: OpaquePointer?,
        isPSS: Bool = false
    ) -> Bool {
        defer { ERR_clear_error() }
        guard (1...4_096).contains(signature.count), let key = opened(encoded) else {
            return false
        }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        var settings: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &settings, digest, nil, key) == 1 else { return false }
        if isPSS {
            guard EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_AUTO) == 1,
                EVP_PKEY_CTX_set_rsa_mgf1_md(settings, EVP_sha256()) == 1
            else { return false }
        }
        return EVP_DigestVerify(
            context,
            signature,
            signature.count,
            message,
            message.count
        ) == 1
    }

    /// The key in this form, to be freed; nil when it is none.
    static func opened(_ encoded: [UInt8]) -> OpaquePointer? {
        encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
    }
}
