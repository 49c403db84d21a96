import COpenSSL

/// SHA-1 for the authentication of Comodule modules, by OpenSSL.
enum Hashing {
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { buffer, initialized in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha1(), nil)
            precondition(done == 1, "the distribution's OpenSSL has SHA-1")
            initialized = 20
        }
    }
}
