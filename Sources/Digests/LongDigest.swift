import COpenSSL

/// The digests that signed documents and images name beside SHA-256.
package enum LongDigest: Sendable, CaseIterable {
    /// FIPS 180-4, 48 bytes.
    case sha384
    /// FIPS 180-4, 64 bytes.
    case sha512
    /// RFC 7693, 64 bytes, without a key.
    case blake2b512

    package func digest(of bytes: [UInt8]) -> [UInt8] {
        let (algorithm, length) =
            switch self {
            case .sha384: (EVP_sha384(), 48)
            case .sha512: (EVP_sha512(), 64)
            case .blake2b512: (EVP_blake2b512(), 64)
            }
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(done == 1, "libcrypto gives no digest of \(length) bytes")
            initialized = length
        }
    }
}
