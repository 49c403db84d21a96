import Base
import Radio

/// A Comodule module's bootloader.
///
/// We start it under a name that contains the module's serial.
enum ComoduleBootloader {
    /// How to recognise the bootloaders of a profile's modules.
    static func form(of profile: Profile) -> BootloaderForm {
        let service =
            profile.gatt.characteristic(GATTRole(rawValue: "control-point"))?.service
            ?? DFUNumbers.service
        let digits = profile.advertisement?.serialDigits ?? 16
        return BootloaderForm(service: service) { advertisement in
            guard advertisement.services.contains(service) else { return nil }
            return advertisement.name.flatMap { BootloaderName.serial(in: $0, digits: digits) }
        }
    }
}
