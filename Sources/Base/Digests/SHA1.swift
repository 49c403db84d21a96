import COpenSSL

/// SHA-1, for the one protocol that requires it; this program trusts nothing because of it.
package enum SHA1 {
    /// The 20 bytes of the digest.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { buffer, initialized in
            let done = unsafe EVP_Digest(
                bytes,
                bytes.count,
                buffer.baseAddress,
                nil,
                EVP_sha1(),
                nil
            )
            precondition(done == 1, "libcrypto gives no SHA-1")
            initialized = 20
        }
    }
}
