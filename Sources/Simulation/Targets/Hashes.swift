import COpenSSL

/// The hashes that modules compute, by OpenSSL.
package enum Hashes {
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { digest(bytes, EVP_sha256(), 32) }

    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { digest(bytes, EVP_sha1(), 20) }

    private static func digest(_ bytes: [UInt8], _ kind: OpaquePointer?, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let ok = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, kind, nil)
            precondition(ok == 1, "the distribution's OpenSSL has SHA-1 and SHA-256")
            initialized = count
        }
    }
}
