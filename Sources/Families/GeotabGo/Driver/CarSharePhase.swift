/// How far a link to a vehicle is, and the command on it.
package enum CarSharePhase: String, CaseIterable, Sendable, Hashable {
    case handshaking
    /// Commands can be given.
    case ready
    /// The vehicle is asked whether a command may be sent.
    case requesting
    case waitingForChallenge = "waiting-for-challenge"
    /// The signed command goes out.
    case issuing
    /// The vehicle verifies it.
    case awaitingVerdict = "awaiting-verdict"
    /// The vehicle carries it out.
    case awaitingResult = "awaiting-result"
    /// No further command on this link.
    case over
}

extension CarShareSession {
    var phase: CarSharePhase {
        switch exchange.state {
        case .idle: transport.state == .connected ? .ready : .handshaking
        case .requesting: .requesting
        case .waitingForChallenge: .waitingForChallenge
        case .issuing: .issuing
        case .awaitingVerdict: .awaitingVerdict
        case .awaitingResult: .awaitingResult
        case .spent: .over
        }
    }
}
