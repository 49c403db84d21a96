package import Base
package import Radio

/// Updates of modules that support SMP: the application itself receives, tests and keeps images.
///
/// They may be of a family that a program brings along, with values behind a wire of their own.
package struct SMPModuleUpdate: UpdateDriver {
    /// Opens the wire of a family of its own: authenticates where its modules want that.
    package typealias Wire =
        @Sendable (any Link, any Timekeeper) async throws(ModuleError) -> any OwnValues

    private let profile: Profile
    private let wire: Wire?

    /// Without a profile, the shipped generic profile of the family is used.
    package init(profile: Profile? = nil, wire: Wire? = nil) {
        self.profile = profile ?? Self.generic
        self.wire = wire
    }

    private static let generic: Profile = {
        guard let generic = ProfileLibrary.shipped.profile(Profile.generic, of: .mcumgr) else {
            preconditionFailure("the family's generic profile is shipped")
        }
        return generic
    }()

    package var family: Family { profile.family }
    package var usesBootloader: Bool { false }
    package var tellsVersions: Bool { !profile.firmware.isEmpty }

    package var recogniser: ModuleRecogniser {
        ModuleRecogniser(family: family, form: profile.advertisement)
    }

    private func open(
        _ link: any Link,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> SMPApplication {
        let values = try await wire?(link, time)
        let link = ProfileShape.mcumgr.link(link, by: profile)
        let client = SMPClient(link: link, time: time)
        return SMPApplication(
            client: client,
            time: time,
            family: family,
            properties: profile.properties.isEmpty
                ? nil
                : SMPProperties(
                    client: client,
                    link: link,
                    profile: profile,
                    time: time,
                    values: values
                ),
            times: profile.times.upload
        )
    }

    package func application(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ModuleApplication {
        try await open(link, time)
    }

    package func receiver(
        on link: any Link,
        time: any Timekeeper
    ) async throws(ModuleError) -> any ImageReceiver {
        try await open(link, time)
    }
}
