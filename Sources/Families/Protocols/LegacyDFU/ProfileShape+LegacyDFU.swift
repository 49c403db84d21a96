import Base
package import Radio

extension ProfileShape.Group {
    /// The service of a bootloader with legacy DFU, which is also used to enter the bootloader.
    package static let legacyDFU = Self(
        "legacy",
        service: LegacyNumbers.service,
        isRequired: false,
        [
            Role(GATTRole(rawValue: "legacy-control-point"), LegacyNumbers.controlPoint.uuid),
            Role(GATTRole(rawValue: "legacy-packet"), LegacyNumbers.packet.uuid),
            Role(GATTRole(rawValue: "legacy-version"), LegacyNumbers.version.uuid),
        ]
    )
}
