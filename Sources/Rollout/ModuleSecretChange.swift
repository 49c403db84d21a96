package import Base
package import Families
package import Radio
package import Store

/// What is needed to change the secret of a vehicle's module: its keeper and the module's profile.
package struct ModuleSecretChange: Sendable {
    package let keeper: any SecretKeeper
    package let profile: Profile

    package init(_ keeper: any SecretKeeper, _ profile: Profile) {
        self.keeper = keeper
        self.profile = profile
    }
}

/// What is needed to give a vehicle's module wrong answers.
package struct ModuleChallenge: Sendable {
    let secrets: any ModuleSecrets
    let profile: Profile

    /// Nil where the profile allows no wrong answer before a verdict, or none is asked for.
    init?(_ profile: Profile) {
        guard profile.wrongAnswers.verdict > 0, profile.authentication != .none,
            let secrets = FamilyRegistry.secrets(of: profile.family)
        else { return nil }
        self.secrets = secrets
        self.profile = profile
    }
}

/// Stores the secrets of a vehicle's module, so that every secret that the module could have is
/// known.
package protocol SecretKeeper: Sendable {
    /// Whether a change was begun whose result is unknown.
    func hasOpenChange(_ journal: Journal) async -> Bool

    /// Gives the module a secret that it never had, or completes a change that was begun; returns
    /// what opens the module from then on.
    func change(
        _ module: ModuleInHand,
        isNew: Bool,
        _ journal: Journal
    ) async throws(SecretChangeFault) -> ModuleOpener
}

/// A module whose secret is being changed, and everything that the change needs.
package struct ModuleInHand: Sendable {
    package let vehicle: VehicleID
    package let serial: Serial
    package let profile: Profile
    package let bond: BondPolicy
    package let central: any Central
    package let time: any Timekeeper
    /// How long to search for it.
    package let search: Duration
    /// Unpredictable random numbers.
    package let chance: @Sendable () -> UInt64
    package let isStopped: @Sendable () -> Bool
}

/// Why a module's secret was not changed, as far as is known; every secret that it could have is
/// kept.
package struct SecretChangeFault: Error, Sendable, Equatable {
    /// Nil when the cause is not the module but our files.
    package let failure: FailureClass?
    package let sentence: String

    package init(_ failure: FailureClass?, _ sentence: String) {
        self.failure = failure
        self.sentence = sentence
    }
}
