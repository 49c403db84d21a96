package import Base

/// Why bytes are not an init packet of a legacy package.
package enum LegacyInitPacketError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort(Int)
    case tooLong(Int)
    /// It is an init packet of Secure DFU.
    case secure
    case unknownExtension(Int)

    package var description: String {
        switch self {
        case .tooShort(let count): "its init packet ends after \(count) bytes"
        case .tooLong(let count): "its init packet has \(count) bytes, more than bootloaders take"
        case .secure: "its init packet is one of Secure DFU"
        case .unknownExtension(let count):
            "the last \(count) bytes of its init packet are of no form that is known"
        }
    }
}

/// The description of an image that a legacy bootloader receives before the image.
package struct LegacyInitPacket: Equatable, Sendable {
    /// The check of the image that the init packet contains.
    package enum Proof: Equatable, Sendable {
        case crc(UInt16)
        case sha256(SHA256Digest, length: UInt32)
        /// SHA-256 with a P-256 signature.
        case signed(SHA256Digest, length: UInt32, signature: [UInt8])
    }

    /// The longest init packet that bootloaders accept.
    package static let longest = 128
    /// Means any device type, or any revision.
    package static let any: UInt16 = 0xFFFF
    package static let anySoftDevice: UInt16 = 0xFFFE
    private static let noVersion = UInt32.max

    package let deviceType: UInt16
    package let revision: UInt16
    /// Nil when the packet was made without a version.
    package let version: UInt32?
    package let softDevices: [UInt16]
    package let proof: Proof

    package init(
        deviceType: UInt16,
        revision: UInt16 = LegacyInitPacket.any,
        version: UInt32? = nil,
        softDevices: [UInt16] = [LegacyInitPacket.anySoftDevice],
        proof: Proof
    ) {
        self.deviceType = deviceType
        self.revision = revision
        self.version = version
        self.softDevices = softDevices
        self.proof = proof
    }

    package init(_ bytes: [UInt8]) throws(LegacyInitPacketError) {
        guard bytes.count <= Self.longest else { throw .tooLong(bytes.count) }
        // A protobuf message begins with this byte, and no device type of a legacy packet does.
        if bytes.first == 0x12, bytes.count > 40 { throw .secure }
        guard bytes.count >= 12 else { throw .tooShort(bytes.count) }
        func half(_ start: Int) -> UInt16 { UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8 }
        func word(_ start: Int) -> UInt32 { UInt32(half(start)) | UInt32(half(start + 2)) << 16 }
        let count = Int(half(8))
        let rest = 10 + count * 2
        guard count <= 50, bytes.count >= rest + 2 else { throw .tooShort(bytes.count) }
        deviceType = half(0)
        revision = half(2)
        version = word(4) == Self.noVersion ? nil : word(4)
        softDevices = (0..<count).map { half(10 + $0 * 2) }
        let left = bytes.count - rest
        switch left {
        case 2: proof = .crc(half(rest))
        case 6 where word(rest) == 0: proof = .crc(half(rest + 4))
        case 40 where word(rest) == 1:
            guard let digest = SHA256Digest(bytes: Array(bytes[(rest + 8)...])) else {
                throw .unknownExtension(left)
            }
            proof = .sha256(digest, length: word(rest + 4))
        case 104 where word(rest) == 2:
            guard let digest = SHA256Digest(bytes: Array(bytes[(rest + 8)..<(rest + 40)])) else {
                throw .unknownExtension(left)
            }
            proof = .signed(
                digest,
                length: word(rest + 4),
                signature: Array(bytes[(rest + 40)...])
            )
        default: throw .unknownExtension(left)
        }
    }

    package var bytes: [UInt8] {
        var bytes = deviceType.littleBytes + revision.littleBytes
        bytes += (version ?? Self.noVersion).littleBytes + UInt16(softDevices.count).littleBytes
        bytes += softDevices.flatMap(\.littleBytes)
        switch proof {
        case .crc(let crc): bytes += crc.littleBytes
        case .sha256(let digest, let length):
            bytes += UInt32(1).littleBytes + length.littleBytes + digest.bytes
        case .signed(let digest, let length, let signature):
            bytes += UInt32(2).littleBytes + length.littleBytes + digest.bytes + signature
        }
        return bytes
    }

    /// The checksum that bootloaders calculate.
    package static func checksum(of firmware: some Sequence<UInt8>) -> UInt16 {
        CRC16.of(firmware, from: 0xFFFF)
    }
}
