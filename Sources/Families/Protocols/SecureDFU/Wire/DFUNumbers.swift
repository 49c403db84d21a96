package import Base

/// Names and numbers of the Secure DFU service (nRF5 SDK 12 to 17).
package enum DFUNumbers {
    package static let service = GATTUUID(short: 0xFE59)
    package static let controlPoint = characteristic(0x8EC9_0001)
    package static let packet = characteristic(0x8EC9_0002)
    package static let buttonless = characteristic(0x8EC9_0003)
    package static let buttonlessBonded = characteristic(0x8EC9_0004)

    private static func characteristic(_ first: UInt64) -> Characteristic {
        Characteristic(GATTUUID(first << 32 | 0xF315_4F60, 0x9FB8_8388_30DA_EA50), of: service)
    }

    /// The packet length for a link: a multiple of four, because flash is written in words.
    package static func packetLength(maximumLength: Int) -> Int {
        max(4, maximumLength / 4 * 4)
    }
}

/// The type of an object: the init packet or the image.
package enum DFUObjectType: UInt8, CaseIterable, Sendable {
    case command = 1
    case data = 2
}
