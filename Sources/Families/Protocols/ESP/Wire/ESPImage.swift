package import Base

/// An application image that `esptool` made: its header, its descriptor and a check that it is
/// complete.
package struct ESPImage: Sendable, Equatable {
    package let chip: UInt16
    package let version: String
    package let project: String
    package let secureVersion: UInt32
    /// The digest of the bytes before it; nil when none is appended.
    package let digest: SHA256Digest?
    /// The number of bytes that the digest covers.
    package let length: Int

    private static let magic: UInt8 = 0xE9
    private static let descriptorMagic: UInt32 = 0xABCD_5432
    private static let headerLength = 24

    /// Whether a file claims to be such an image.
    package static func isOne(_ bytes: [UInt8]) -> Bool { bytes.first == magic }

    package init(_ bytes: [UInt8]) throws(ESPImageError) {
        func half(_ start: Int) -> UInt16 { UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8 }
        func word(_ start: Int) -> UInt32 { UInt32(half(start)) | UInt32(half(start + 2)) << 16 }
        func text(_ start: Int) -> String {
            String(decoding: bytes[start..<(start + 32)].prefix { $0 != 0 }, as: UTF8.self)
        }
        guard bytes.count >= Self.headerLength + 8 + 256, bytes[0] == Self.magic else {
            throw .notAnImage
        }
        guard (1...16).contains(Int(bytes[1])) else { throw .segments(Int(bytes[1])) }
        chip = half(12)
        // A bootloader or a merged image begins in the same way, but has no descriptor here.
        guard word(32) == Self.descriptorMagic else { throw .notAnApplication }
        secureVersion = word(36)
        version = text(48)
        project = text(80)
        var checksum: UInt8 = 0xEF
        var offset = Self.headerLength
        for _ in 0..<bytes[1] {
            guard bytes.count - offset >= 8 else { throw .cut(offset) }
            let count = Int(word(offset + 4))
            offset += 8
            guard count <= bytes.count - offset else { throw .cut(offset) }
            for byte in bytes[offset..<(offset + count)] { checksum ^= byte }
            offset += count
        }
        let end = (offset / 16 + 1) * 16
        guard end <= bytes.count else { throw .cut(offset) }
        guard bytes[end - 1] == checksum else { throw .checksum }
        length = end
        guard bytes[23] == 1 else {
            digest = nil
            return
        }
        guard bytes.count - end >= 32,
            let found = SHA256Digest(bytes: Array(bytes[end..<(end + 32)]))
        else { throw .cut(end) }
        digest = found
    }

    package static func name(ofChip chip: UInt16) -> String {
        switch chip {
        case 0: "esp32"
        case 2: "esp32s2"
        case 5: "esp32c3"
        case 9: "esp32s3"
        case 12: "esp32c2"
        case 13: "esp32c6"
        case 16: "esp32h2"
        case 18: "esp32p4"
        case 20: "esp32c61"
        case 23: "esp32c5"
        default: "chip \(chip)"
        }
    }
}

/// Why a file is not an image that an ESP device accepts.
package enum ESPImageError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAnImage
    case notAnApplication
    case segments(Int)
    case cut(Int)
    case checksum

    package var description: String {
        switch self {
        case .notAnImage: "the image is too short for one of an ESP device"
        case .notAnApplication:
            "the image has no description of an application: a bootloader, or several images in one"
        case .segments(let count): "the image has \(count) segments"
        case .cut(let offset): "the image ends at byte \(offset), inside of what it announces"
        case .checksum: "the image is damaged: its checksum is not that of its content"
        }
    }
}
