/// One of the values that trail an image: its kind, its length and its bytes.
package struct MCUbootValue: Equatable, Sendable {
    package struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let keyHash = Self(rawValue: 0x01)
        package static let publicKey = Self(rawValue: 0x02)
        package static let sha256 = Self(rawValue: 0x10)
        package static let sha384 = Self(rawValue: 0x11)
        package static let sha512 = Self(rawValue: 0x12)
        package static let rsa2048 = Self(rawValue: 0x20)
        package static let ecdsa = Self(rawValue: 0x22)
        package static let rsa3072 = Self(rawValue: 0x23)
        package static let ed25519 = Self(rawValue: 0x24)
        package static let pureSignature = Self(rawValue: 0x25)
        package static let dependency = Self(rawValue: 0x40)
        package static let securityCounter = Self(rawValue: 0x50)
        package static let bootRecord = Self(rawValue: 0x60)
        package static let decompressedHash = Self(rawValue: 0x71)

        package var isHash: Bool { hashLength != nil }

        /// The length of the digest; nil for a kind that is not a hash.
        package var hashLength: Int? {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            default: nil
            }
        }

        /// Whether it is the key that the payload is encrypted with, itself encrypted for the
        /// module.
        package var isEncryptionKey: Bool { (0x30...0x34).contains(rawValue) }

        package var isSignature: Bool {
            switch self {
            case .rsa2048, .ecdsa, .rsa3072, .ed25519: true
            default: false
            }
        }

        package var description: String {
            switch self {
            case .keyHash: "key hash"
            case .publicKey: "public key"
            case .sha256: "SHA-256"
            case .sha384: "SHA-384"
            case .sha512: "SHA-512"
            case .rsa2048: "RSA-2048 signature"
            case .ecdsa: "ECDSA signature"
            case .rsa3072: "RSA-3072 signature"
            case .ed25519: "Ed25519 signature"
            case .pureSignature: "mark of a pure signature"
            case .dependency: "dependency"
            case .securityCounter: "security counter"
            case .bootRecord: "boot record"
            case .decompressedHash: "hash of the decompressed image"
            default: "value 0x\(String(rawValue, radix: 16))"
            }
        }
    }

    package let kind: Kind
    package let bytes: [UInt8]
    /// Whether the image's hash covers it.
    package let isProtected: Bool
    /// The offset of the value's header in the file.
    package let offset: Int
}
