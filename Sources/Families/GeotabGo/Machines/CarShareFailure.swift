package import Base
package import Radio

/// The known fate of a command that did not succeed: it decides whether the command may be sent
/// again.
package enum CarShareFate: String, CaseIterable, Sendable, Hashable {
    /// The command was never sent completely.
    case notSent = "not-sent"
    /// The vehicle reported that it did not carry the command out.
    case refused
    /// The vehicle reported that it tried and failed; of several commands some may be done.
    case failed
    /// The command was sent, and its fate is unknown.
    case inDoubt = "in-doubt"

    package var mayHaveBeenExecuted: Bool {
        switch self {
        case .notSent, .refused: false
        case .failed, .inDoubt: true
        }
    }
}

/// Why a command did not succeed, and its known fate.
package struct CarShareFailure: Error, Hashable, Sendable {
    package let fate: CarShareFate
    package let reason: Reason

    package init(_ fate: CarShareFate, _ reason: Reason) {
        self.fate = fate
        self.reason = reason
    }

    package enum Reason: Hashable, Sendable {
        /// Another command is under way.
        case busy
        case notConnected
        /// Answers to an older command may still arrive: a new link is needed.
        case outOfStep
        case handshake(AddOnTransportError)
        /// The message with the command is longer than a frame holds.
        case tooLong(Int)
        /// The vehicle rejected the request to send a command.
        case requestRejected
        case commandRejected
        case silence(Phase)
        case challenge(CarShareChallenge.Fault)
        /// The token's key cannot sign.
        case signing
        case nack(CarShareRefusal)
        case verdict(CarShareAcknowledgement.Fault)
        case unreadableResult(ProtobufError)
        case statuses([CarShareStatus])
        case damaged(AddOnFrameError)
        case link(LinkFailure)
        /// We closed the session while the command was under way.
        case closed
        /// The time limit of the whole command is over.
        case outOfTime
    }

    /// The message that did not arrive.
    package enum Phase: String, CaseIterable, Hashable, Sendable {
        case requestReply, challenge, commandReply, verdict, result
    }
}

extension CarShareFailure {
    /// The failure that a report without success describes.
    init(_ report: CarShareReport, of commands: CarShareCommands) {
        reason = .statuses(report.statuses)
        let standings = report.statuses.map(\.standing)
        if standings.contains(.unclear) {
            fate = .inDoubt
        } else if commands.list.count == 1, !standings.isEmpty,
            standings.allSatisfy({ $0 == .refused || $0 == .busy })
        {
            fate = .refused
        } else {
            fate = .failed
        }
    }

    package var failureClass: FailureClass {
        guard fate != .inDoubt else { return .inDoubt }
        switch reason {
        case .handshake(.otherVehicle): return .rejected
        case .busy, .notConnected, .outOfStep, .handshake, .requestRejected, .commandRejected,
            .silence, .damaged, .link, .closed, .outOfTime:
            return .transient
        case .signing: return .rejected
        case .tooLong: return .rejected
        case .challenge, .verdict, .unreadableResult: return .device
        case .nack(let refusal):
            switch refusal {
            case .checksum, .noChallenge, .busy: return .transient
            case .unknownKey, .reservationSignature, .commandSignature, .otherVehicle,
                .outsideReservation:
                return .rejected
            default: return .device
            }
        case .statuses(let statuses):
            let standings = statuses.map(\.standing)
            if standings.contains(.failed) || standings.isEmpty { return .device }
            return standings.contains(.refused) ? .rejected : .transient
        }
    }
}

extension CarShareFailure: CustomStringConvertible {
    package var description: String { reason.description }
}

extension CarShareFailure.Reason {
    /// Whether the peer says that it did not carry the signed command out.
    var isDenial: Bool {
        switch self {
        case .commandRejected, .nack: true
        case .statuses(let statuses): !statuses.contains { $0.standing == .unclear }
        case .busy, .notConnected, .outOfStep, .handshake, .tooLong, .requestRejected, .silence,
            .challenge, .signing, .verdict, .unreadableResult, .damaged, .link, .closed,
            .outOfTime:
            false
        }
    }
}

extension CarShareFailure.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .busy: "another command is under way"
        case .notConnected: "no vehicle is connected"
        case .outOfStep: "an older command's answer may still come, so a new link is needed"
        case .handshake(let error): error.description
        case .tooLong(let count):
            "the command with its token has \(count) bytes, more than a message holds"
        case .requestRejected: "the vehicle rejected the request to send a command"
        case .commandRejected: "the vehicle rejected the command as a message"
        case .silence(let phase): phase.sentence
        case .challenge(.length(let count)):
            "the vehicle's challenge has \(count) bytes, not 35"
        case .challenge(.type(let type)):
            "in place of a challenge the vehicle sent a message of type \(type)"
        case .challenge(.version(let version)):
            "the vehicle's challenge is of version \(version), not 1"
        case .signing: "the token's key cannot sign"
        case .nack(let refusal): refusal.description
        case .verdict(.length(let count)):
            "the vehicle's answer to the command has \(count) bytes, not 2"
        case .verdict(.type(let type)):
            "in place of its answer to the command the vehicle sent a message of type \(type)"
        case .unreadableResult: "the vehicle's result cannot be read"
        case .statuses(let statuses):
            statuses.isEmpty
                ? "the vehicle reports a failure and gives no reason"
                : statuses.map(\.description).joined(separator: "; ")
        case .damaged(let error): "the vehicle sent \(error)"
        case .link(let failure): failure.description
        case .closed: "the session was closed"
        case .outOfTime: "the time for the command is over"
        }
    }
}

extension CarShareFailure.Phase {
    fileprivate var sentence: String {
        switch self {
        case .requestReply: "the vehicle did not answer the request to send a command"
        case .challenge: "the vehicle sent no challenge"
        case .commandReply: "the vehicle did not say that it took the command"
        case .verdict: "the vehicle took the command and did not say whether it accepts it"
        case .result: "the vehicle accepted the command and did not say how it ended"
        }
    }
}
