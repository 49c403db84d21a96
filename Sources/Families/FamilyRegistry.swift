package import Domain
package import Modules
package import Simulation
package import SourceTree

/// Every family that is known, one line each: nothing else lists them.
package enum FamilyRegistry {
    /// One family, with all that the rest of the program gets of it.
    package struct Entry: Sendable {
        /// Its shipped profiles: what is inside the program, so that no file is needed beside it.
        let profiles: [(name: String, bytes: [UInt8])]
        /// What a profile of it may hold.
        let shape: ProfileShape
        /// How its modules' bootloaders are known, where we start them under a name of our own.
        var bootloader: (@Sendable (Profile) -> BootloaderForm?)?
        /// What opens its modules, by the vehicle's secret.
        let opener: @Sendable (Secret?) throws(ModuleSecretError) -> ModuleOpener
        /// How its modules are connected to for as long as a program likes; nil where the driver does.
        var sessions: (@Sendable (Profile, Secret?) throws(ConnectError) -> SessionOpener)?
        /// How its modules are given another secret; nil where they have none that could be set.
        var secrets: (any ModuleSecrets)?
        /// Its modules in simulated depots.
        let simulated: SimulatedFamily
    }

    /// The first is meant where a file names none.
    private static let all: [Entry] = [
        .comodule, .lrdevice, .geotabGo, .mcumgr, .nordic, .esp,
    ]

    /// Every family, in the order of the entries.
    package static let families = all.map(\.shape.family)

    /// Nil for a name that no family has.
    package static func family(named name: String) -> Family? {
        families.first { $0.rawValue == name }
    }

    package static let profiles = all.flatMap(\.profiles).sorted { $0.name < $1.name }
    package static let shapes = all.map(\.shape)
    package static let simulated = all.map(\.simulated)

    /// Nil for a family whose modules have no secret that could be set.
    package static func secrets(of family: Family) -> (any ModuleSecrets)? {
        entry(of: family)?.secrets
    }

    static func entry(of family: Family) -> Entry? { all.first { $0.shape.family == family } }

    static func bootloader(of profile: Profile) -> BootloaderForm? {
        entry(of: profile.family)?.bootloader?(profile)
    }
}

extension Profile {
    /// Reads a profile of any family; nil when `diagnostics` got the reasons.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> Profile? {
        parse(bytes, file: file, of: FamilyRegistry.shapes, diagnostics)
    }
}

extension FieldReader {
    /// The family that an item of a depot names; nil where it names none.
    mutating func family() -> Family? {
        word("family", of: FamilyRegistry.families.map(\.rawValue), .optional)
            .map(Family.init(rawValue:))
    }
}
