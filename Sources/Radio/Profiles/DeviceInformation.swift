package import Base

/// The Device Information service (0x180A), which many kinds of module have.
package enum DeviceInformation {
    package static let service = GATTUUID(short: 0x180A)
    package static let manufacturer = characteristic(0x2A29)
    package static let model = characteristic(0x2A24)
    package static let firmwareRevision = characteristic(0x2A26)
    package static let hardwareRevision = characteristic(0x2A27)
    package static let softwareRevision = characteristic(0x2A28)

    /// A characteristic of the service by its short number.
    package static func characteristic(_ short: UInt16) -> Characteristic {
        Characteristic(GATTUUID(short: short), of: service)
    }
}

extension ProfileShape.Group {
    package static let information = Self(
        "information",
        service: DeviceInformation.service,
        isRequired: false,
        [
            Role(GATTRole(rawValue: "manufacturer"), DeviceInformation.manufacturer.uuid),
            Role(GATTRole(rawValue: "model"), DeviceInformation.model.uuid),
            Role(GATTRole(rawValue: "firmware"), DeviceInformation.firmwareRevision.uuid),
            Role(GATTRole(rawValue: "hardware"), DeviceInformation.hardwareRevision.uuid),
            Role(GATTRole(rawValue: "software"), DeviceInformation.softwareRevision.uuid),
        ]
    )
}
