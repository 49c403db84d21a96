import COpenSSL

/// SHA-384 and SHA-512 (FIPS 180-4), which some bootloaders know their images by.
package enum SHA512 {
    /// The 64 bytes of the digest.
    package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        digest(of: Array(bytes), by: EVP_sha512(), length: 64)
    }

    /// The 48 bytes of the shorter form.
    package static func shortDigest(of bytes: some Collection<UInt8>) -> [UInt8] {
        digest(of: Array(bytes), by: EVP_sha384(), length: 48)
    }

    private static func digest(
        of bytes: [UInt8],
        by algorithm: OpaquePointer?,
        length: Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(done == 1, "libcrypto gives no SHA-512")
            initialized = length
        }
    }
}
