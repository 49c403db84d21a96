import Base
package import Radio

extension ProfileShape.Group {
    /// The service of a bootloader with Secure DFU, which is also used to enter the bootloader.
    package static let secureDFU = Self(
        "dfu",
        service: DFUNumbers.service,
        isRequired: false,
        [
            Role(GATTRole(rawValue: "control-point"), DFUNumbers.controlPoint.uuid),
            Role(GATTRole(rawValue: "packet"), DFUNumbers.packet.uuid),
            Role(GATTRole(rawValue: "buttonless"), DFUNumbers.buttonless.uuid),
            Role(GATTRole(rawValue: "buttonless-bonded"), DFUNumbers.buttonlessBonded.uuid),
        ]
    )
}
