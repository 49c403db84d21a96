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
        var pseudorandom = secret.withBytes { HMAC.code(of: $0, key: salt) }
        var output: [UInt8] = []
        var block: [UInt8] = []
        defer {
            pseudorandom.wipe()
            block.wipe()
            output.wipe()
        }
        var counter: UInt8 = 1
        while output.count < length {
            block = HMAC.code(of: block + info + [counter], key: pseudorandom)
            output += block
            counter &+= 1
        }
        return Secret(Array(output.prefix(length)))
    }
}
