import Base
import Synchronization

/// Carries out an update: performs the actions of the session over the owner's link.
package final class UpdateEngine<Owner: UpdateOwner, Notes: UpdateNotes>
where Notes.Halt == Owner.Halt {
    private let owner: Owner
    private let notes: Notes
    private let order: UpdateOrder
    private var session: UpdateSession
    private var sighting: ModuleSighting?

    package init(
        _ order: UpdateOrder,
        _ session: UpdateSession,
        over owner: Owner,
        noting notes: Notes
    ) {
        self.order = order
        self.session = session
        self.owner = owner
        self.notes = notes
    }

    private var time: any Timekeeper { owner.time }

    /// Runs to the end: from a sighting of the module, on the owner's open link, or with a search.
    package func ending(
        from sighting: ModuleSighting? = nil
    ) async throws(Owner.Halt) -> UpdateEnding {
        self.sighting = sighting
        var action: UpdateSession.Action
        if let sighting {
            action = session.begin(at: time.now)
            action = session.sighted(sighting.role, at: time.now)
        } else if owner.link.application != nil {
            action = session.begin(linkedTo: .application, at: time.now)
        } else {
            action = session.begin(at: time.now)
        }
        while true {
            if owner.isStopped(), !session.isSending { action = session.stopRequested() }
            if action.isBeyondReturn { try await notes.checkAgain() }
            try await notes.keep(session)
            if case .ended(let ending) = action {
                try await notes.close(ending, session)
                return ending
            }
            action = try await perform(action)
        }
    }

    private func perform(
        _ action: UpdateSession.Action
    ) async throws(Owner.Halt) -> UpdateSession.Action {
        switch action {
        case .seek(let moment):
            return try await seek(from: moment)
        case .connect:
            return try await connect()
        case .pause(let moment):
            if owner.link.isOpen {
                await time.wait(
                    until: moment,
                    for: session.deadlineLabel,
                    unless: owner.isStopped
                )
            } else {
                try await owner.rest(until: moment, session.memory, for: session.deadlineLabel)
            }
            return session.tick(at: time.now)
        case .disconnect:
            await owner.link.close()
            return session.disconnected(at: time.now)
        case .transfer(let part, let pace):
            return try await transfer(part, pace: pace)
        case .inspect, .prepare, .probe, .activate, .observe, .check, .confirm, .rollBack:
            do throws(ModuleError) {
                return try await ask(action)
            } catch { return try weigh(error) }
        case .ended:
            return action
        }
    }

    /// Searches for the module repeatedly, each time briefly, so that the adapter can work for
    /// other modules while this one restarts.
    private func seek(from moment: Moment) async throws(Owner.Halt) -> UpdateSession.Action {
        let deadline = session.nextDeadline ?? time.now
        var pause = ReturnPause()
        if moment > time.now || session.isRestarting {
            let first = min(deadline, max(moment, time.now).advanced(by: pause.next()))
            try await owner.rest(until: first, session.memory, for: "the module to come back")
        }
        while true {
            // After a wait for the adapter, the module gets one more look, even if the deadline has
            // passed.
            let look = time.now.advanced(by: ReturnPause.look)
            sighting = try await owner.seek(before: look)
            if let sighting { return session.sighted(sighting.role, at: time.now) }
            if owner.isStopped() { return session.stopRequested() }
            if time.now >= deadline { return session.missed(at: time.now) }
            let next = min(deadline, time.now.advanced(by: pause.next()))
            try await owner.rest(until: next, session.memory, for: "the module to come back")
        }
    }

    private func connect() async throws(Owner.Halt) -> UpdateSession.Action {
        guard let sighting else { return session.missed(at: time.now) }
        do throws(RadioError) {
            try await owner.connect(to: sighting)
        } catch { return try weigh(.radio(error)) }
        do throws(ModuleError) {
            switch sighting.role {
            case .application: try await owner.openApplication()
            case .bootloader: try await owner.link.openBootloader(by: owner.driver)
            }
        } catch {
            if error.isAboutAuthentication {
                return session.failed(try owner.refusal(error), at: time.now)
            }
            return try weigh(error)
        }
        return session.linked(at: time.now)
    }

    /// Sends one request to the module over the open link.
    private func ask(
        _ action: UpdateSession.Action
    ) async throws(ModuleError) -> UpdateSession.Action {
        if case .probe = action {
            guard let receiver = owner.link.receiver else { throw .radio(.linkLost) }
            return session.probed(try await receiver.probe(order), at: time.now)
        }
        if case .activate = action {
            guard let receiver = owner.link.receiver else { throw .radio(.linkLost) }
            try await receiver.activate(order)
            return session.activated(at: time.now)
        }
        guard let application = owner.link.application else { throw .radio(.linkLost) }
        switch action {
        case .inspect:
            let found = try await application.inspect(order)
            owner.inspected(found, of: order.target)
            return session.inspected(found, at: time.now)
        case .prepare:
            try await application.prepare(order)
            return session.prepared(at: time.now)
        case .observe(let moment):
            let seen = try await application.observe(
                order,
                at: moment,
                unless: owner.isStopped
            )
            owner.observed(seen)
            return session.observed(seen, at: time.now)
        case .check:
            let health = try await notes.health(on: application, before: session.nextDeadline)
            return session.checked(health, at: time.now)
        case .confirm:
            try await application.confirm(order)
            return session.confirmed(at: time.now)
        case .rollBack:
            try await application.rollBack(order)
            return session.rolledBack(at: time.now)
        case .seek, .connect, .probe, .transfer, .activate, .disconnect, .pause, .ended:
            return action
        }
    }

    /// Faults of the host are not those of the module; the session evaluates all others.
    private func weigh(_ error: ModuleError) throws(Owner.Halt) -> UpdateSession.Action {
        if case .radio(let radio) = error, radio.isHostFault {
            throw owner.halt(after: radio)
        }
        if error.isLinkLoss { owner.link.forgetLink() }
        return session.failed(error.fault(while: session.doing), at: time.now)
    }

    // MARK: Transfer

    private func transfer(
        _ part: Int,
        pace: Int
    ) async throws(Owner.Halt) -> UpdateSession.Action {
        guard let receiver = owner.link.receiver else { return try weigh(.radio(.linkLost)) }
        let (time, isStopped) = (time, owner.isStopped)
        var fault: Owner.Halt?
        let (overdue, mayStop) = (Overdue(session.nextDeadline), receiver.keepsReceived)
        let sentBefore = receiver.bytesSent
        notes.begins(part)
        let result: Result<TransferEnd, ModuleError>
        do throws(ModuleError) {
            result = .success(
                try await receiver.transfer(
                    part,
                    of: order,
                    pace: pace,
                    from: session.transferStart,
                    unless: { mayStop && isStopped() || overdue.isDue(at: time.now) }
                ) { (heard: UploadProgress) async in
                    session.progressed(
                        to: heard.acknowledged,
                        resumedFrom: heard.resumedFrom,
                        at: time.now
                    )
                    overdue.moment = session.nextDeadline
                    do throws(Owner.Halt) {
                        try await notes.progressed(heard, session)
                    } catch { fault = error }
                }
            )
        } catch { result = .failure(error) }
        owner.sent(receiver.bytesSent - sentBefore)
        if let fault { throw fault }
        switch result {
        case .success(.finished(let linkHolds)):
            return session.transferred(linkHolds: linkHolds, at: time.now)
        case .success(.stopped):
            return isStopped() ? session.stopRequested() : session.tick(at: time.now)
        case .failure(let error):
            return try weigh(error)
        }
    }
}

/// The pauses between two looks for a module that restarts: short at first, since most restart
/// quickly.
package struct ReturnPause: Sendable {
    /// How long one look takes: enough for a few advertisements.
    package static let look = Duration.seconds(2)
    private static let longest = Duration.seconds(15)

    private var pause = Duration.seconds(2)

    package init() {}

    package mutating func next() -> Duration {
        defer { pause = min(Self.longest, pause * 3 / 2) }
        return pause
    }
}

/// When a transfer is to be interrupted: its progress extends the time, and the transfer checks it
/// regularly.
private final class Overdue: Sendable {
    private let limit: Mutex<Moment?>

    init(_ moment: Moment?) { limit = Mutex(moment) }

    var moment: Moment? {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }

    func isDue(at now: Moment) -> Bool { moment.map { $0 <= now } ?? false }
}

extension UpdateSession.Action {
    /// Whether the module restarts into another program with this action.
    fileprivate var isBeyondReturn: Bool {
        switch self {
        case .prepare, .activate: true
        case .seek, .connect, .inspect, .probe, .transfer, .observe, .check, .confirm, .rollBack,
            .disconnect, .pause, .ended:
            false
        }
    }
}

extension UpdateSession {
    /// Whether a transfer is running, which ends only at a safe point of its own.
    fileprivate var isSending: Bool {
        if case .transferring = state { return true }
        return false
    }

    /// Whether the module has just been restarted: it cannot be heard yet.
    fileprivate var isRestarting: Bool {
        if case .settling = state { return true }
        return false
    }

    /// What the session was doing when an error occurred, for people.
    fileprivate var doing: String {
        switch state {
        case .connecting: "while connecting"
        case .inspecting: "while reading its versions"
        case .preparing: "while starting its bootloader"
        case .probing, .transferring: "while sending"
        case .activating: "while activating the image"
        case .confirming: "while confirming the image"
        case .rollingBack: "while rolling back"
        case .checking: "while checking its health"
        case .idle, .seeking, .leaving, .pausing, .settling, .ended: ""
        }
    }
}
