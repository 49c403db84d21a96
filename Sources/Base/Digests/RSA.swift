import COpenSSL

/// A key pair that signs with RSA PKCS#1 v1.5 and SHA-256 (RFC 8017, 8.2).
@safe package final class RSAPrivateKey: Sendable {
    // OpenSSL counts references to keys, and signing does not change them; this one is freed with
    // this object.
    private nonisolated(unsafe) let key: OpaquePointer
    /// In the form of a DER integer: with a leading zero when its first bit is set.
    package let modulus: [UInt8]
    package let exponent: [UInt8]

    /// Reads an RSAPrivateKey (RFC 8017, A.1.2) that occupies all of the bytes; nil for anything
    /// else.
    package init?(pkcs1 bytes: [UInt8]) {
        let parsed = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            guard let key = unsafe d2i_PrivateKey(EVP_PKEY_RSA, nil, &position, buffer.count) else {
                return nil
            }
            guard unsafe position == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            return nil
        }
        guard let (modulus, exponent) = unsafe Self.publicPart(of: parsed) else {
            unsafe EVP_PKEY_free(parsed)
            ERR_clear_error()
            return nil
        }
        unsafe key = parsed
        self.modulus = modulus
        self.exponent = exponent
    }

    deinit { unsafe EVP_PKEY_free(key) }

    private static func publicPart(
        of key: OpaquePointer
    ) -> (modulus: [UInt8], exponent: [UInt8])? {
        let count = unsafe i2d_PublicKey(key, nil)
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer -> CInt in
            var position = buffer.baseAddress
            return unsafe i2d_PublicKey(key, &position)
        }
        return written == count ? DER.publicKey(bytes) : nil
    }

    /// The number of bits of the modulus.
    package var bits: Int { unsafe Int(EVP_PKEY_get_bits(key)) }

    package var isCommonExponent: Bool { exponent == [1, 0, 1] }

    /// The signature of a message; nil when the key cannot sign.
    ///
    /// The signature is verified before it is returned: signatures of a damaged key could reveal
    /// the key.
    package func signature(of message: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else {
            return nil
        }
        var count = unsafe Int(EVP_PKEY_get_size(key))
        guard count > 0 else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1,
            count == signature.count,
            unsafe RSAPublicKey.verifies(signature, of: message, with: key)
        else { return nil }
        return signature
    }
}

/// A public key that verifies RSA PKCS#1 v1.5 signatures with SHA-256.
@safe package final class RSAPublicKey: Sendable {
    // OpenSSL counts references to keys, and verifying does not change them; this one is freed with
    // this object.
    private nonisolated(unsafe) let key: OpaquePointer
    /// In the form of a DER integer.
    package let modulus: [UInt8]

    /// A key with the exponent 65537; nil when the bytes are not a valid modulus.
    package init?(modulus: [UInt8]) {
        guard let first = modulus.first, modulus.count <= 1_025 else { return nil }
        let integer = first & 0x80 == 0 ? modulus : [0] + modulus
        let bytes = DER.sequence(DER.integer(integer) + DER.integer([1, 0, 1]))
        let parsed = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_PublicKey(EVP_PKEY_RSA, nil, &position, buffer.count)
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            return nil
        }
        unsafe key = parsed
        self.modulus = integer
    }

    deinit { unsafe EVP_PKEY_free(key) }

    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        return unsafe Self.verifies(signature, of: message, with: key)
    }

    fileprivate static func verifies(
        _ signature: [UInt8],
        of message: [UInt8],
        with key: OpaquePointer
    ) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
            return false
        }
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
            == 1
    }
}
