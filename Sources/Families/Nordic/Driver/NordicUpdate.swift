package import Base
package import Radio

/// Updates of Nordic devices: their application starts a bootloader, of the kind that the profile
/// names.
package struct NordicUpdate: UpdateDriver {
    private let profile: Profile

    package init(profile: Profile) { self.profile = profile }

    package var family: Family { .nordic }
    package var usesBootloader: Bool { true }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(
            family: .nordic,
            form: profile.advertisement,
            bootloader: NordicBootloader.form(of: profile)
        )
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        NordicApplication(
            link: ProfileShape.nordic.link(link, by: profile),
            profile: profile,
            time: time
        )
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        let link = ProfileShape.nordic.link(link, by: profile)
        return NordicBootloader.isLegacy(profile)
            ? LegacyDFUReceiver(link: link, time: time, times: profile.times.upload)
            : SecureDFUReceiver(link: link, time: time, times: profile.times.upload)
    }
}
