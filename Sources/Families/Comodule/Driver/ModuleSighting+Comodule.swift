package import Domain
package import Modules
import Protocols
package import Radio
import Sessions

extension ModuleSighting {
    /// Nil when the advertisement is not a Comodule module's, or a bootloader of another's making.
    package init?(_ advertisement: Advertisement) {
        if let data = advertisement.manufacturerData[ComoduleNumbers.company],
            let serial = ComoduleNumbers.serial(manufacturerData: data)
        {
            self.init(serial: serial, role: .application, advertisement: advertisement)
        } else if let serial = Self.bootloader(in: advertisement) {
            self.init(serial: serial, role: .bootloader, advertisement: advertisement)
        } else {
            return nil
        }
    }

    /// Whose bootloader it is that we started under a name of our own; nil for everybody else.
    static func bootloader(in advertisement: Advertisement) -> Serial? {
        guard advertisement.services.contains(DFUNumbers.service) else { return nil }
        return advertisement.name.flatMap { BootloaderName.serial(in: $0) }
    }

    /// What a scan for one module should let through.
    package static func filter(for serial: Serial) -> ScanFilter {
        var filter = filter { $0.serial == serial }
        filter.sought = serial
        return filter
    }

    /// What a scan for some of all modules should let through.
    package static func filter(
        wants: @escaping @Sendable (ModuleSighting) -> Bool
    ) -> ScanFilter {
        ScanFilter(services: [DFUNumbers.service], companies: [ComoduleNumbers.company]) {
            ModuleSighting($0).map(wants) ?? false
        }
    }
}
