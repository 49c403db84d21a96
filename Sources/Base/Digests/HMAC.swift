import COpenSSL

/// A message authentication code that requires the key (RFC 2104, with SHA-256).
package enum HMAC {
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 32
        // An empty array has no address, and OpenSSL takes a key without an address for "the same
        // key".
        let key = key.isEmpty ? [0] : key
        let result = unsafe COpenSSL.HMAC(
            EVP_sha256(),
            key,
            Int32(key.count),
            message,
            message.count,
            &bytes,
            &count
        )
        unsafe precondition(result != nil && count == 32, "libcrypto gives no HMAC with SHA-256")
        return bytes
    }
}
