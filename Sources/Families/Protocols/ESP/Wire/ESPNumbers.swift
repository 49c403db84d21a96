package import Base

/// The numbers of ESP's BLE OTA service (0x8018).
package enum ESPNumbers {
    package static let service = GATTUUID(short: 0x8018)
    package static let firmware = Characteristic(GATTUUID(short: 0x8020), of: service)
    package static let command = Characteristic(GATTUUID(short: 0x8022), of: service)

    /// An image is sent in sectors of this length; the device acknowledges each.
    package static let sectorLength = 4_096
    /// The sequence number that ends a sector.
    package static let lastSequence: UInt8 = 0xFF
    /// A sector that no device can wait for: the answer to it contains the one that the device
    /// waits for.
    package static let probeSector: UInt16 = 0xFFFE
    /// The longest value that every device accepts.
    package static let longestValue = 512
}
