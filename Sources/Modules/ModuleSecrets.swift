package import Domain
package import Radio

/// How modules of one family are given another secret, a link at a time.
///
/// None of its calls is repeated by itself; anyone who drives it (`Enroller`) keeps every secret that the
/// module could have until one of them is proven.
package protocol ModuleSecrets: Sendable {
    /// False where a module agrees on a new secret with anyone who is in reach.
    var needsTheOld: Bool { get }

    /// Asks the module whether this is its secret, in a way that may be repeated.
    func proves(
        _ secret: Secret,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError)

    /// Gives the module another secret: `fixed`, or else one that is made of `chance`.
    ///
    /// `old` was proven on this very link. `keep` puts the new one where it outlives this process, before
    /// the module may have nothing else; when it says false the module is left as it is, as far
    /// as that is still possible.
    func change(
        from old: Secret?,
        to fixed: Secret?,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64,
        keep: (Secret) async -> Bool
    ) async throws(ModuleError)

    /// Puts the module back to as it left its maker; false where only an older secret can be set.
    func reset(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> Bool
}

extension ModuleSecrets {
    package func reset(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> Bool { false }
}
