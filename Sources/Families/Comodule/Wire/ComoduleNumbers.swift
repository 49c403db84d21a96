package import Base
import Radio

/// The numbers of one publicly described Comodule module.
///
/// The manufacturer publishes none; these were published by third parties, who read them from one
/// product.
package enum ComoduleNumbers {
    package static let company: UInt16 = 0x020F

    package static let metrics = uuid(0x1554)
    package static let notifier = Characteristic(uuid(0x155E), of: metrics)
    package static let register = Characteristic(uuid(0x155F), of: metrics)
    package static let selector = Characteristic(uuid(0x1564), of: metrics)
    package static let security = uuid(0x2554)
    package static let key = Characteristic(uuid(0x2555), of: security)
    package static let challenge = Characteristic(uuid(0x2556), of: security)
    package static let response = Characteristic(uuid(0x2557), of: security)
    package static let authenticated = Characteristic(uuid(0x2558), of: security)

    package static let manufacturerName = DeviceInformation.manufacturer
    package static let firmwareRevision = DeviceInformation.firmwareRevision
    /// Carries the firmware type as decimal text.
    package static let hardwareRevision = DeviceInformation.hardwareRevision
    package static let softwareRevision = DeviceInformation.softwareRevision

    private static func uuid(_ short: UInt64) -> GATTUUID {
        GATTUUID(short << 32 | 0x1212_EFDE, 0x1523_785F_EABC_D123)
    }
}
