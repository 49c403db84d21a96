import Base
import Radio

/// Secrets of LR devices: a key that both sides agree on, and a password that is protected by it.
///
/// A device agrees on a new key with every client in reach, so an interrupted change begins again
/// with the exchange. Setting the current password again changes nothing, and only a device that
/// has the key accepts it: that is the proof.
struct LRSecrets: ModuleSecrets {
    var needsTheOld: Bool { false }

    private static func client(
        _ link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> LRClient {
        do throws(LRError) {
            return try await LRClient(
                link: ProfileShape.lrdevice.link(link, by: profile),
                time: time,
                answerLimit: profile.answerLimit
            )
        } catch { throw error.asked }
    }

    func proves(
        _ secret: Secret,
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError) {
        let credentials: LRCredentials
        do throws(LRCredentialsError) {
            credentials = try LRCredentials(secret)
        } catch { throw .value(error.description) }
        let client = try await Self.client(link, profile, time)
        try await Self.set(credentials, by: client, chance: chance)
    }

    func invented(chance: @Sendable () -> UInt64) -> Secret {
        let key = (0..<4).flatMap { _ in chance().bigBytes }
        return Secret(Array((Hex.text(key) + ":" + Self.password(chance)).utf8))
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
        let client = try await Self.client(link, profile, time)
        let seed = Secret((0..<4).flatMap { _ in chance().bigBytes })
        guard let pair = KeyPair(secret: seed) else { throw .value("no key pair was made") }
        // From the exchange on the device refuses its old secret: that a change is open is known before.
        guard await keep(fixed ?? invented(chance: chance)) else {
            throw .value("that a change has begun could not be kept")
        }
        let key: Secret
        do throws(LRError) { key = try await client.exchangeKeys(pair) } catch {
            throw error.asked
        }
        let password = Self.password(chance)
        let text = key.withBytes { Hex.text($0) } + ":" + password
        guard await keep(Secret(Array(text.utf8))) else {
            throw .value("the new key and password could not be kept")
        }
        let credentials = LRCredentials(key: key, password: Secret(Array(password.utf8)))
        try await Self.set(credentials, by: client, chance: chance)
    }

    func reset(
        on link: any Link,
        _ profile: Profile,
        _ time: any Timekeeper
    ) async throws(ModuleError) -> Bool {
        let client = try await Self.client(link, profile, time)
        do throws(LRError) { try await client.reset() } catch { throw error.asked }
        return true
    }

    private static func set(
        _ credentials: LRCredentials,
        by client: LRClient,
        chance: @Sendable () -> UInt64
    ) async throws(ModuleError) {
        let nonce = (0..<2).flatMap { _ in chance().bigBytes }.prefix(SealingKey.nonceLength)
        do throws(LRError) {
            try await client.setPassword(credentials, nonce: Array(nonce))
        } catch {
            guard case .refused = error else { throw error.asked }
            throw .exchange(
                ExchangeFault(
                    .authentication,
                    .rejected,
                    .plain,
                    secret: .refused,
                    "the device does not know this key"
                )
            )
        }
    }

    /// A random UUID in capital letters, the form that devices of this family expect.
    private static func password(_ chance: @Sendable () -> UInt64) -> String {
        var bytes = (0..<2).flatMap { _ in chance().bigBytes }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hex.text(bytes).uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }
}
