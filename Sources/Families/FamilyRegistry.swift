package import Base
package import Radio
package import Simulation

/// All families, one line each: no other place lists them.
package enum FamilyRegistry {
    /// One family, with everything that the rest of the program uses of it.
    package struct Entry: Sendable {
        /// Its shipped profiles.
        ///
        /// They are part of the program, so that it needs no file beside it.
        let profiles: [(name: String, bytes: [UInt8])]
        /// What a profile of this family may contain.
        let shape: ProfileShape
        /// How to recognise its modules' bootloaders, for families where we start them under a name
        /// of our own.
        var bootloader: (@Sendable (Profile) -> BootloaderForm?)?
        /// Makes what opens its modules, from the vehicle's secret.
        let opener: @Sendable (Secret?) throws(ModuleSecretError) -> ModuleOpener
        /// How its modules get another secret; nil when they have no secret that can be set.
        var secrets: (any ModuleSecrets)?
        /// Its modules in simulated depots.
        let simulated: SimulatedFamily
    }

    /// The first one is used when a file names no family.
    private static let all: [Entry] = [
        .comodule, .lrdevice, .geotabGo, .mcumgr, .nordic, .esp,
    ]

    /// Every family, in the order of the entries.
    package static let families = all.map(\.shape.family)

    /// Nil for an unknown name.
    package static func family(named name: String) -> Family? {
        families.first { $0.rawValue == name }
    }

    package static let profiles = all.flatMap(\.profiles).sorted { $0.name < $1.name }
    package static let shapes = all.map(\.shape)
    package static let simulated = all.map(\.simulated)

    /// Makes up a module of a family, for a rehearsal without a depot's file.
    package static func invent(_ module: InventedModule, of family: Family) -> InventedItem? {
        entry(of: family)?.simulated.invent(module)
    }

    /// Nil for a family whose modules have no secret that can be set.
    package static func secrets(of family: Family) -> (any ModuleSecrets)? {
        entry(of: family)?.secrets
    }

    static func entry(of family: Family) -> Entry? { all.first { $0.shape.family == family } }

    static func bootloader(of profile: Profile) -> BootloaderForm? {
        entry(of: profile.family)?.bootloader?(profile)
    }
}

extension Profile {
    /// Reads a profile of any family; nil after an error was added to `diagnostics`.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> Profile? {
        parse(bytes, file: file, of: FamilyRegistry.shapes, diagnostics)
    }
}

extension FieldReader {
    /// The family that an item of a depot names; nil when it names none.
    mutating func family() -> Family? {
        word("family", of: FamilyRegistry.families.map(\.rawValue), .optional)
            .map(Family.init(rawValue:))
    }
}
