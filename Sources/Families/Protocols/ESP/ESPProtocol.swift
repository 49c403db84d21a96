import Base
package import Radio

extension UpdateProtocol {
    package static let espOTA = Self("esp", title: "ESP BLE OTA")
}

extension ProfileShape.Group {
    /// The service of a device that takes images as ESP's examples do.
    package static let espOTA = Self(
        "ota",
        service: ESPNumbers.service,
        isRequired: false,
        [
            Role(GATTRole(rawValue: "firmware-data"), ESPNumbers.firmware.uuid),
            Role(GATTRole(rawValue: "command"), ESPNumbers.command.uuid),
        ]
    )
}
