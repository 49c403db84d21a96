import Base
import Families
import Radio

/// The requests to a lock on its link: one runs at a time.
actor LockSession {
    private let link: VehicleLink
    private let time: any Timekeeper
    private let queue = AccessQueue()

    init(_ serial: Serial, _ bond: BondPolicy, _ central: any Central, _ time: any Timekeeper) {
        link = VehicleLink(to: serial, central, time, bond: bond)
        self.time = time
    }

    /// Finds the lock, connects to it, and prepares it for requests.
    func open(_ profile: Profile, within timeout: Duration) async throws(ModuleFailure) {
        let deadline = time.now.advanced(by: timeout)
        let driver = LRDriver(profile: profile)
        do throws(ModuleError) {
            do throws(RadioError) {
                let found = try await link.seek(
                    driver.recogniser,
                    before: deadline,
                    unless: { Task.isCancelled }
                )
                guard let found else { throw RadioError.timedOut }
                try await link.connect(to: found.peer, before: deadline)
            } catch { throw .radio(error) }
            try await link.openApplication(by: driver)
        } catch {
            await link.leave()
            guard case .radio(let radio) = error else { throw .unexpected(error.description) }
            throw ModuleFailure(radio, radio.description)
        }
    }

    func close() async { await link.leave() }

    /// Runs `body` after the current request.
    func turn<R: Sendable>(
        _ body: @Sendable (LRClient) async throws(LRError) -> R
    ) async throws(ModuleFailure) -> R {
        await queue.take()
        defer { queue.end() }
        guard let lock = link.application as? LRApplication else { throw .ended }
        do throws(LRError) { return try await body(lock.client) } catch {
            throw ModuleFailure(error)
        }
    }

    func notification(within limit: Duration) async throws(ModuleFailure) -> LRMessage? {
        let deadline = time.now.advanced(by: limit)
        return try await turn { (client) async throws(LRError) in
            try await client.notification(before: deadline)
        }
    }

    // MARK: Random numbers

    private static func random(_ count: Int) -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: source.next()) }
    }

    static func nonce() -> [UInt8] { random(SealingKey.nonceLength) }

    static func exchange(_ client: LRClient) async throws(LRError) -> Secret {
        guard let pair = KeyPair(secret: Secret(random(KeyPair.length))) else { throw .weakKey }
        return try await client.exchangeKeys(pair)
    }
}

extension ModuleFailure {
    init(_ error: LRError) {
        if case .radio(let radio) = error {
            self.init(radio, error.description)
            return
        }
        let (code, remedy): (Code, String) =
            switch error {
            case .request: (.timedOut, "move closer and try again")
            case .unanswered: (.inDoubt, "look at the lock before it is asked again")
            case .tooLong, .badValue: (.invalidValue, "give it what it takes")
            case .refused: (.refused, "check the lock's secret and whether it is free")
            case .noCredentials: (.invalidPrivateKey, "connect again")
            case .unknownFeature: (.propertyNotFound, "connect again")
            case .radio, .value, .weakKey: (.unexpected, "connect again")
            }
        self.init(code, error.description, remedy)
    }

    init(_ radio: RadioError, _ sentence: String) {
        let code: Code =
            switch radio {
            case .adapterOff, .serviceUnavailable: .bluetoothDisabled
            case .adapterMissing: .bluetoothNotSupported
            case .unauthorized: .missingPermissions
            case .bond: .bondingError
            case .missingService: .missingService
            case .missingCharacteristic: .missingCharacteristic
            case .cancelled: .aborted
            case .timedOut: .timedOut
            case .linkLost: .moduleNotConnected
            case .tooLong: .invalidValue
            case .noFreeLink, .heldByAnother, .connectFailed, .att: .unexpected
            }
        var remedy = "see whether it is near, charged, and not connected to a phone"
        if case .bond(let failure) = radio { remedy = failure.remedy }
        self.init(code, sentence, remedy)
    }
}
