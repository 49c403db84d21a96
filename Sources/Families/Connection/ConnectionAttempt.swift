import Domain
import Modules
import Radio
import Sessions

/// The facts that an attempt to connect has collected so far.
struct ConnectionAttempt {
    var part = ConnectionState.Connecting.searching
    /// Whether the module was heard: if so, the attempt does not fail because the module is out of
    /// reach.
    var wasHeard = false
    private var cachedPeer: Peer?
    private var suspicion = SecretSuspicion()
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
    var overdue: ConnectError {
        switch part {
        case .bluetoothOff: .bluetoothDisabled
        case .searching: .timedOut(wasHeard ? .handshaking : .searching)
        case .handshaking, .firmwareUpdateOngoing: .timedOut(part)
        }
    }

    /// The error to end with, or nil when another attempt can help.
    mutating func failed(_ failure: AttemptFailure) -> ConnectError? {
        switch failure {
        case .final(let error):
            switch error {
            case .missingService, .missingCharacteristic:
                missed += 1
                return missed < 2 ? nil : error
            case .aborted, .bluetoothDisabled, .bluetoothNotSupported, .bondingError, .bond,
                .invalidAPIKey, .invalidPrivateKey, .secretUnfit, .secretMissing, .looksForUs,
                .missingPermissions, .networkError, .timedOut, .unexpected:
                return error
            }
        case .radioOff:
            part = .bluetoothOff
            return nil
        case .passing(let error):
            if part == .bluetoothOff { part = .searching }
            return suspicion.failed(error.secret) == .wrongKey ? .invalidPrivateKey(nil) : nil
        }
    }
}
