package import Base

/// Identifiers and constants of the add-on protocol, as car-share hosts use it over the air.
package enum AddOnNumbers {
    /// The characteristic that we notify on.
    package static let notify = GATTUUID(0x430F_2EA3_C765_4051, 0x9134_A341_254C_FD00)
    /// The characteristic that the vehicle writes to.
    package static let write = GATTUUID(0x906E_E7E0_D8DB_44F3, 0xAF54_6B0D_FCEC_DF1C)

    package static let start: UInt8 = 0x02
    package static let end: UInt8 = 0x03
    /// A single byte that asks the vehicle to begin the handshake.
    package static let sync: UInt8 = 0x55

    /// The external device that a car-share host identifies itself as.
    package static let deviceID: UInt16 = 0x105F
    /// Flag of the confirmation: the vehicle must acknowledge it.
    package static let wantsAcknowledgement: UInt16 = 1

    /// The service of a vehicle: the first half of the SHA-256 of its hardware id, which has four
    /// bytes, least significant first.
    package static func service(
        ofHardware id: UInt32,
        sha256: ([UInt8]) -> SHA256Digest
    ) -> GATTUUID? {
        GATTUUID(bytes: Array(sha256(id.littleBytes).bytes.prefix(16)))
    }

    /// The position of the serial in a vehicle's data (0x21); the data of older devices ends before
    /// it.
    private static let serialPlace = 40..<52

    /// The data of a vehicle at rest in an unknown place; nil when its serial is too long for it.
    package static func vehicleData(serial: Serial) -> [UInt8]? {
        let text = Array(serial.text.utf8)
        guard text.count <= serialPlace.count else { return nil }
        return [UInt8](repeating: 0, count: serialPlace.lowerBound) + text
            + [UInt8](repeating: 0, count: serialPlace.count - text.count)
    }

    /// Nil when the data contains no serial.
    package static func serial(inVehicleData body: [UInt8]) -> Serial? {
        guard body.count >= serialPlace.upperBound else { return nil }
        let text = body[serialPlace].prefix { $0 != 0 && $0 != 0x20 }
        return Serial(String(decoding: text, as: UTF8.self))
    }
}
