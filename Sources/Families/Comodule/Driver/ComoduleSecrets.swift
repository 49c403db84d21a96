import Base
import Radio

/// Keys of Comodule modules: 20 bytes.
///
/// A module accepts a new key from every client that has the current one.
struct ComoduleSecrets: ModuleSecrets {
    var needsTheOld: Bool { true }

    private func client(
        _ link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) -> ComoduleClient {
        ComoduleClient(
            link: ProfileShape.comodule.link(link, by: profile),
            time: time,
            answerLimit: profile.answerLimit
        )
    }

    private func key(_ secret: Secret) throws(ModuleError) -> ComoduleKey {
        do throws(ComoduleKeyError) { return try ComoduleKey(secret) } catch {
            throw .value(error.description)
        }
    }

    func proves(
        _ secret: Secret,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError) {
        try await client(link, profile, time).authenticate(try key(secret))
    }

    func invented(chance: @Sendable () -> UInt64) -> Secret {
        let bytes = (0..<3).flatMap { _ in chance().bigBytes }.prefix(ComoduleKey.length)
        return Secret(Array(Hex.text(Array(bytes)).utf8))
    }

    func change(
        from old: Secret?,
        to fixed: Secret?,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64,
        keep: (Secret) async -> Bool
    ) async throws(ModuleError) {
        let secret = fixed ?? invented(chance: chance)
        let key = try key(secret)
        guard await keep(secret) else { throw .value("the new key could not be kept") }
        try await client(link, profile, time).changeKey(to: key)
    }
}
