import Domain
package import Modules

extension ProfileShape.Group {
    /// The service of a bootloader that speaks legacy DFU, and of the way into it.
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
