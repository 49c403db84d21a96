import Base
import Families
import Radio

/// The secret of a lock: its key and its password, as `KEY:PASSWORD`; never printed.
public struct LockSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let credentials: LRCredentials

    /// 64 hex digits, a colon, and the password.
    public init(_ text: String) throws(ModuleFailure) {
        do throws(LRCredentialsError) {
            credentials = try LRCredentials(Secret(Array(text.utf8)))
        } catch {
            throw ModuleFailure(.invalidPrivateKey, error.description, "write it as KEY:PASSWORD")
        }
    }

    init(_ credentials: LRCredentials) { self.credentials = credentials }

    /// Passes the text to `body`, for a program that stores it where only its owner can read it.
    public func withText<R, E: Error>(_ body: (String) throws(E) -> R) throws(E) -> R {
        let key = credentials.key.withBytes { Hex.text($0) }
        let password = credentials.password.withBytes { String(decoding: $0, as: UTF8.self) }
        return try body(key + ":" + password)
    }

    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
}

/// A message that a lock sends without a request.
public struct LockNotification: Sendable, Hashable {
    public let command: UInt8
    public let namespace: UInt8
    public let payload: [UInt8]
}

extension ModuleRadio {
    /// Lends a connected lock of family `lrdevice` while `body` runs.
    ///
    /// `bond` is made before the first request; without it, the profile decides.
    @discardableResult
    public func withLock<R: Sendable>(
        _ serial: String,
        profile: String = "generic",
        bond: ModuleBond? = nil,
        timeout: Duration = .seconds(30),
        _ body: @Sendable (ConnectedLock) async throws -> R
    ) async throws -> R {
        let known = try Self.serial(serial)
        let form = try Self.profile(profile, of: LRDriver.modules, in: library)
        let session = LockSession(known, bond?.policy ?? form.unattendedBond, central, time)
        try await session.open(form, within: timeout)
        let result = await Self.attempt { try await body(ConnectedLock(session: session)) }
        await session.close()
        return try result.get()
    }
}

/// A connected lock; concurrent calls on one link run one after another.
public struct ConnectedLock: Sendable {
    let session: LockSession

    // MARK: Name, user, networks

    public func name() async throws(ModuleFailure) -> String {
        try await session.turn { (client) async throws(LRError) in try await client.name() }
    }

    public func setName(_ name: String) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in try await client.setName(name) }
    }

    public func setUser(_ user: String) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in try await client.setUser(user) }
    }

    /// The networks that the lock can hear.
    public func networks() async throws(ModuleFailure) -> [String] {
        try await session.turn { (client) async throws(LRError) in
            try await client.startNetworkListen()
        }
    }

    public func stopListeningToNetworks() async throws(ModuleFailure) -> [String] {
        try await session.turn { (client) async throws(LRError) in
            try await client.stopNetworkListen()
        }
    }

    public func join(network: String, password: String) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in
            try await client.connectToNetwork(network, password: password)
        }
    }

    /// Resets the lock to its factory state.
    public func reset() async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in try await client.reset() }
    }

    // MARK: Locking

    public func isLocked() async throws(ModuleFailure) -> Bool {
        try await session.turn { (client) async throws(LRError) in
            try await client.lockState() == .locked
        }
    }

    public func setLocked(_ locked: Bool, by secret: LockSecret) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in
            try await client.setLock(
                locked ? .locked : .unlocked,
                with: secret.credentials,
                nonce: LockSession.nonce()
            )
        }
    }

    /// The number of seconds until it locks automatically; nil when it does not.
    public func autoLock() async throws(ModuleFailure) -> Int? {
        try await session.turn { (client) async throws(LRError) in try await client.autoLock() }
    }

    public func setAutoLock(_ seconds: Int?) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in
            try await client.setAutoLock(seconds)
        }
    }

    /// Unlocks for a guest with a code that is valid once.
    public func unlockForGuest(code: String, id: String) async throws(ModuleFailure) {
        try await session.turn { (client) async throws(LRError) in
            try await client.guestUnlock(true, code: code, id: id)
        }
    }

    // MARK: Keys

    /// Agrees with the lock on a key and sets a password under it.
    ///
    /// Any device in range can do this, so do it where no other device is near. `keep` is called
    /// with the new secret before the lock gets its password: if `keep` throws, the password is
    /// unchanged.
    public func agreeOnSecret(
        password: String,
        keep: @Sendable (LockSecret) throws -> Void
    ) async throws -> LockSecret {
        let key = try await session.turn { (client) async throws(LRError) in
            try await LockSession.exchange(client)
        }
        let secret = LockSecret(LRCredentials(key: key, password: Secret(Array(password.utf8))))
        try keep(secret)
        try await session.turn { (client) async throws(LRError) in
            try await client.setPassword(secret.credentials, nonce: LockSession.nonce())
        }
        return secret
    }

    // MARK: Custom commands

    /// Sends a command that the program defines, and returns the lock's answer.
    ///
    /// The library never sends it twice.
    public func send(
        command: UInt8,
        namespace: UInt8,
        payload: [UInt8] = []
    ) async throws(ModuleFailure) -> [UInt8] {
        try await session.turn { (client) async throws(LRError) in
            try await client.ask(
                LRCommand(rawValue: UInt16(command) << 8 | UInt16(namespace)),
                payload: payload
            )
        }
    }

    /// The next message that the lock sends without a request; nil when none arrives in time.
    ///
    /// Up to 64 messages are kept between two calls; the oldest are dropped first.
    public func notification(
        within limit: Duration
    ) async throws(ModuleFailure) -> LockNotification? {
        try await session.notification(within: limit).map { message in
            LockNotification(
                command: UInt8(truncatingIfNeeded: message.command.rawValue >> 8),
                namespace: UInt8(truncatingIfNeeded: message.command.rawValue),
                payload: message.payload
            )
        }
    }
}
