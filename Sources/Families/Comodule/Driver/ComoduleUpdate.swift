package import Domain
package import Modules
import Protocols
package import Radio

/// Updates of Comodule modules: their application leads into a bootloader that takes Secure DFU.
package struct ComoduleUpdate: UpdateDriver {
    private let key: ComoduleKey
    private let profile: Profile?

    /// Without a profile the shipped one for any Comodule module is taken.
    package init(key: ComoduleKey, profile: Profile? = nil) {
        self.key = key
        self.profile =
            profile ?? ProfileLibrary.shipped.profile(Profile.generic, of: .comodule)
    }

    package var family: Family { .comodule }
    package var usesBootloader: Bool { true }

    package func filter(for serial: Serial) -> ScanFilter { ModuleSighting.filter(for: serial) }

    package func sighting(
        of serial: Serial,
        in advertisement: Advertisement
    ) -> ModuleSighting? {
        guard let sighting = ModuleSighting(advertisement), sighting.serial == serial else {
            return nil
        }
        return sighting
    }

    package func isUnnamedBootloader(
        _ advertisement: Advertisement,
        at place: Peer
    ) -> Bool {
        advertisement.peer == place && advertisement.services.contains(DFUNumbers.service)
            && advertisement.name.flatMap { BootloaderName.serial(in: $0) } == nil
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        let client = ComoduleClient(
            link: link,
            time: time,
            layout: profile.flatMap { ComoduleLayout($0.gatt) } ?? ComoduleLayout()
        )
        try await client.authenticate(key)
        return ComoduleApplication(client: client, profile: profile, time: time)
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        SecureDFUReceiver(link: link, time: time)
    }
}
