import COpenSSL

/// The digests of 64 bytes that signed documents name beside SHA-256.
package enum LongDigest: Sendable, CaseIterable {
    /// FIPS 180-4.
    case sha512
    /// RFC 7693, without a key.
    case blake2b512

    package func digest(of bytes: [UInt8]) -> [UInt8] {
        let algorithm =
            switch self {
            case .sha512: EVP_sha512()
            case .blake2b512: EVP_blake2b512()
            }
        return [UInt8](unsafeUninitializedCapacity: 64) { buffer, initialized in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(done == 1, "libcrypto gives no digest of 64 bytes")
            initialized = 64
        }
    }
}
