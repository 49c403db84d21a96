import Domain
import Families
import Modules
import Radio
import Sealing

/// One link to a lock, on which one request runs at a time.
actor LockSession {
    private let client: LRClient
    private let time: any Timekeeper
    private let central: any Central
    private let peer: Peer
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(
        _ client: sending LRClient,
        time: any Timekeeper,
        _ central: any Central,
        _ peer: Peer
    ) {
        self.client = client
        self.time = time
        self.central = central
        self.peer = peer
    }

    /// Finds the lock, connects to it, and prepares it for requests.
    static func open(
        _ serial: Serial,
        _ profile: Profile,
        _ bond: BondPolicy,
        _ central: any Central,
        _ time: any Timekeeper,
        _ timeout: Duration
    ) async throws(ModuleFailure) -> LockSession {
        do throws(LRError) {
            let link = try await link(serial, profile, bond, central, time, timeout)
            do throws(LRError) {
                let client = try await LRDriver(profile: profile).client(on: link, time: time)
                return LockSession(client, time: time, central, link.peer)
            } catch {
                await link.disconnect()
                await central.forget(link.peer)
                throw error
            }
        } catch { throw ModuleFailure(error) }
    }

    private static func link(
        _ serial: Serial,
        _ profile: Profile,
        _ bond: BondPolicy,
        _ central: any Central,
        _ time: any Timekeeper,
        _ timeout: Duration
    ) async throws(LRError) -> any Link {
        let deadline = time.now.advanced(by: timeout)
        do throws(RadioError) {
            let vehicle = VehicleLink(to: serial, central, time, bond: bond)
            let found = try await vehicle.seek(
                LRDriver(profile: profile).recogniser,
                before: deadline,
                unless: { Task.isCancelled }
            )
            guard let found else { throw RadioError.timedOut }
            try await vehicle.connect(to: found.peer, before: deadline)
            guard let link = vehicle.radio else { throw RadioError.linkLost }
            return link
        } catch { throw .radio(error) }
    }

    func close() async {
        await client.disconnect()
        await central.forget(peer)
    }

    /// Runs `body` after the current request.
    func turn<R: Sendable>(
        _ body: @Sendable (LRClient) async throws(LRError) -> R
    ) async throws(ModuleFailure) -> R {
        await take()
        defer { end() }
        do throws(LRError) { return try await body(client) } catch { throw ModuleFailure(error) }
    }

    func notification(within limit: Duration) async throws(ModuleFailure) -> LRMessage? {
        let deadline = time.now.advanced(by: limit)
        return try await turn { (client) async throws(LRError) in
            try await client.notification(before: deadline)
        }
    }

    private func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
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
        let code: Code =
            switch error {
            case .radio: .unexpected
            case .request: .timedOut
            case .unanswered: .inDoubt
            case .tooLong, .badValue: .invalidValue
            case .refused: .refused
            case .noCredentials: .invalidPrivateKey
            case .unknownFeature: .propertyNotFound
            case .value, .weakKey: .unexpected
            }
        let remedy =
            switch code {
            case .inDoubt: "look at the lock before it is asked again"
            case .refused: "check the lock's secret and whether it is free"
            case .invalidValue: "give it what it takes"
            case .timedOut: "move closer and try again"
            case .aborted, .bluetoothDisabled, .bluetoothNotSupported, .bondingError,
                .invalidAPIKey, .invalidPrivateKey, .missingCharacteristic, .missingService,
                .missingPermissions, .networkError, .moduleNotConnected, .firmwareUpdateOngoing,
                .propertyNotFound, .propertyNotReadable, .propertyNotWritable, .propertyWrongType,
                .propertyMissing, .rangeOutOfBounds, .invalidWriteStep, .unknownState,
                .valueBytesInvalidSize, .notTaken, .invalidSerial, .invalidFile, .invalidImage,
                .updateRejected, .updateInterrupted, .noReturn, .wrongVersion, .rolledBack,
                .recordNotKept, .invalidToken, .otherVehicle, .commandFailed, .unexpected:
                "connect again"
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
