package import Base
import Families
package import Images
import Simulation

extension MCUbootFile {
    /// An image of any size in the format of imgtool.
    package static func sample(
        size: Int,
        version: FirmwareVersion = FirmwareVersion(2, 0),
        seed: UInt64 = 1
    ) throws(MCUbootFileError) -> MCUbootFile {
        var random = SplitMix64(seed: seed)
        var bytes = MCUbootHeader.magic.littleBytes + UInt32(0).littleBytes
        bytes += UInt16(32).littleBytes + UInt16(0).littleBytes
        bytes += UInt32(size).littleBytes + UInt32(0).littleBytes
        bytes += [UInt8(version.major), UInt8(version.minor)]
        bytes += UInt16(version.patch).littleBytes + version.build.littleBytes
        bytes += [0, 0, 0, 0]
        bytes += (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let hash = SHA256.digest(of: bytes)
        bytes += UInt16(0x6907).littleBytes + UInt16(40).littleBytes
        bytes += UInt16(0x10).littleBytes + UInt16(32).littleBytes + hash.bytes
        return try MCUbootFile(bytes)
    }
}
