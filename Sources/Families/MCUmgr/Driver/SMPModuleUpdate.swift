package import Domain
package import Modules
import Protocols
package import Radio
import Sessions

/// Updates of modules that speak SMP: the application itself receives, tries and keeps images.
package struct SMPModuleUpdate: UpdateDriver {
    package init() {}

    package var family: Family { .mcumgr }
    package var usesBootloader: Bool { false }

    package func filter(for serial: Serial) -> ScanFilter { SMPSighting.filter(for: serial) }

    package func sighting(
        of serial: Serial,
        in advertisement: Advertisement
    ) -> ModuleSighting? {
        guard SMPSighting.isOf(serial, advertisement) else { return nil }
        return ModuleSighting(serial: serial, role: .application, advertisement: advertisement)
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        SMPApplication(client: SMPClient(link: link, time: time), time: time)
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        SMPApplication(client: SMPClient(link: link, time: time), time: time)
    }
}
