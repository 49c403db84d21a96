import COpenSSL
package import Domain

/// SHA-256 by OpenSSL.
package enum Digest {
    package static func sha256(_ bytes: [UInt8]) -> SHA256Digest {
        var output = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let done = EVP_Digest(bytes, bytes.count, &output, &length, EVP_sha256(), nil)
        // It fails only without memory, or where the library's own installation is broken.
        guard done == 1, length == 32, let digest = SHA256Digest(bytes: output) else {
            fatalError("OpenSSL cannot compute SHA-256")
        }
        return digest
    }
}
