import Domain
import Modules
import Protocols
import Radio

/// A Comodule module's bootloader, started by us under a name that says whose it is.
enum ComoduleBootloader {
    /// How those of a profile's modules are known.
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
