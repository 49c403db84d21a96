/// The DER elements in public keys and signatures (X.690; RFC 8017, A.1.1; RFC 5480).
package enum DER {
    static func integer(_ bytes: [UInt8]) -> [UInt8] { element(0x02, bytes) }

    /// A number that is not negative, its most significant byte first.
    package static func natural(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        // A number whose first bit is set would be read as negative (X.690, 8.3).
        return integer(digits.first.map { $0 < 0x80 } ?? false ? digits : [0] + digits)
    }

    package static func sequence(_ elements: [UInt8]) -> [UInt8] { element(0x30, elements) }

    /// A public key of any algorithm (SubjectPublicKeyInfo).
    package static func publicKey(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        sequence(sequence(algorithm) + element(0x03, [0] + key))
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(count & 0xFF)]
            }
        return [tag] + length + content
    }

    /// The two integers of a public key, as they are encoded.
    static func publicKey(_ bytes: [UInt8]) -> (modulus: [UInt8], exponent: [UInt8])? {
        var rest = bytes[...]
        guard let body = take(0x30, &rest), rest.isEmpty else { return nil }
        rest = body
        guard let modulus = take(0x02, &rest), let exponent = take(0x02, &rest), rest.isEmpty
        else { return nil }
        return (Array(modulus), Array(exponent))
    }

    private static func take(_ tag: UInt8, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first & 0x80 != 0 {
            let count = Int(first & 0x7F)
            guard (1...2).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
