package import Base
package import Radio

/// Sends signed commands one after the other: request, challenge, command, verdict, result.
///
/// The protocol has no sequence numbers. After a command whose answers may still arrive, no other
/// command is accepted: `spent` ends only with the link.
package struct CarShareExchange: Sendable {
    package enum State: Equatable, Sendable {
        /// Nothing is under way; `used` after an earlier command. Next: `requesting`, `spent`.
        case idle(used: Bool)
        /// The request is being sent; messages that arrive before its acceptance are kept. Next:
        /// `waitingForChallenge`, `idle`, `spent`.
        case requesting(CarShareCommands, kept: [[UInt8]], left: Bool)
        /// Next: `issuing`, `spent`.
        case waitingForChallenge(CarShareCommands)
        /// The signed command is being sent; `left` when the vehicle may have all of it. Next:
        /// `awaitingVerdict`, `idle`, `spent`.
        case issuing(CarShareCommands, kept: [[UInt8]], left: Bool)
        /// Next: `awaitingResult`, `idle`, `spent`.
        case awaitingVerdict(CarShareCommands)
        /// Next: `idle`, `spent`.
        case awaitingResult(CarShareCommands)
        /// The link takes no further command.
        case spent
    }

    /// Makes the message with the signed command; nil when signing fails.
    package typealias Sign = @Sendable (CarShareCommands, CarShareChallenge) -> [UInt8]?

    package enum Action: Equatable, Sendable {
        case send([UInt8])
        case finished(Result<CarShareReport, CarShareFailure>)
        case note(CarShareNote)
    }

    /// At most two messages can arrive before the acceptance of a message: verdict and result.
    private static let mostKept = 2

    package private(set) var state = State.idle(used: false)
    /// The time at which `timeout` is due.
    package private(set) var deadline: Moment?
    /// The challenge that the current command was signed for, as it was received.
    private var challenge: [UInt8]?
    /// Whether the peer certainly is the vehicle, so that it can be believed that it did nothing.
    private let isProven: Bool
    private let limits: CarShareLimits
    /// What the vehicle reports last.
    private let success: CommandSuccess
    /// Signs the command that is under way.
    private var sign: Sign

    package init(
        isProven: Bool = false,
        limits: CarShareLimits = CarShareLimits(),
        success: CommandSuccess = .result,
        sign: @escaping Sign
    ) {
        self.isProven = isProven
        self.limits = limits
        self.success = success
        self.sign = sign
    }

    package var isUnderWay: Bool { commands != nil }

    private var commands: CarShareCommands? {
        switch state {
        case .idle, .spent: nil
        case .requesting(let commands, _, _), .waitingForChallenge(let commands),
            .issuing(let commands, _, _), .awaitingVerdict(let commands),
            .awaitingResult(let commands):
            commands
        }
    }

    /// The fate of the command if it ended now.
    private var fate: CarShareFate {
        switch state {
        case .idle, .requesting, .waitingForChallenge, .spent: .notSent
        case .issuing(_, _, let left): left ? .inDoubt : .notSent
        case .awaitingVerdict, .awaitingResult: .inDoubt
        }
    }

    /// The fate of a signed command by what the peer says of it.
    ///
    /// Anybody can relay or keep a signed command and say that it was refused. That matters where a
    /// second signature must not be given out.
    private func answered(
        _ fate: CarShareFate,
        _ ended: CarShareCommands? = nil
    ) -> CarShareFate {
        let isHarmless = (ended ?? commands)?.isHarmless ?? true
        return isProven || isHarmless ? fate : .inDoubt
    }

    // MARK: Events

    /// With `other`, this and the following commands are signed by it.
    package mutating func begin(
        _ commands: CarShareCommands,
        at now: Moment,
        by other: Sign? = nil
    ) -> [Action] {
        switch state {
        case .idle:
            challenge = nil
            sign = other ?? sign
            state = .requesting(commands, kept: [], left: false)
            deadline = now.advanced(by: limits.reply)
            return [.send(CarShareMessage.request)]
        case .requesting, .waitingForChallenge, .issuing, .awaitingVerdict, .awaitingResult:
            return [.finished(.failure(CarShareFailure(.notSent, .busy)))]
        case .spent:
            return [.finished(.failure(CarShareFailure(.notSent, .outOfStep)))]
        }
    }

    /// The last piece of our message is being sent.
    package mutating func messageLeaves() {
        switch state {
        case .requesting(let commands, let kept, _):
            state = .requesting(commands, kept: kept, left: true)
        case .issuing(let commands, let kept, _):
            state = .issuing(commands, kept: kept, left: true)
        case .idle, .waitingForChallenge, .awaitingVerdict, .awaitingResult, .spent:
            break
        }
    }

    /// The vehicle accepted our message.
    package mutating func accepted(at now: Moment) -> [Action] {
        switch state {
        case .requesting(let commands, let kept, true):
            state = .waitingForChallenge(commands)
            deadline = now.advanced(by: limits.challenge)
            return kept.flatMap { received($0, at: now) }
        case .issuing(let commands, let kept, true):
            state = .awaitingVerdict(commands)
            deadline = now.advanced(by: limits.verdict)
            return kept.flatMap { received($0, at: now) }
        case .idle, .requesting, .waitingForChallenge, .issuing, .awaitingVerdict,
            .awaitingResult, .spent:
            return [.note(.replyToNothing(accepted: true))]
        }
    }

    /// The vehicle rejected our message.
    package mutating func rejected() -> [Action] {
        switch state {
        case .requesting(_, let kept, true):
            return end(.refused, .requestRejected, isClean: kept.isEmpty)
        case .issuing(_, let kept, true):
            // The vehicle answered a message that it then rejected: one of the two is wrong.
            return end(
                kept.isEmpty ? answered(.refused) : .inDoubt,
                .commandRejected,
                isClean: kept.isEmpty
            )
        case .idle, .requesting, .waitingForChallenge, .issuing, .awaitingVerdict,
            .awaitingResult, .spent:
            return [.note(.replyToNothing(accepted: false))]
        }
    }

    package mutating func received(_ message: [UInt8], at now: Moment) -> [Action] {
        if isRepeated(message) { return [.note(.repeated(length: message.count))] }
        switch state {
        case .requesting(let commands, let kept, let left):
            guard left, kept.isEmpty else {
                return end(.notSent, Self.unexpectedChallenge(message))
            }
            state = .requesting(commands, kept: [message], left: left)
            return []
        case .waitingForChallenge(let commands):
            return challenged(commands, message, at: now)
        case .issuing(let commands, let kept, let left):
            guard left, kept.count < Self.mostKept else {
                return end(fate, Self.unexpectedVerdict(message))
            }
            state = .issuing(commands, kept: kept + [message], left: left)
            return []
        case .awaitingVerdict(let commands):
            return judged(commands, message, at: now)
        case .awaitingResult(let commands):
            return reported(commands, message)
        case .idle(let used):
            // A vehicle that answers a command twice could also answer the next one with a message
            // for this one.
            if used { state = .spent }
            return [.note(.messageToNothing(length: message.count))]
        case .spent:
            return [.note(.messageToNothing(length: message.count))]
        }
    }

    /// Whether the message repeats an earlier answer to this command: it carries no news, and does
    /// not answer the latest message.
    private func isRepeated(_ message: [UInt8]) -> Bool {
        switch state {
        case .requesting(_, let kept, _):
            kept.contains(message)
        case .issuing(_, let kept, _):
            message == challenge || kept.contains(message)
        case .awaitingVerdict:
            message == challenge
        case .awaitingResult:
            message == challenge || message == CarShareAcknowledgement.accepted.message
        case .idle, .waitingForChallenge, .spent:
            false
        }
    }

    private static func unexpectedChallenge(_ message: [UInt8]) -> CarShareFailure.Reason {
        do throws(CarShareChallenge.Fault) {
            _ = try CarShareChallenge(message: message)
            return .outOfStep
        } catch {
            return .challenge(error)
        }
    }

    private static func unexpectedVerdict(_ message: [UInt8]) -> CarShareFailure.Reason {
        do throws(CarShareAcknowledgement.Fault) {
            _ = try CarShareAcknowledgement(message: message)
            return .outOfStep
        } catch {
            return .verdict(error)
        }
    }

    private mutating func challenged(
        _ commands: CarShareCommands,
        _ message: [UInt8],
        at now: Moment
    ) -> [Action] {
        let challenge: CarShareChallenge
        do throws(CarShareChallenge.Fault) {
            challenge = try CarShareChallenge(message: message)
        } catch { return end(.notSent, .challenge(error)) }
        guard let body = sign(commands, challenge) else { return end(.notSent, .signing) }
        self.challenge = message
        state = .issuing(commands, kept: [], left: false)
        deadline = now.advanced(by: limits.reply)
        return [.send(body)]
    }

    private mutating func judged(
        _ commands: CarShareCommands,
        _ message: [UInt8],
        at now: Moment
    ) -> [Action] {
        do throws(CarShareAcknowledgement.Fault) {
            switch try CarShareAcknowledgement(message: message) {
            case .accepted where success == .acknowledgement:
                deadline = nil
                state = .idle(used: true)
                return [.finished(.success(CarShareReport(isSuccess: true)))]
            case .accepted:
                state = .awaitingResult(commands)
                deadline = now.advanced(by: limits.result)
                return []
            case .refused(let refusal):
                return end(answered(.refused), .nack(refusal), isClean: true)
            }
        } catch {
            return end(.inDoubt, .verdict(error))
        }
    }

    private mutating func reported(
        _ commands: CarShareCommands,
        _ message: [UInt8]
    ) -> [Action] {
        do throws(ProtobufError) {
            let report = try CarShareReport(message: message)
            deadline = nil
            state = .idle(used: true)
            guard !report.isSuccess else { return [.finished(.success(report))] }
            let failure = CarShareFailure(report, of: commands)
            return [
                .finished(
                    .failure(CarShareFailure(answered(failure.fate, commands), failure.reason))
                )
            ]
        } catch {
            return end(.inDoubt, .unreadableResult(error))
        }
    }

    /// The transport refused the message.
    package mutating func notTaken(_ refusal: AddOnTransport.Refusal) -> [Action] {
        guard isUnderWay else { return [] }
        let reason: CarShareFailure.Reason =
            switch refusal {
            case .notConnected: .notConnected
            case .busy: .busy
            case .length(let count): .tooLong(count)
            }
        return end(fate, reason)
    }

    /// Bytes arrived that are not a frame.
    package mutating func damaged(_ error: AddOnFrameError) -> [Action] {
        isUnderWay ? end(fate, .damaged(error)) : [.note(.damaged(error))]
    }

    /// Ends the current command for an outside reason; without a command there is nothing to end.
    package mutating func abort(_ reason: CarShareFailure.Reason) -> [Action] {
        guard isUnderWay else {
            state = .spent
            return []
        }
        return end(fate, reason)
    }

    package mutating func timeout(at now: Moment) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        switch state {
        case .requesting(_, let kept, let left):
            // An answer proves that the message arrived, even if its acceptance was lost.
            if left, !kept.isEmpty { return [.note(.answeredUnaccepted)] + accepted(at: now) }
            return end(.notSent, .silence(.requestReply))
        case .waitingForChallenge:
            return end(.notSent, .silence(.challenge))
        case .issuing(_, let kept, let left):
            if left, !kept.isEmpty { return [.note(.answeredUnaccepted)] + accepted(at: now) }
            return end(fate, .silence(.commandReply))
        case .awaitingVerdict:
            return end(.inDoubt, .silence(.verdict))
        case .awaitingResult:
            return end(.inDoubt, .silence(.result))
        case .idle, .spent:
            return []
        }
    }

    /// Ends the command.
    ///
    /// Unless the end is clean, answers may arrive later, and only a new link keeps them from being
    /// taken for answers to the next command.
    private mutating func end(
        _ fate: CarShareFate,
        _ reason: CarShareFailure.Reason,
        isClean: Bool = false
    ) -> [Action] {
        state = isClean ? .idle(used: true) : .spent
        deadline = nil
        return [.finished(.failure(CarShareFailure(fate, reason)))]
    }
}
