import Base
import Radio

/// The facts that an attempt to connect has collected so far.
struct ConnectionAttempt {
    var part = ModuleConnectionState.Connecting.searching
    /// Whether the module was heard: if so, the attempt does not fail because the module is out of
    /// reach.
    var wasHeard = false
    private var cachedPeer: Peer?
    /// How often a service was missing.
    ///
    /// This can happen right after an update, so only the second time counts.
    private var missed = 0

    init(cached: CachedModule?) { cachedPeer = cached?.peer }

    /// The address of an earlier link; it is returned once.
    mutating func takeCachedPeer() -> Peer? {
        defer { cachedPeer = nil }
        return cachedPeer
    }

    /// How long to wait before the next attempt.
    var pause: Duration {
        switch part {
        case .bluetoothOff, .firmwareUpdateOngoing: .seconds(1)
        case .searching, .handshaking: .milliseconds(200)
        }
    }

    /// The error when the time is over.
    var overdue: ModuleFailure {
        switch part {
        case .bluetoothOff: .bluetoothOff
        case .searching: .timedOut(wasHeard ? .handshaking : .searching)
        case .handshaking, .firmwareUpdateOngoing: .timedOut(part)
        }
    }

    /// The error to end with, or nil when another attempt can help.
    mutating func failed(
        _ error: ModuleError,
        _ judgement: SecretSuspicion.Judgement
    ) -> ModuleFailure? {
        if error == .radio(.adapterOff) || error == .radio(.serviceUnavailable) {
            part = .bluetoothOff
            return nil
        }
        if let final = ModuleFailure(final: error) {
            guard [.missingService, .missingCharacteristic].contains(final.code) else {
                return final
            }
            missed += 1
            return missed < 2 ? nil : final
        }
        if part == .bluetoothOff { part = .searching }
        return judgement == .wrongKey ? .wrongSecret : nil
    }
}

extension ModuleFailure {
    static let attemptEnded = ModuleFailure(
        .aborted,
        "the attempt to connect was ended",
        "connect again if nobody else wants to"
    )
    static let bluetoothOff = ModuleFailure(
        .bluetoothDisabled,
        "Bluetooth is switched off",
        "switch Bluetooth on"
    )
    static let notBonded = ModuleFailure(
        .bondingError,
        "the module could not be bonded",
        "remove the bond on both sides and connect again"
    )
    /// The module refuses our secret.
    ///
    /// The wire of a family of your own throws it.
    public static let wrongSecret = ModuleFailure(
        .invalidPrivateKey,
        "the module refuses our secret",
        "check the module's secret"
    )
    static let notConnected = ModuleFailure(PropertyWriteError.moduleNotConnected)

    static func lost(_ words: String) -> ModuleFailure {
        ModuleFailure(.moduleNotConnected, "the link was lost: \(words)", "connect again")
    }

    static func looksForUs(_ family: Family) -> ModuleFailure {
        ModuleFailure(
            .invalidValue,
            "vehicles of family \(family.rawValue) connect to us",
            "wait for it, with its token"
        )
    }

    /// The time is over; `part` is the phase at that moment.
    static func timedOut(_ part: ModuleConnectionState.Connecting) -> ModuleFailure {
        let (sentence, remedy) =
            switch part {
            case .bluetoothOff: ("Bluetooth stayed switched off", "switch Bluetooth on")
            case .searching:
                (
                    "the module was not heard",
                    "see whether it is near, charged, and not connected to a phone"
                )
            case .handshaking:
                ("the module did not finish the handshake", "move closer and connect again")
            case .firmwareUpdateOngoing:
                (
                    "the module is still updating its firmware",
                    "wait some minutes and connect again"
                )
            }
        return ModuleFailure(.timedOut, sentence, remedy)
    }

    /// Nil when another attempt to connect can succeed.
    init?(final error: ModuleError) {
        switch error {
        case .radio(.adapterMissing):
            self.init(
                .bluetoothNotSupported,
                "this host has no such Bluetooth adapter",
                "plug the adapter in, or name another one"
            )
        case .radio(.unauthorized):
            self.init(
                .missingPermissions,
                "this user may not use Bluetooth: use of Bluetooth",
                "give this user the right to use Bluetooth"
            )
        case .radio(.cancelled): self = .attemptEnded
        case .radio(.missingService(let uuid)):
            self.init(
                .missingService,
                "the module has no service \(uuid)",
                "check that the profile is this model's; right after an update, connect again"
            )
        case .radio(.missingCharacteristic(let uuid)):
            self.init(
                .missingCharacteristic,
                "the module has no characteristic \(uuid)",
                "check that the profile is this model's"
            )
        case .radio(.bond(let failure)):
            self.init(.bondingError, failure.description, failure.remedy)
        case .radio(.att(let error)) where error.isAboutBonding: self = .notBonded
        case .exchange(let fault):
            guard case .refused(let code)? = fault.link, ATTError(rawValue: code).isAboutBonding
            else { return nil }
            self = .notBonded
        case .radio, .value: return nil
        }
    }
}

extension ATTError {
    /// Insufficient authentication, encryption key size or encryption: the link is not bonded.
    fileprivate var isAboutBonding: Bool { [0x05, 0x0C, 0x0F].contains(rawValue) }
}
