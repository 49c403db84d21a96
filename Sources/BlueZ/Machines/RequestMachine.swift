package import Base
package import Radio

/// One request about a characteristic: when it is sent, when it is repeated, and the meaning of its
/// answer.
///
/// Packets that were sent before it must have left their socket first: BlueZ takes them one by one,
/// and calls overtake them.
package struct RequestMachine: Equatable {
    package enum Kind: Equatable, Sendable {
        case read
        case write
        /// A write without response, where there is no socket for it.
        case command
        case startNotify
        /// A socket for notifications.
        case acquireNotify
        /// A socket for commands.
        case acquireWrite

        /// Whether only the module's answer makes it succeed.
        package var isAnsweredByModule: Bool { [.read, .write, .startNotify].contains(self) }

        fileprivate var isForSocket: Bool { self == .acquireNotify || self == .acquireWrite }
    }

    package enum Action: Equatable {
        /// Check whether the link's sockets are empty; then `drained` or `notDrained`.
        case look
        case ask
        /// The answer is valid; its values are passed to the caller.
        case done
        /// No socket is available, because another program has it (`isLocked`) or because there is
        /// none.
        case doWithout(isLocked: Bool)
        case fail(RadioError)
        /// The link is lost; the request fails with this error too.
        case lose
        case wait
    }

    package enum State: Equatable {
        /// Waits until the earlier packets are taken.
        ///
        /// Next: `asking`, `over`.
        case draining(Drain)
        /// Next: `pausing`, `doubting`, `over`.
        case asking
        /// BlueZ is busy with another request. Next: `asking`, `over`.
        case pausing(next: Moment, pause: Duration)
        /// A refusal without a reason may be the first sign of a lost link.
        ///
        /// Next: `over`.
        case doubting(BlueZRefusal, until: Moment)
        case over
    }

    /// The pauses before a request is repeated while something is being released; they grow.
    private static let busyPauses = (
        first: Duration.milliseconds(20), last: Duration.milliseconds(200)
    )
    /// How long BlueZ may take to notice that this program has closed a socket.
    private static let releasePatience = Duration.seconds(1)
    /// How long after the first failures BlueZ may report the lost link that caused them.
    private static let lossPause = Duration.milliseconds(200)

    package let kind: Kind
    /// How a bond with the module is made.
    private let pairing: Pairing
    private let limit: Moment
    /// Until when the request is repeated while the characteristic is busy.
    private let patience: Moment
    package private(set) var state: State
    private var pause = busyPauses.first
    /// Until when the answer is waited for after the module wanted a bond that nobody allows.
    private var unbonded: Moment?

    package init(
        _ kind: Kind,
        _ pairing: Pairing = .none,
        before limit: Moment,
        at now: Moment
    ) {
        self.kind = kind
        self.pairing = pairing
        self.limit = limit
        // A socket for packets does not have to wait for packets.
        state = kind == .acquireWrite ? .asking : .draining(Drain(at: now))
        patience =
            [.acquireWrite, .startNotify].contains(kind)
            ? min(limit, now.advanced(by: Self.releasePatience)) : limit
    }

    package var deadline: Moment? {
        switch state {
        case .draining(let drain): min(drain.next, end)
        case .pausing(let next, _): min(next, end)
        case .doubting(_, let until): until
        case .asking: end
        case .over: nil
        }
    }

    /// The moment at which the request fails if it is not answered before.
    private var end: Moment { unbonded.map { min($0, limit) } ?? limit }

    private var timeout: RadioError { unbonded == nil ? .timedOut : .bond(.notConfigured) }

    package mutating func begin(at now: Moment) -> Action {
        guard now < limit else { return fail(.timedOut) }
        return state == .asking ? .ask : .look
    }

    /// All earlier packets have left.
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
            // Some versions keep the lock when a link is lost at the wrong moment.
            return doWithout(isLocked: true)
        case .notConnected where unbonded != nil: return fail(.bond(.notConfigured))
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

    /// The link is lost.
    ///
    /// Some modules end it when their bond is refused.
    package mutating func lost() -> Action {
        guard state != .over else { return .wait }
        return fail(unbonded == nil ? .linkLost : .bond(.notConfigured))
    }

    /// The module wants a bond that nobody allows.
    ///
    /// If a request has led to this, BlueZ sends no request over this link again, and answers none.
    package mutating func bondRefused(until: Moment) { unbonded = until }

    /// The module answers requests, so that it does not need the bond that it wanted.
    package mutating func bondUnneeded() { unbonded = nil }

    package mutating func tick(at now: Moment) -> Action {
        switch state {
        case .draining(let drain):
            if end <= now { return fail(timeout) }
            return drain.next <= now ? .look : .wait
        case .pausing(let next, _):
            if end <= now { return fail(timeout) }
            guard next <= now else { return .wait }
            state = .asking
            return .ask
        case .doubting(let refusal, let until):
            return until <= now ? fail(meaning(of: refusal)) : .wait
        case .asking: return end <= now ? fail(timeout) : .wait
        case .over: return .wait
        }
    }

    private mutating func again(_ refusal: BlueZRefusal, at now: Moment) -> Action {
        let next = now.advanced(by: pause)
        // The characteristic stayed busy all the time: the refusal is final.
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
            // "Unlikely error": the other device gave no other reason.
            .att(ATTError(rawValue: 0x0E))
        }
    }

    /// The meaning of a refusal because of a missing bond: BlueZ has already tried to make one.
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
