import Domain
import Families
import Journal
import Modules
import Radio
import Reports
import Sessions

/// One rollout on one vehicle, from the first search to the verdict.
final class Execution {
    let job: VehicleJob
    let depot: Depot
    let position: Int
    var record: ExecutionRecord
    /// Image bytes sent in this run, repeats included.
    var bytesSent = 0
    /// Updates of this execution that are proven.
    var provenUpdates = 0
    /// What the last steps of each name gave.
    var seen: [Fact] = []
    /// What the module is and runs was told in this run.
    var hasLooked = false
    /// How its module is opened: by another secret once it has got one.
    private(set) var driver: any UpdateDriver
    /// Whether a module was opened by none of what is known.
    private(set) var isRefused = false
    /// The open link, to whichever program the module runs; at most one of them.
    private(set) var application: (any ModuleApplication)?
    private(set) var receiver: (any ImageReceiver)?
    /// How strong it was heard last, in dBm.
    private(set) var lastSignal: Int?
    /// The module as it was heard a moment ago, when no link was made to it yet.
    var heard: ModuleSighting?
    /// Preconditions that did not hold, the last of each.
    var problems: [Problem] = []
    /// With whom there was a link: the host remembers what it was then.
    private var met: Peer?
    private var host = HostPatience()
    private var suspicion: [Peer: SecretSuspicion] = [:]
    /// Two modules may say that they are the vehicle's.
    private var claimants: Claimants
    /// Those of them that are not asked again.
    private var impostors: Set<Peer> = []
    private let began: Moment
    /// What was begun on the module and is not proven, by whichever rollout.
    var debt: Debt?
    /// What is done once nothing is owed to the module.
    private(set) var aim: Aim
    /// Why it was not begun now.
    private(set) var waits: String?
    /// How another machine ended it.
    private(set) var settled: SharedEnd?

    /// What an execution does beyond paying what is owed.
    enum Aim {
        case steps
        /// Nothing: this is its verdict.
        case verdict(Closing)
        /// Nothing, and it has no verdict yet: the rollout is held.
        case none
    }

    /// Takes up an execution that the journal has given its number.
    init(
        _ job: VehicleJob,
        in depot: Depot,
        position: Int,
        record: ExecutionRecord,
        aim: Aim = .steps
    ) {
        self.aim = aim
        self.job = job
        driver = job.driver
        self.depot = depot
        self.position = position
        began = depot.time.now
        claimants = Claimants(serial: job.serial)
        var record = record
        record.run = depot.run
        record.attempt = 0
        record.nextDeadline = nil
        if record.end != nil {
            // It is looked at once more: what is said of it from now on is of this run.
            record.end = nil
            record.state = .queued
            record.interruptions = 0
            record.versionBefore = nil
            record.versionAfter = nil
        }
        self.record = record
    }

    var vehicle: VehicleID { job.vehicle }
    var time: any Timekeeper { depot.time }

    /// The verdict, or nil when the run was stopped at a safe point before there was one.
    func run() async throws(JournalError) -> Verdict? {
        var isPaying = true
        if case .steps = aim { isPaying = false }
        // Whoever may not touch it owes it what was begun all the same.
        debt = try await depot.journal.debt(of: job.serial)
        let claim = try await depot.coordinator.claim(
            job.serial,
            for: vehicle,
            paying: isPaying,
            at: time.wallTime,
            unless: depot.stop
        )
        switch claim {
        case .held(let holder):
            return try await end(
                .deferred,
                .transient,
                "\(holder) has the right to touch this module; a later run tries again"
            )
        case .unknown(let reason):
            // A run that ends says nothing of vehicles that it has not begun.
            if depot.stop.isRequested, !depot.stop.isRequestedAlone { return nil }
            return try await end(.deferred, .transient, "\(reason); a later run tries again")
        case .stopped(let hold):
            // A hold that is taken back at once is none that ends the run.
            if depot.coordinator.isShared { waits = hold.reason }
            return nil
        case .inhibited(let inhibit): return try await end(.deferred, nil, inhibit.sentence)
        case .quarantined(let sentence): return try await end(.failed, nil, sentence)
        case .later(let reason):
            waits = reason
            return nil
        case .settled(let end):
            settled = end
            return nil
        case .granted(let lease):
            // What others began on it is known here by now.
            debt = try await depot.journal.debt(of: job.serial)
            if let doubt = try await depot.journal.doubts(of: vehicle).first, !job.onlyReads {
                // Nothing is done on a vehicle of which nobody knows what was done.
                aim = .verdict(job.closing(inDoubt: doubt))
            }
            var verdict = try await attempts()
            if verdict == nil, depot.stop.isRequestedAlone {
                // Its airtime is used up; what is always done is done all the same.
                depot.stop.reset()
                await depot.air.take(for: .next)
                verdict = try await conclude(.timedOut, nil, airtimeSentence)
            }
            await forgetModule()
            if verdict == nil, depot.stop.isFenced {
                verdict = try await end(.deferred, .transient, Self.fencedSentence)
            }
            try await depot.coordinator.release(lease, with: verdict)
            return verdict
        }
    }

    private static let fencedSentence =
        "the right to its module could not be kept; the next run goes on where it stands"

    private var airtimeSentence: String {
        let limit = depot.airtime.map { " of \($0.brief)" } ?? ""
        return "used up its airtime\(limit); the next run goes on where it stands"
    }

    private func attempts() async throws(JournalError) -> Verdict? {
        var left: [FailureClass: Int] = [:]
        while true {
            record.attempt += 1
            host.begins(at: time.now)
            depot.events.emit(
                .attemptStarted(
                    vehicle,
                    serial: job.serial,
                    attempt: record.attempt,
                    position: position
                )
            )
            let halt: Halt
            do throws(Halt) {
                try await attempt()
                switch aim {
                case .steps: halt = done
                case .verdict(let closing):
                    halt = .verdict(closing.outcome, closing.failure, closing.message)
                case .none: halt = .paid
                }
            } catch {
                halt = error
            }
            if depot.stop.isFenced, !halt.isFinal {
                // Whatever it was, it was cut short, and nothing more may be done on the module.
                try await note(.interrupted, durably: true)
                return nil
            }
            switch halt {
            case .verdict(let outcome, let failure, let message):
                return try await conclude(outcome, failure, message)
            case .stopped:
                try await note(.interrupted, durably: true)
                return nil
            case .paid:
                try await note(.queued, durably: true)
                return nil
            case .journal(let error):
                throw error
            case .host, .elsewhere:
                // The adapter's absence costs time, not attempts.
                record.attempt -= 1
                guard host.waits(at: time.now, by: depot.rules) else {
                    return try await end(
                        .deferred,
                        .transient,
                        "\(halt.hostSentence); the next run tries again"
                    )
                }
                if case .host(let error) = halt { depot.air.failed(error) }
                guard await rested(.seconds(5), .next, halt.hostPurpose) else { return nil }
            case .failure(let failure, let message):
                host.works()
                let remaining = left[failure] ?? depot.rules.retries(after: failure)
                guard remaining > 0, depot.rules.retryBudget.take() else {
                    return try await conclude(outcome(of: failure), failure, message)
                }
                left[failure] = remaining - 1
                let pause = depot.rules.pause(beforeAttempt: record.attempt)
                depot.events.emit(.retrying(vehicle, failure, message: message, pause: pause))
                try await note(.queued, durably: false)
                let need: AirtimeNeed = debt?.inBootloader == true ? .bootloader : .next
                guard await rested(pause, need, "the pause before the next attempt") else {
                    return nil
                }
            }
        }
    }

    private var done: Halt {
        guard job.hasUpdates, provenUpdates == 0 else {
            return .verdict(.succeeded, nil, doneSentence)
        }
        let version = record.versionAfter?.description ?? "the target version"
        return .verdict(.alreadyCurrent, nil, "runs \(version) already")
    }

    // MARK: At the end

    /// Does what is to be done whatever happened, and ends the execution with both in mind.
    private func conclude(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) -> Verdict? {
        var left: [FailureClass: Int] = [:]
        var halt: Halt?
        for (offset, step) in job.always.enumerated() {
            // What is owed stays owed where the module must not be touched any more.
            if depot.stop.isFenced {
                halt = .stopped
                break
            }
            // Of what was not so much as begun, nothing is to be undone.
            if case .steps = aim {
            } else {
                guard try await owes(job.key(of: job.steps.count + offset)) else { continue }
            }
            // One that was not heard a moment ago is not searched for all over again.
            if outcome == .unreachable, step.needsModule { continue }
            halt = try await finish(step, job.steps.count + offset, &left)
            if halt != nil { break }
        }
        await hangUp()
        switch halt {
        case nil: return try await end(outcome, failure, message)
        case .stopped?, .paid?:
            try await note(.interrupted, durably: true)
            return nil
        case .journal(let error)?: throw error
        case .host?, .elsewhere?:
            return try await end(
                outcome,
                failure,
                message,
                and: (.deferred, .transient, halt?.hostSentence ?? "")
            )
        case .failure(let kind, let sentence)?:
            let other = self.outcome(of: kind)
            return try await end(outcome, failure, message, and: (other, kind, sentence))
        case .verdict(let other, let kind, let sentence)?:
            return try await end(outcome, failure, message, and: (other, kind, sentence))
        }
    }

    /// Does a step of `always`, again as often as its failures allow; nil when it is done.
    private func finish(
        _ step: JobStep,
        _ index: Int,
        _ left: inout [FailureClass: Int]
    ) async throws(JournalError) -> Halt? {
        while true {
            host.begins(at: time.now)
            do throws(Halt) {
                try await act(step, index)
                return nil
            } catch {
                if error.isHosts, host.waits(at: time.now, by: depot.rules) {
                    await hangUp()
                    if case .host(let fault) = error { depot.air.failed(fault) }
                    guard await rested(.seconds(5), .next, error.hostPurpose) else {
                        return .stopped
                    }
                    continue
                }
                guard case .failure(let failure, let message) = error else { return error }
                let remaining = left[failure] ?? depot.rules.retries(after: failure)
                guard remaining > 0 else { return error }
                left[failure] = remaining - 1
                await hangUp()
                let pause = depot.rules.pause(beforeAttempt: record.attempt)
                depot.events.emit(.retrying(vehicle, failure, message: message, pause: pause))
                await time.sleep(for: pause, "the pause before the next attempt")
                if depot.stop.isRequested { return .stopped }
            }
        }
    }

    /// A fault at the end counts unless there was one before.
    private func end(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String,
        and last: (outcome: Outcome, failure: FailureClass?, message: String)
    ) async throws(JournalError) -> Verdict {
        let isFine = outcome.tally == .ok || outcome.tally == .current
        // What nobody knows weighs more than what is known to have failed.
        let counts = isFine || last.outcome == .inDoubt
        return try await end(
            counts ? last.outcome : outcome,
            counts ? last.failure : failure,
            "\(message); at the end: \(last.message)"
        )
    }

    private var doneSentence: String {
        guard let after = record.versionAfter, provenUpdates > 0 else {
            // Who gave an order to read wants to see what was read.
            let values = seen.map { "\($0.name) is \($0.value)" }
            return "all steps done" + (values.isEmpty ? "" : ": " + values.joined(separator: ", "))
        }
        return "runs \(after), read twice after its restart"
    }

    private func outcome(of failure: FailureClass) -> Outcome {
        switch failure {
        case .unreachable: .unreachable
        case .rejected: .rejected
        case .rolledBack: .rolledBack
        case .inDoubt: .inDoubt
        case .transient, .integrity, .device, .noReturn, .wrongVersion, .internal: .failed
        }
    }

    private func end(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) -> Verdict {
        let owed = try await depot.journal.owed(by: vehicle)
        let claim = claimants.sentence.map { "; \($0)" } ?? ""
        let ending = Closing(outcome, failure, message + claim).owing(debt).owing(owed)
        record.end = ExecutionRecord.End(
            ending.outcome,
            failure: ending.failure,
            message: ending.message,
            at: time.wallTime
        )
        if debt != nil { record.versionAfter = nil }
        debt?.settleDeadline = nil
        record.settleDeadline = nil
        record.nextDeadline = nil
        record.state = .ended
        record.updated = time.wallTime
        let verdict = Verdict(
            outcome: ending.outcome,
            failure: ending.failure,
            message: ending.message,
            versionBefore: record.versionBefore,
            versionAfter: record.versionAfter,
            attempts: record.attempt,
            interruptions: record.interruptions,
            bytesSent: ByteCount(bytes: bytesSent) ?? .zero,
            took: began.duration(to: time.now),
            problems: problems
        )
        let (journal, record, debt) = (depot.journal, record, debt)
        let word = word(
            of: .ended(vehicle, verdict, touched: record.acted, release: job.release)
        )
        let hold = depot.gate(verdict.outcome, verdict.failure, record.acted)
        try await depot.events.emit(.vehicleEnded(vehicle, verdict)) {
            (events) async throws(JournalError) in
            try await journal.record(
                record,
                durably: true,
                debt: debt,
                holding: hold,
                with: events,
                telling: word
            )
        }
        return verdict
    }

    // MARK: Notes

    /// Says where the execution stands, in the journal and to whoever watches.
    func note(
        _ state: ExecutionState,
        durably: Bool,
        detail: String? = nil,
        deadline: (label: String, in: Duration)? = nil
    ) async throws(JournalError) {
        record.state = state
        record.linked = record.linked || state.isReached
        record.updated = time.wallTime
        record.nextDeadline = deadline.map {
            ExecutionRecord.Deadline($0.label, at: time.wallTime.advanced(by: $0.in))
        }
        try await depot.journal.record(record, durably: durably, debt: debt)
        depot.events.emit(
            .stateChanged(vehicle, state, adapter: depot.central.adapter, detail: detail)
        )
    }

    func enter(
        _ state: ExecutionState,
        durably: Bool = false,
        detail: String? = nil,
        deadline: (label: String, in: Duration)? = nil
    ) async throws(Halt) {
        do throws(JournalError) {
            try await note(state, durably: durably, detail: detail, deadline: deadline)
        } catch { throw .journal(error) }
    }

    // MARK: Reaching the module

    /// Hears the module in whichever role it is, within one search.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        // With the same address it may be another program by now, with other services.
        await forgetModule()
        var sighting: ModuleSighting?
        // Who did not take our secret yields to others that bear its serial, where there are any.
        // Its link may have been lost just then, so who has taken it before or since is none of them.
        let suspects = Set(claimants.refused.filter { $0 != claimants.opened })
        let least = min(time.now.duration(to: deadline), ReturnPause.look)
        if !suspects.isSubset(of: impostors) {
            let look = min(deadline, time.now.advanced(by: Self.lookForOthers))
            sighting = try await seek(avoiding: suspects, before: look)
        }
        if sighting == nil {
            // As long as none has taken it, a short look is not spent on others alone.
            let end = max(deadline, time.now.advanced(by: claimants.opened == nil ? least : .zero))
            sighting = try await seek(avoiding: impostors, before: end)
        }
        if let sighting {
            lastSignal = sighting.signal
            debt?.seenRun = depot.run
        }
        if sighting == nil && depot.stop.isRequested { throw .stopped }
        return sighting
    }

    /// How long others are looked for that bear the serial of one that did not take our secret.
    static let lookForOthers = Duration.seconds(5)

    private func seek(
        avoiding avoided: Set<Peer>,
        before deadline: Moment
    ) async throws(Halt) -> ModuleSighting? {
        let stop = depot.stop
        do throws(RadioError) {
            return try await ModuleSeeker(central: depot.central, time: time).seek(
                job.serial,
                by: driver,
                bootloader: (debt?.bootloaderPlace ?? record.bootloaderPlace).map {
                    Peer(handle: $0)
                },
                avoiding: avoided,
                before: deadline,
                unless: { stop.isRequested }
            )
        } catch { throw Halt(error, "while searching") }
    }

    /// A module that another program is connected to is waited for, with the adapter free.
    func connect(to sighting: ModuleSighting) async throws(RadioError) -> any Link {
        met = sighting.peer
        let patience = time.now.advanced(by: depot.rules.heldPatience)
        while true {
            do throws(RadioError) {
                let deadline = time.now.advanced(by: depot.rules.connectTimeout)
                // A bootloader knows the bond of its application at most: it makes none.
                let bond = sighting.role == .application ? job.bond : .unbonded
                return try await depot.central.connect(to: sighting.peer, bond, before: deadline)
            } catch .heldByAnother {
                guard time.now < patience, await waitForHolder() else { throw .heldByAnother }
            }
        }
    }

    /// False when the run is to end.
    private func waitForHolder() async -> Bool {
        depot.events.emit(
            .stateChanged(
                vehicle,
                record.state,
                adapter: depot.central.adapter,
                detail: RadioError.heldByAnother.description
            )
        )
        return await rested(.seconds(5), .next, "another program to end its link")
    }

    func openApplication(on link: any Link) async throws(ModuleError) {
        do throws(ModuleError) {
            let opened = try await driver.application(on: link, time: time)
            application = opened
            record.bootloaderPlace = opened.bootloaderPlace?.handle
            debt?.bootloaderPlace = record.bootloaderPlace
            suspicion[link.peer] = nil
            claimants.opens(link.peer)
        } catch {
            await link.disconnect()
            throw error
        }
    }

    func openReceiver(on link: any Link) async throws(ModuleError) {
        do throws(ModuleError) {
            receiver = try await driver.receiver(on: link, time: time)
        } catch {
            await link.disconnect()
            throw error
        }
    }

    /// Who takes an image on the open link: a bootloader, or the application itself.
    var anyReceiver: (any ImageReceiver)? { receiver ?? application?.receiver }

    /// Ends our side of the link, whichever it is.
    func hangUp() async {
        await application?.disconnect()
        await receiver?.disconnect()
        heard = nil
        forgetLink()
    }

    var hasLink: Bool { application != nil || receiver != nil }

    func forgetLink() { (application, receiver) = (nil, nil) }

    /// Has the host drop what it keeps about the module, which would pile up else.
    private func forgetModule() async {
        guard let peer = met else { return }
        met = nil
        await depot.central.forget(peer)
    }

    /// From now on the module is opened by another secret.
    func opens(by opener: ModuleOpener, of profile: Profile) {
        driver = opener.driver(profile)
        (isRefused, suspicion, impostors) = (false, [:], [])
        claimants = Claimants(serial: job.serial)
    }

    /// A module that refuses our secret twice is not asked a third time.
    func halt(after error: ModuleError, _ doing: String) -> Halt {
        let peer = met ?? Peer(handle: "")
        if error.secret != nil { claimants.refuses(peer) }
        guard suspicion[peer, default: SecretSuspicion()].failed(error.secret) == .wrongKey else {
            return Halt(error, doing)
        }
        impostors.insert(peer)
        isRefused = true
        return .verdict(
            .rejected,
            .rejected,
            "the module refuses our secret; check the vehicle's `secret` in the fleet"
        )
    }
}
