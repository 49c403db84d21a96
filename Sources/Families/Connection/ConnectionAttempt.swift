import Domain
import Modules
import Radio
import Sessions

/// What an attempt to connect has met so far.
struct ConnectionAttempt {
    var part = ConnectionState.Connecting.searching
    /// A module that was heard once did not fail for being far away.
    var wasHeard = false
    private var cachedPeer: Peer?
    private var suspicion = SecretSuspicion()
    /// A service may be missing right after an update: that is believed at the second time.
    private var missed = 0

    init(cached: CachedModule?) { cachedPeer = cached?.peer }

    /// An address from an earlier link is tried once.
    mutating func takeCachedPeer() -> Peer? {
        defer { cachedPeer = nil }
        return cachedPeer
    }

    /// How long to wait before the next try.
    var pause: Duration {
        switch part {
        case .bluetoothOff, .firmwareUpdateOngoing: .seconds(1)
        case .searching, .handshaking: .milliseconds(200)
        }
    }

    /// What the end of the time means.
    var overdue: ConnectError {
        switch part {
        case .bluetoothOff: .bluetoothDisabled
        case .searching: .timedOut(wasHeard ? .handshaking : .searching)
        case .handshaking, .firmwareUpdateOngoing: .timedOut(part)
        }
    }

    /// The error to end with, or nil when another try makes sense.
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
