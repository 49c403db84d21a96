package import Base

/// Something that is said to a server about an action until the server has it.
package struct ServerWord: Sendable, Equatable {
    /// The action's number in the journal; nil for one that was never taken.
    package let number: Int64?
    package let action: ActionID
    /// Whether it answers the server's wish to end the action.
    package let isAboutCancel: Bool
    /// Whether the action is over once the server has it.
    package let isLast: Bool
    /// Whether it was sent before, without an answer.
    package let wasSent: Bool
    package let feedback: Feedback

    package init(
        _ feedback: Feedback,
        of action: ActionID,
        number: Int64?,
        isAboutCancel: Bool = false,
        isLast: Bool = false,
        wasSent: Bool = false
    ) {
        self.feedback = feedback
        self.action = action
        self.number = number
        self.isAboutCancel = isAboutCancel
        self.isLast = isLast
        self.wasSent = wasSent
    }
}

/// The answer of a server to one request.
package enum ServerAnswer: Sendable, Equatable {
    case success([UInt8])
    /// There is no such thing, or no longer.
    case absent
    case failure(ServerFault)
}

/// Why a server could not be spoken to, or not used.
package struct ServerFault: Sendable, Equatable, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    package let description: String
    /// Whether the server was not there, so that it need not be asked about other vehicles.
    package let isSilence: Bool

    package init(_ words: String, isSilence: Bool) {
        (description, self.isSilence) = (words, isSilence)
    }

    package init(stringLiteral words: String) { self.init(words, isSilence: false) }
}

/// The conversation with a server about one controller: what is asked, said and written down next.
///
/// Verdicts that the server does not have yet come first, then its wish to cancel, and new work last.
package struct ControllerMachine: Sendable {
    /// How a conversation ended.
    package enum Ending: Sendable, Equatable {
        /// After this time the server expects the next poll; nil where it does not say.
        case done(next: Duration?)
        /// The action waits for a confirmation, which was not given here.
        case unconfirmed(ActionID)
        /// The server does not know the controller, or no longer.
        case unknown
        case failed(ServerFault)
    }

    package enum State: Sendable, Equatable {
        /// Nothing was asked. Next: `polling`.
        case ready
        /// Next: `telling`, or what follows it; `over`.
        case polling
        /// Next: `settling`, `telling`, or what follows it.
        case telling(ServerWord, [ServerWord], ControllerBase)
        /// Next: `telling`, or what follows it.
        case settling([ServerWord], ControllerBase)
        /// Next: `deciding`, or what follows it.
        case readingCancel(ControllerBase)
        /// Next: `telling`.
        case deciding(ControllerBase)
        /// Next: `looking`, or what follows it; `polling`, once.
        case describing(ControllerBase)
        /// Next: `forgetting`, or what follows it; `over`.
        case looking(ActionID, [ActionID], ControllerBase)
        /// Next: `looking`, `dropping`, `reading`, `readingConfirmation`, `over`.
        case forgetting([ActionID], ControllerBase)
        /// Next: `over`.
        case dropping(ControllerBase)
        /// Next: `weighing`, `over`.
        case readingConfirmation(ActionID, ControllerBase)
        /// Next: `confirming`, `over`.
        case weighing(ActionID, ControllerBase)
        /// Next: `polling`, `over`.
        case confirming
        /// Next: `taking`, `over`.
        case reading(ActionID, ControllerBase)
        /// Next: `reporting`, `over`.
        case taking(ControllerBase)
        /// Next: `over`.
        case reporting(ControllerBase)
        case over(Ending)
    }

    /// What is to be done; each has one method that reports its result.
    package enum Action: Sendable, Equatable {
        case poll
        case tell(ServerWord)
        /// Write down that the server has the word.
        case settle(ServerWord)
        case readCancel(ActionID)
        /// Decide in the journal whether this action can still be ended.
        case decide(ActionID)
        case describe
        /// Ask whether the server still has an action that it does not offer.
        case look(ActionID)
        /// Write down that the server does not have this action any more.
        case forget(ActionID)
        /// Write down that the server has no open action of this controller.
        case drop
        case readConfirmation(ActionID)
        /// Decide whether an action that waits would be done.
        case weigh(Deployment)
        case confirm(ActionID)
        case read(ActionID)
        /// Write down an action as it is now; nil for one that has not changed.
        case take(ActionID, Deployment)
        case finish(Ending)
    }

    package private(set) var state = State.ready
    private let server: WebAuthority
    /// Words that are due, the oldest first.
    private let due: [ServerWord]
    /// Actions that are open here, the oldest first.
    private let open: [ActionID]
    /// Whether actions that wait for a confirmation get it.
    private let confirms: Bool
    /// Whether one was given in this conversation.
    private var hasConfirmed = false
    /// Whether the wish to cancel was answered in this conversation.
    private var hasAnsweredCancel = false
    /// Whether the controller was described: some servers have work only for those that they know.
    private var hasDescribed = false

    /// The most actions about which a server is asked that it does not offer.
    private static let mostLooks = 16

    package init(
        at server: WebAuthority,
        due: [ServerWord],
        open: [ActionID] = [],
        confirms: Bool = false
    ) {
        self.server = server
        self.due = due
        self.open = open
        self.confirms = confirms
    }

    package mutating func begin() -> Action {
        state = .polling
        return .poll
    }

    package mutating func polled(_ answer: ServerAnswer) -> Action {
        guard case .polling = state else { misuse() }
        switch answer {
        case .success(let bytes):
            do throws(DocumentFault) {
                let base = try ControllerBase(bytes, of: server)
                return tell(hasDescribed || hasConfirmed ? [] : due, base)
            } catch { return end(.failed("its answer to a poll is not used: \(error)")) }
        case .absent: return end(.unknown)
        case .failure(let why): return end(.failed(why))
        }
    }

    /// A word that was sent without an answer, of an action that is no longer open there, has arrived.
    private mutating func tell(_ words: [ServerWord], _ base: ControllerBase) -> Action {
        guard let word = words.first else { return afterWords(base) }
        let rest = Array(words.dropFirst())
        if word.isLast, word.wasSent, base.isIdle {
            state = .settling(rest, base)
            return .settle(word)
        }
        state = .telling(word, rest, base)
        return .tell(word)
    }

    package mutating func told(_ answer: ServerAnswer) -> Action {
        switch state {
        case .telling(let word, let rest, let base):
            switch answer {
            // An action that the server does not have any more needs no further word.
            case .success, .absent:
                state = .settling(rest, base)
                return .settle(word)
            case .failure(let why): return end(.failed(why))
            }
        case .reporting(let base):
            if case .failure(let why) = answer { return end(.failed(why)) }
            return finish(base)
        case .ready, .polling, .settling, .readingCancel, .deciding, .describing, .looking,
            .forgetting, .dropping, .readingConfirmation, .weighing, .confirming, .reading, .taking,
            .over:
            misuse()
        }
    }

    package mutating func settled() -> Action {
        guard case .settling(let rest, let base) = state else { misuse() }
        return tell(rest, base)
    }

    private mutating func afterWords(_ base: ControllerBase) -> Action {
        if let cancel = base.cancel, !hasAnsweredCancel {
            hasAnsweredCancel = true
            // The action may be the one that a word has just ended.
            guard !due.contains(where: { $0.isLast && $0.action == cancel }) else {
                return describe(base)
            }
            state = .readingCancel(base)
            return .readCancel(cancel)
        }
        return describe(base)
    }

    package mutating func readCancel(_ answer: ServerAnswer) -> Action {
        guard case .readingCancel(let base) = state else { misuse() }
        switch answer {
        case .success(let bytes):
            do throws(DocumentFault) {
                let order = try CancelOrder(bytes)
                state = .deciding(base)
                return .decide(order.stops)
            } catch { return end(.failed("its wish to cancel is not understood: \(error)")) }
        case .absent: return describe(base)
        case .failure(let why): return end(.failed(why))
        }
    }

    /// The journal has decided, and this is the answer to the server.
    package mutating func decided(_ word: ServerWord) -> Action {
        guard case .deciding(let base) = state else { misuse() }
        return tell([word], base)
    }

    private mutating func describe(_ base: ControllerBase) -> Action {
        guard base.wantsAttributes, !hasDescribed else { return lookAtOthers(base) }
        state = .describing(base)
        return .describe
    }

    package mutating func described(_ answer: ServerAnswer) -> Action {
        guard case .describing(let base) = state else { misuse() }
        if case .failure(let why) = answer { return end(.failed(why)) }
        hasDescribed = true
        guard base.isIdle else { return lookAtOthers(base) }
        state = .polling
        return .poll
    }

    /// A server offers one action at a time: another one that is open here may have been ended there.
    private mutating func lookAtOthers(_ base: ControllerBase) -> Action {
        guard !base.isIdle else { return work(base) }
        let offered = [base.deployment, base.cancel, base.confirmation]
        let others = open.filter { !offered.contains($0) }
        return look(at: Array(others.prefix(Self.mostLooks)), base)
    }

    private mutating func look(at others: [ActionID], _ base: ControllerBase) -> Action {
        guard let action = others.first else { return work(base) }
        state = .looking(action, Array(others.dropFirst()), base)
        return .look(action)
    }

    package mutating func looked(_ answer: ServerAnswer) -> Action {
        guard case .looking(let action, let rest, let base) = state else { misuse() }
        switch answer {
        case .success: return look(at: rest, base)
        case .absent:
            state = .forgetting(rest, base)
            return .forget(action)
        case .failure(let why): return end(.failed(why))
        }
    }

    package mutating func forgotten() -> Action {
        guard case .forgetting(let rest, let base) = state else { misuse() }
        return look(at: rest, base)
    }

    private mutating func work(_ base: ControllerBase) -> Action {
        if base.isIdle {
            state = .dropping(base)
            return .drop
        }
        // What was closed a moment ago may still be in the answer to the poll.
        guard let action = base.deployment,
            !due.contains(where: { $0.isLast && $0.action == action })
        else { return confirm(base) }
        state = .reading(action, base)
        return .read(action)
    }

    private mutating func confirm(_ base: ControllerBase) -> Action {
        guard confirms, !hasConfirmed, let action = base.confirmation else { return finish(base) }
        state = .readingConfirmation(action, base)
        return .readConfirmation(action)
    }

    package mutating func readConfirmation(_ answer: ServerAnswer) -> Action {
        guard case .readingConfirmation(let action, let base) = state else { misuse() }
        switch answer {
        case .success(let bytes):
            do throws(DocumentFault) {
                let deployment = try Deployment(bytes, of: action, in: "confirmation")
                state = .weighing(action, base)
                return .weigh(deployment)
            } catch { return end(.failed("the action \(action) is not understood: \(error)")) }
        case .absent: return finish(base)
        case .failure(let why): return end(.failed(why))
        }
    }

    /// An action that would not be done is not confirmed, and never denied.
    package mutating func weighed(_ isDone: Bool) -> Action {
        guard case .weighing(let action, let base) = state else { misuse() }
        guard isDone else { return finish(base) }
        state = .confirming
        return .confirm(action)
    }

    package mutating func confirmed(_ answer: ServerAnswer) -> Action {
        guard case .confirming = state else { misuse() }
        if case .failure(let why) = answer { return end(.failed(why)) }
        hasConfirmed = true
        state = .polling
        return .poll
    }

    package mutating func dropped() -> Action {
        guard case .dropping(let base) = state else { misuse() }
        return finish(base)
    }

    package mutating func read(_ answer: ServerAnswer) -> Action {
        guard case .reading(let action, let base) = state else { misuse() }
        switch answer {
        case .success(let bytes):
            do throws(DocumentFault) {
                let deployment = try Deployment(bytes, of: action)
                state = .taking(base)
                return .take(action, deployment)
            } catch { return end(.failed("the action \(action) is not understood: \(error)")) }
        // It was ended between the two requests.
        case .absent: return finish(base)
        case .failure(let why): return end(.failed(why))
        }
    }

    /// The action is written down; `report` is what the server has not heard of it yet.
    package mutating func taken(_ report: ServerWord?) -> Action {
        guard case .taking(let base) = state else { misuse() }
        guard let report else { return finish(base) }
        state = .reporting(base)
        return .tell(report)
    }

    private mutating func finish(_ base: ControllerBase) -> Action {
        end(base.confirmation.map { .unconfirmed($0) } ?? .done(next: base.interval))
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .over(ending)
        return .finish(ending)
    }

    private func misuse() -> Never {
        preconditionFailure("a conversation with a server got a result that it did not ask for")
    }
}
