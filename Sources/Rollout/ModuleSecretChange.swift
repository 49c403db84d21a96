package import Domain
package import Families
package import Journal
package import Modules
package import Radio

/// A vehicle's module whose secret can be changed, and who keeps it.
package struct ModuleSecretChange: Sendable {
    package let keeper: any SecretKeeper
    package let profile: Profile

    package init(_ keeper: any SecretKeeper, _ profile: Profile) {
        self.keeper = keeper
        self.profile = profile
    }
}

/// Keeps what opens a vehicle's module, so that whatever it could have for a secret is known.
package protocol SecretKeeper: Sendable {
    /// Whether a change was begun of which nobody knows how it ended.
    func hasOpenChange(_ journal: Journal) async -> Bool

    /// Gives the module a secret that it never had, or brings a change to its end that was begun; what it is
    /// opened with from then on.
    func change(
        _ module: ModuleInHand,
        isNew: Bool,
        _ journal: Journal
    ) async throws(SecretChangeFault) -> ModuleOpener
}

/// A module whose secret is being changed, and what that takes.
package struct ModuleInHand: Sendable {
    package let vehicle: VehicleID
    package let serial: Serial
    package let profile: Profile
    package let bond: BondPolicy
    package let central: any Central
    package let time: any Timekeeper
    /// How long it is looked for.
    package let search: Duration
    /// Numbers that nobody can foresee.
    package let chance: @Sendable () -> UInt64
    package let isStopped: @Sendable () -> Bool
}

/// Why a module has not got another secret, as far as is known; what it could have is kept.
package struct SecretChangeFault: Error, Sendable, Equatable {
    /// Nil when it is not the module's fault but that of our files.
    package let failure: FailureClass?
    package let sentence: String

    package init(_ failure: FailureClass?, _ sentence: String) {
        self.failure = failure
        self.sentence = sentence
    }
}
