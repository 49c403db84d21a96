import Base
import Families
import Radio

/// A command of a lock of family `lrdevice`, by its number and by its namespace, a group of commands.
///
/// It is no command of SMP.
public struct ModuleCommand: Sendable, Hashable {
    /// The number of the command in its namespace.
    public let number: UInt8
    /// The group of commands that it belongs to.
    public let namespace: UInt8

    /// The command with this number in this namespace.
    public init(_ number: UInt8, in namespace: UInt8) {
        self.number = number
        self.namespace = namespace
    }

    var wire: LRCommand { LRCommand(rawValue: UInt16(number) << 8 | UInt16(namespace)) }
}

/// A message from a module.
public struct ModuleMessage: Sendable, Hashable {
    /// The command that it answers, or that it is about.
    public let command: ModuleCommand
    /// What the module says, opened if it was sealed.
    public let payload: [UInt8]
    /// Whether it answers a request; any other message was sent without one.
    public let isReply: Bool

    init(_ message: LRMessage) {
        command = ModuleCommand(
            UInt8(truncatingIfNeeded: message.command.rawValue >> 8),
            in: UInt8(truncatingIfNeeded: message.command.rawValue)
        )
        payload = message.payload
        isReply = message.kind == .reply
    }
}

/// A command of your own locks (family `lrdevice`), as a type: its values are the requests.
///
/// ```swift
/// struct ToggleLED: ModuleFeature {
///     static let command = ModuleCommand(1, in: 5)
///     let isOn: Bool
///     var payload: [UInt8] { [isOn ? 1 : 0] }
/// }
/// ```
public protocol ModuleFeature: Sendable {
    /// The command of the feature.
    static var command: ModuleCommand { get }
    /// Whether the payload is sealed with the module's key; usually not.
    static var isSealed: Bool { get }
    /// The bytes that are sent with the command.
    var payload: [UInt8] { get }
}

extension ModuleFeature {
    /// Not sealed.
    public static var isSealed: Bool { false }
}

/// Commands that no profile has to name, for family `lrdevice`; others throw `invalid-value`.
extension ConnectedModule {
    /// Sends a command once, and returns the payload of the module's answer.
    ///
    /// With `sealed`, the payload is sealed with the key of the secret that the module was connected
    /// with. After `in-doubt`, it is unknown whether the module carried it out.
    @discardableResult
    public func send(
        _ command: ModuleCommand,
        _ payload: [UInt8] = [],
        sealed: Bool = false
    ) async throws(ModuleFailure) -> [UInt8] {
        try await connection.request { (lock) async throws(LRError) in
            try await lock.ask(command.wire, payload, isSealed: sealed, nonce: Chance.nonce())
        }
    }

    /// The same for a feature that is a type of the program.
    @discardableResult
    public func perform<F: ModuleFeature>(_ feature: F) async throws(ModuleFailure) -> [UInt8] {
        try await send(F.command, feature.payload, sealed: F.isSealed)
    }

    /// Each message that the module sends from now on, on this link and on later ones: answers, and
    /// what it sends without a request; with `command`, only messages of this one.
    ///
    /// Up to `count` messages are kept between two reads of a slow reader; the oldest are dropped
    /// first. A message without a request is noticed within a second.
    public func messages(
        of command: ModuleCommand? = nil,
        keeping count: Int = 256
    ) -> AsyncStream<ModuleMessage> {
        let source = Source(connection.messages.values(keeping: count).stream)
        return AsyncStream {
            while let message = await source.next().map({ ModuleMessage($0) }) {
                if command == nil || message.command == command { return message }
            }
            return nil
        }
    }

    // MARK: Locks

    /// Unlocks a lock for a guest, with a code that is valid once.
    public func unlockForGuest(code: String, id: String) async throws(ModuleFailure) {
        try await connection.request { (lock) async throws(LRError) in
            try await lock.client.guestUnlock(true, code: code, id: id)
        }
    }

    /// Agrees with a lock on a key, and sets a password under it; the connection uses both from
    /// then on.
    ///
    /// Any device in range can do this, so do it where no other device is near. `keep` is called
    /// with the new secret before the lock gets its password: if `keep` throws, which is passed on, the
    /// password is unchanged, but the lock has another key: agree again.
    @discardableResult
    public func agreeOnSecret(
        password: String,
        keep: @Sendable (ModuleSecret) throws -> Void
    ) async throws -> ModuleSecret {
        func secret(_ key: [UInt8]) throws(ModuleFailure) -> (ModuleSecret, LRCredentials) {
            let secret = ModuleSecret(Hex.text(key) + ":" + password)
            do throws(LRCredentialsError) {
                return (secret, try LRCredentials(secret.secret))
            } catch {
                throw ModuleFailure(.invalidPrivateKey, error.description, "choose another one")
            }
        }
        // A password that cannot be used is refused before the lock has another key.
        _ = try secret([UInt8](repeating: 0, count: LRCredentials.keyLength))
        let key = try await connection.request { (lock) async throws(LRError) in
            guard let pair = KeyPair(secret: Secret(Chance.bytes(KeyPair.length)))
            else { throw .weakKey }
            return try await lock.client.exchangeKeys(pair)
        }
        let (agreed, credentials) = try secret(key.withBytes { $0 })
        try keep(agreed)
        try await connection.use(agreed.secret, credentials)
        return agreed
    }
}

extension ModuleConnection {
    /// Runs `body` on the open link of a lock, after the request that runs now.
    func request<R: Sendable>(
        _ body: @Sendable (LRApplication) async throws(LRError) -> R
    ) async throws(ModuleFailure) -> R {
        let session: Session
        do throws(PropertyWriteError) { session = try usable() } catch {
            throw ModuleFailure(error)
        }
        guard let lock = session.application as? LRApplication else {
            throw ModuleFailure(
                .invalidValue,
                "modules of family \(session.profile.family.rawValue) have no commands",
                "connect to a module of family lrdevice"
            )
        }
        await session.turn.take()
        defer { session.turn.end() }
        do throws(LRError) { return try await body(lock) } catch { throw ModuleFailure(error) }
    }

    /// Sets a lock's password under a key that it has agreed to, and keeps both for later links.
    func use(_ secret: Secret, _ credentials: LRCredentials) async throws(ModuleFailure) {
        try await request { (lock) async throws(LRError) in
            try await lock.client.setPassword(credentials, nonce: Chance.nonce())
            lock.credentials = credentials
        }
        guard let target else { return }
        self.target = Target(serial: target.serial, secret: secret, options: target.options)
    }
}

/// Random numbers that nobody can predict.
enum Chance {
    static func bytes(_ count: Int) -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: source.next()) }
    }

    static func nonce() -> [UInt8] { bytes(SealingKey.nonceLength) }
}
