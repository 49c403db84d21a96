package import Base

/// The 32 bytes at the beginning of every MCUboot image; all numbers are little-endian.
package struct MCUbootHeader: Equatable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let positionIndependent = Self(rawValue: 0x01)
        package static let encryptedAES128 = Self(rawValue: 0x04)
        package static let encryptedAES256 = Self(rawValue: 0x08)
        package static let notBootable = Self(rawValue: 0x10)
        package static let ramLoad = Self(rawValue: 0x20)
        package static let romFixed = Self(rawValue: 0x100)
        static let compressions = Self(rawValue: 0xE00)

        package var isCompressed: Bool { !isDisjoint(with: Self.compressions) }

        package var isEncrypted: Bool {
            contains(.encryptedAES128) || contains(.encryptedAES256)
        }
    }

    package static let length = 32
    package static let magic: UInt32 = 0x96F3_B83D

    package let loadAddress: UInt32
    /// The offset of the payload: the length of the header and its padding.
    package let headerSize: Int
    /// The length of the protected trailing values with their own header; 0 when there are none.
    package let protectedSize: Int
    /// The length of the payload.
    package let imageSize: Int
    package let flags: Flags
    package let version: FirmwareVersion

    /// Reads the first 32 bytes of an image.
    package init(_ bytes: ArraySlice<UInt8>) throws(MCUbootError) {
        guard bytes.count >= Self.length else {
            throw MCUbootError(.endsEarly(needed: Self.length), at: bytes.count)
        }
        var reader = ByteReader(bytes.prefix(Self.length))
        do throws(OutOfBytes) {
            let magic: UInt32 = try reader.little()
            guard magic == Self.magic else { throw OutOfBytes(offset: 0, needed: 0) }
            loadAddress = try reader.little()
            headerSize = Int(try reader.little(UInt16.self))
            protectedSize = Int(try reader.little(UInt16.self))
            imageSize = Int(try reader.little(UInt32.self))
            flags = Flags(rawValue: try reader.little())
            version = FirmwareVersion(
                UInt32(try reader.byte()),
                UInt32(try reader.byte()),
                UInt32(try reader.little(UInt16.self)),
                build: try reader.little()
            )
        } catch {
            throw MCUbootError(.badMagic, at: 0)
        }
        guard headerSize >= Self.length else { throw MCUbootError(.badHeaderSize, at: 8) }
        guard imageSize > 0 else { throw MCUbootError(.emptyImage, at: 12) }
    }

    /// The offset of the trailing values; the protected ones come first.
    package var valuesStart: Int { headerSize + imageSize }
}
