import COpenSSL

/// The digests that signed documents and images use in addition to SHA-256.
package enum LongDigest: Sendable, CaseIterable {
    /// FIPS 180-4, 48 bytes.
    case sha384
    /// FIPS 180-4, 64 bytes.
    case sha512
    /// RFC 7693, 64 bytes, without a key.
    case blake2b512

    fileprivate var algorithm: OpaquePointer? {
        switch self {
        case .sha384: unsafe EVP_sha384()
        case .sha512: unsafe EVP_sha512()
        case .blake2b512: unsafe EVP_blake2b512()
        }
    }

    fileprivate var length: Int { self == .sha384 ? 48 : 64 }

    package func digest(of bytes: [UInt8]) -> [UInt8] {
        let (algorithm, length) = unsafe (algorithm, length)
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let done = unsafe EVP_Digest(
                bytes,
                bytes.count,
                buffer.baseAddress,
                nil,
                algorithm,
                nil
            )
            precondition(done == 1, "libcrypto gives no digest of \(length) bytes")
            initialized = length
        }
    }
}

/// A long digest over bytes that arrive in pieces.
@safe package struct LongHash: ~Copyable {
    private let context: OpaquePointer
    private let length: Int

    package init(_ digest: LongDigest) {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, digest.algorithm, nil) == 1
        else { preconditionFailure("libcrypto gives no digest of \(digest.length) bytes") }
        unsafe self.context = context
        length = digest.length
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: [UInt8]) {
        let result = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(result == 1, "libcrypto failed in a digest of \(length) bytes")
    }

    package consuming func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        let result = unsafe EVP_DigestFinal_ex(context, &bytes, nil)
        precondition(result == 1, "libcrypto failed in a digest of \(length) bytes")
        return bytes
    }
}
