package import Domain
package import Radio

/// One request about a characteristic: when it is asked, when it is asked again, and what an
/// answer means.
///
/// Packets that were sent before it must have left their socket: BlueZ takes them one by one, and
/// calls overtake them.
package struct RequestMachine: Equatable {
    package enum Kind: Equatable, Sendable {
        case read
        case write
        /// Without response, where there is no socket for it.
        case command
        case startNotify
        /// A socket for notifications.
        case acquireNotify
        /// A socket for commands.
        case acquireWrite

        fileprivate var isForSocket: Bool { self == .acquireNotify || self == .acquireWrite }
    }

    package enum Action: Equatable {
        /// Look whether the link's sockets are empty, and tell by `drained` or `notDrained`.
        case look
        case ask
        /// The answer holds; its values are the caller's.
        case done
        /// No socket is to be had, because another program has it, or for good.
        case doWithout(isLocked: Bool)
        case fail(RadioError)
        /// The link is gone; who asked is told that, too.
        case lose
        case wait
    }

    package enum State: Equatable {
        /// Until the packets of before are taken. Next: `asking`, `over`.
        case draining(Drain)
        /// Next: `pausing`, `doubting`, `over`.
        case asking
        /// BlueZ is busy with another request. Next: `asking`, `over`.
        case pausing(next: Moment, pause: Duration)
        /// A refusal without a reason may be the first word of a lost link. Next: `over`.
        case doubting(BlueZRefusal, until: Moment)
        case over
    }

    /// How soon something is asked again that is just being let go, growing.
    private static let busyPauses = (
        first: Duration.milliseconds(20), last: Duration.milliseconds(200)
    )
    /// How long BlueZ may take to see that we have closed a socket.
    private static let releasePatience = Duration.seconds(1)
    /// How long the news of a lost link may come after the failures that it causes.
    private static let lossPause = Duration.milliseconds(200)

    package let kind: Kind
    /// How a bond with the module is made.
    private let pairing: Pairing
    private let limit: Moment
    /// Until when it is asked again while somebody else is at it.
    private let patience: Moment
    package private(set) var state: State
    private var pause = busyPauses.first

    package init(
        _ kind: Kind,
        _ pairing: Pairing = .none,
        before limit: Moment,
        at now: Moment
    ) {
        self.kind = kind
        self.pairing = pairing
        self.limit = limit
        // A socket for packets does not wait for packets.
        state = kind == .acquireWrite ? .asking : .draining(Drain(at: now))
        patience =
            kind == .acquireWrite ? min(limit, now.advanced(by: Self.releasePatience)) : limit
    }

    package var deadline: Moment? {
        switch state {
        case .draining(let drain): min(drain.next, limit)
        case .pausing(let next, _): min(next, limit)
        case .doubting(_, let until): until
        case .asking: limit
        case .over: nil
        }
    }

    package mutating func begin(at now: Moment) -> Action {
        guard now < limit else { return fail(.timedOut) }
        return state == .asking ? .ask : .look
    }

    /// All that was sent is on its way.
    package mutating func drained() -> Action {
        guard case .draining = state else { return .wait }
        state = .asking
        return .ask
    }

    package mutating func notDrained(at now: Moment) -> Action {
        guard case .draining(var drain) = state else { return .wait }
        drain.again(at: now)
        state = .draining(drain)
        return .wait
    }

    package mutating func answered(_ refusal: BlueZRefusal?, at now: Moment) -> Action {
        guard state == .asking else { return .wait }
        guard let refusal else {
            state = .over
            return .done
        }
        switch refusal {
        case .inProgress: return again(refusal, at: now)
        case .acquired:
            guard kind == .acquireNotify else { return again(refusal, at: now) }
            // Some versions leave the lock behind when a link is lost at the wrong moment.
            return doWithout(isLocked: true)
        case .notConnected, .objectGone, .serviceGone, .notReady:
            state = .over
            return .lose
        case .notPermitted:
            return kind.isForSocket ? doWithout(isLocked: true) : fail(meaning(of: refusal))
        case .notSupported, .att(0x06):
            return kind.isForSocket ? doWithout(isLocked: false) : fail(meaning(of: refusal))
        case .failed, .att(0x0E):
            return kind.isForSocket ? doWithout(isLocked: false) : doubt(refusal, at: now)
        case .att, .accessDenied, .tooManyLinks, .alreadyExists, .keyMissing, .canceled,
            .authentication:
            return kind == .acquireWrite
                ? doWithout(isLocked: false) : fail(meaning(of: refusal))
        }
    }

    private mutating func doWithout(isLocked: Bool) -> Action {
        state = .over
        return .doWithout(isLocked: isLocked)
    }

    /// The link is gone.
    package mutating func lost() -> Action { state == .over ? .wait : fail(.linkLost) }

    package mutating func tick(at now: Moment) -> Action {
        switch state {
        case .draining(let drain):
            if limit <= now { return fail(.timedOut) }
            return drain.next <= now ? .look : .wait
        case .pausing(let next, _):
            if limit <= now { return fail(.timedOut) }
            guard next <= now else { return .wait }
            state = .asking
            return .ask
        case .doubting(let refusal, let until):
            return until <= now ? fail(meaning(of: refusal)) : .wait
        case .asking: return limit <= now ? fail(.timedOut) : .wait
        case .over: return .wait
        }
    }

    private mutating func again(_ refusal: BlueZRefusal, at now: Moment) -> Action {
        let next = now.advanced(by: pause)
        // Held by somebody all the time: that is the answer.
        guard next < patience else {
            return kind.isForSocket ? doWithout(isLocked: true) : fail(meaning(of: refusal))
        }
        state = .pausing(next: next, pause: pause)
        pause = min(Self.busyPauses.last, pause * 2)
        return .wait
    }

    private mutating func doubt(_ refusal: BlueZRefusal, at now: Moment) -> Action {
        state = .doubting(refusal, until: now.advanced(by: Self.lossPause))
        return .wait
    }

    private mutating func fail(_ error: RadioError) -> Action {
        state = .over
        return .fail(error)
    }

    private func meaning(of refusal: BlueZRefusal) -> RadioError {
        switch refusal {
        case .att(let code): bondError(code).map { .bond($0) } ?? .att(ATTError(rawValue: code))
        case .notSupported: .att(ATTError(rawValue: 0x06))
        case .notPermitted, .acquired: .att(refused)
        case .inProgress: .att(.procedureInProgress)
        case .accessDenied: .unauthorized
        case .notConnected, .objectGone, .serviceGone, .notReady: .linkLost
        case .authentication: .bond(.refused)
        case .tooManyLinks, .alreadyExists, .keyMissing, .canceled, .failed:
            // "Unlikely error": the other side said no more than that.
            .att(ATTError(rawValue: 0x0E))
        }
    }

    /// What a refusal for want of a bond means: BlueZ has tried to make one by then.
    private func bondError(_ code: UInt8) -> BondFailure? {
        // Insufficient authentication, key size and encryption.
        guard [0x05, 0x0C, 0x0F].contains(code) else { return nil }
        switch pairing {
        case .none: return .notConfigured
        case .justWorks: return .passkeyNeeded
        case .passkey: return .refused
        }
    }

    private var refused: ATTError {
        switch kind {
        case .read: .readNotPermitted
        case .write, .command: .writeNotPermitted
        case .acquireWrite: .writeNotPermitted
        case .startNotify, .acquireNotify: .improperlyConfigured
        }
    }
}
