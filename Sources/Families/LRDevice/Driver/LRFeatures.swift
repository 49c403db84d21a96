package import Base

/// The operations of every LR device, in the device's own terms.
extension LRClient {
    // MARK: Name and user

    package func name() async throws(LRError) -> String {
        let payload = try await ask(.getName)
        return String(decoding: payload.prefix { $0 != 0 }, as: UTF8.self)
    }

    package func setName(_ name: String) async throws(LRError) {
        guard !name.isEmpty else { throw .badValue("a name has 1 to 20 characters") }
        try await command(.setName, LRPayload.name(name))
    }

    package func setUser(_ user: String) async throws(LRError) {
        guard !user.isEmpty else { throw .badValue("a user's id is not empty") }
        try await command(.setUser, Array(user.utf8))
    }

    package func reset() async throws(LRError) { try await command(.reset) }

    // MARK: Auto-lock

    /// Seconds until it locks automatically; nil when it does not.
    package func autoLock() async throws(LRError) -> Int? {
        let payload = try await ask(.getAutoLock)
        switch payload.count {
        case 0: return nil
        case 1: return Int(payload[0])
        default: throw .value(.getAutoLock, "\(payload.count) bytes instead of one")
        }
    }

    package func setAutoLock(_ seconds: Int?) async throws(LRError) {
        // The device stores one byte: a longer time would silently become a short one.
        if let seconds, !(0...255).contains(seconds) {
            throw .badValue("the time to the automatic lock is 0 to 255 seconds")
        }
        try await command(.setAutoLock, LRPayload.autoLock(seconds))
    }

    // MARK: Network

    /// The networks that the device can receive.
    package func startNetworkListen() async throws(LRError) -> [String] {
        LRPayload.names(in: try await ask(.startNetworkListen))
    }

    package func stopNetworkListen() async throws(LRError) -> [String] {
        LRPayload.names(in: try await ask(.stopNetworkListen))
    }

    package func connectToNetwork(_ name: String, password: String) async throws(LRError) {
        for text in [name, password] where text.utf8.contains(0x1F) {
            throw .badValue("a network's name and password cannot hold the character 1F")
        }
        try await command(.connectToNetwork, LRPayload.pair(name, password))
    }

    // MARK: Lock

    package func lockState() async throws(LRError) -> LRLockState {
        guard let byte = try await ask(.getLockState).first else {
            throw .value(.getLockState, "nothing")
        }
        return LRLockState(reported: byte)
    }

    /// Locks or unlocks.
    ///
    /// The protocol has no protection against replay: anyone who records the message can send it
    /// again. We never send a message again.
    package func setLock(
        _ state: LRLockState,
        with credentials: LRCredentials,
        nonce: [UInt8]
    ) async throws(LRError) {
        let payload = LRPayload.lock(state, sealed: try sealed(credentials, nonce))
        try await command(.setLockState, payload, isSealed: true)
    }

    package func setPassword(
        _ credentials: LRCredentials,
        nonce: [UInt8]
    ) async throws(LRError) {
        try await command(.setPassword, try sealed(credentials, nonce), isSealed: true)
    }

    package func guestUnlock(
        _ unlock: Bool,
        code: String,
        id: String
    ) async throws(LRError) {
        try await command(.guestUnlock, LRPayload.guest(unlock: unlock, code: code, id: id))
    }

    private func sealed(
        _ credentials: LRCredentials,
        _ nonce: [UInt8]
    ) throws(LRError) -> [UInt8] {
        guard let key = SealingKey(credentials.key),
            let box = credentials.password.withBytes({ key.seal($0, nonce: nonce) })
        else { throw .noCredentials }
        return box
    }

    // MARK: Keys

    /// Agrees on a key with the device.
    ///
    /// Neither side proves its identity: do this only where no other device is in reach.
    package func exchangeKeys(_ pair: borrowing KeyPair) async throws(LRError) -> Secret {
        let other = try await ask(.keyExchange, payload: pair.publicKey)
        guard other.count == KeyPair.length else {
            throw .value(.keyExchange, "\(other.count) bytes instead of a key of 32")
        }
        guard let shared = pair.sharedSecret(with: other) else { throw .weakKey }
        return LRKeys.sealingKey(from: shared)
    }

    // MARK: Common to all

    /// Asks the device to do something.
    ///
    /// The commands of the lock, of guests and of joining a network are answered with a status; for
    /// other commands, any reply means "done".
    package func command(
        _ command: LRCommand,
        _ payload: [UInt8] = [],
        isSealed: Bool = false
    ) async throws(LRError) {
        let reply = try await ask(command, isSealed: isSealed, payload: payload)
        switch command {
        case .setPassword, .setLockState:
            guard reply.isEmpty || reply == [1] else { throw .refused(command) }
        case .guestUnlock, .connectToNetwork:
            guard reply != [0] else { throw .refused(command) }
        default: return
        }
    }
}

/// Derives the key of an LR device from an agreed secret.
package enum LRKeys {
    package static func sealingKey(from shared: Secret) -> Secret {
        KeyDerivation.key(from: shared, salt: LRNumbers.keySalt, info: LRNumbers.keyInfo)
    }
}
