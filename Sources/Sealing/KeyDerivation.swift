import COpenSSL
package import Domain

/// HKDF with SHA-256 (RFC 5869).
package enum KeyDerivation {
    /// A key of `length` bytes, at most 255 × 32.
    package static func key(
        from secret: Secret,
        salt: [UInt8],
        info: [UInt8],
        length: Int = 32
    ) -> Secret {
        precondition((1...255 * 32).contains(length), "HKDF gives 1 to 8160 bytes")
        var pseudorandom = secret.withBytes { mac(key: salt, $0) }
        var output: [UInt8] = []
        var block: [UInt8] = []
        defer {
            pseudorandom.wipe()
            block.wipe()
            output.wipe()
        }
        var counter: UInt8 = 1
        while output.count < length {
            block = mac(key: pseudorandom, block + info + [counter])
            output += block
            counter &+= 1
        }
        return Secret(Array(output.prefix(length)))
    }

    private static func mac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 32
        // An empty array has no address, and OpenSSL takes a key without an address for "the same
        // key".
        let key = key.isEmpty ? [0] : key
        let result = HMAC(
            EVP_sha256(),
            key,
            Int32(key.count),
            message,
            message.count,
            &bytes,
            &count
        )
        precondition(result != nil && count == 32, "libcrypto gives no HMAC with SHA-256")
        return bytes
    }
}
