import COpenSSL

/// SHA-256 (FIPS 180-4) over bytes that arrive in pieces.
@safe package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    package init() {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        else { preconditionFailure("libcrypto gives no SHA-256") }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: Span<UInt8>) {
        let result = unsafe bytes.withUnsafeBytes {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count)
        }
        precondition(result == 1, "libcrypto failed in SHA-256")
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let result = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(result == 1, "libcrypto failed in SHA-256")
    }

    /// A second hash that has processed the same bytes.
    package func copy() -> SHA256 {
        let copy = SHA256()
        unsafe precondition(
            EVP_MD_CTX_copy_ex(copy.context, context) == 1,
            "libcrypto failed in SHA-256"
        )
        return copy
    }

    package consuming func finish() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: 32)
        let result = unsafe EVP_DigestFinal_ex(context, &bytes, nil)
        guard result == 1, let digest = SHA256Digest(bytes: bytes) else {
            preconditionFailure("libcrypto failed in SHA-256")
        }
        return digest
    }

    package static func digest(of bytes: [UInt8]) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bytes.span)
        return hash.finish()
    }
}
