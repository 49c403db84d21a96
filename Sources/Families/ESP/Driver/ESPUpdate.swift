package import Base
package import Radio

/// Updates of ESP devices: the application takes images and restarts into them.
package struct ESPUpdate: UpdateDriver {
    private let profile: Profile

    package init(profile: Profile) { self.profile = profile }

    package var family: Family { .esp }
    package var usesBootloader: Bool { false }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(family: .esp, form: profile.advertisement)
    }

    private func open(_ link: any Link, _ time: any Timekeeper) -> ESPApplication {
        ESPApplication(
            link: ProfileShape.esp.link(link, by: profile),
            profile: profile,
            time: time
        )
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication { open(link, time) }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver { open(link, time) }
}
