package import Base

/// Changes the secrets of one family's modules, one link at a time.
///
/// No call repeats itself. The caller (`Enroller`) keeps every secret that the module could have
/// until one of them is proven.
package protocol ModuleSecrets: Sendable {
    /// False where a module agrees on a new secret with any device in range.
    var needsTheOld: Bool { get }

    /// Asks the module whether this is its secret; the question may be repeated.
    func proves(
        _ secret: Secret,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError)

    /// A secret of the family's form that no module has.
    func invented(chance: @Sendable () -> UInt64) -> Secret

    /// Gives the module another secret: `fixed`, or else one that is made with `chance`.
    ///
    /// `old` was proven on this very link. `keep` stores the new secret where it outlives this
    /// process, before the module may have no other. When `keep` returns false, the module stays
    /// unchanged, as far as that is still possible.
    func change(
        from old: Secret?,
        to fixed: Secret?,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64,
        keep: (Secret) async -> Bool
    ) async throws(ModuleError)

    /// Resets the module to its factory state; false where only an older secret can be set.
    func reset(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> Bool
}

extension ModuleSecrets {
    /// Gives a wrong answer; returns when the module accepts it.
    package func answersWrongly(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError) {
        try await proves(invented(chance: chance), on: link, profile, time, chance: chance)
    }

    package func reset(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> Bool { false }
}
