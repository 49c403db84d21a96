/// The phase of a link to a vehicle and of the command on it.
package enum CarSharePhase: String, CaseIterable, Sendable, Hashable {
    case handshaking
    /// Ready for commands.
    case ready
    /// The request to send a command is under way.
    case requesting
    case waitingForChallenge = "waiting-for-challenge"
    /// The signed command is being sent.
    case issuing
    /// The vehicle verifies the command.
    case awaitingVerdict = "awaiting-verdict"
    /// The vehicle carries the command out.
    case awaitingResult = "awaiting-result"
    /// The link takes no further command.
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
