package import Base
package import Radio

/// Updates of modules that support SMP: the application itself receives, tests and keeps images.
package struct SMPModuleUpdate: UpdateDriver {
    private let profile: Profile

    /// Without a profile, the shipped generic profile of the family is used.
    package init(profile: Profile? = nil) { self.profile = profile ?? Self.generic }

    private static let generic: Profile = {
        guard let generic = ProfileLibrary.shipped.profile(Profile.generic, of: .mcumgr) else {
            preconditionFailure("the family's generic profile is shipped")
        }
        return generic
    }()

    package var family: Family { .mcumgr }
    package var usesBootloader: Bool { false }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(family: .mcumgr, form: profile.advertisement)
    }

    private func open(_ link: any Link, _ time: any Timekeeper) -> SMPApplication {
        let link = ProfileShape.mcumgr.link(link, by: profile)
        let client = SMPClient(link: link, time: time)
        return SMPApplication(
            client: client,
            time: time,
            family: .mcumgr,
            properties: profile.properties.isEmpty
                ? nil : SMPProperties(client: client, link: link, profile: profile, time: time),
            times: profile.times.upload
        )
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        open(link, time)
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        open(link, time)
    }
}
