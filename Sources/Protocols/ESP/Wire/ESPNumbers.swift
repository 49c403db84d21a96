package import Domain

/// The numbers of ESP's BLE OTA service (0x8018).
package enum ESPNumbers {
    package static let service = GATTUUID(short: 0x8018)
    package static let firmware = Characteristic(GATTUUID(short: 0x8020), of: service)
    package static let command = Characteristic(GATTUUID(short: 0x8022), of: service)

    /// An image goes over in pieces of this length, each acknowledged.
    package static let sectorLength = 4_096
    /// Ends a sector.
    package static let lastSequence: UInt8 = 0xFF
    /// A sector that no device can want: its answer tells which one it does.
    package static let probeSector: UInt16 = 0xFFFE
    /// The longest value that every device takes.
    package static let longestValue = 512
}
