package import Domain
package import Journal
import Modules
package import Radio
import Reports
import Sessions

/// What an execution needs from around it.
package struct Depot: Sendable {
    package let rollout: String
    package let run: Int
    /// The adapter: an execution asks for it and gives it back.
    package let air: any Airtime
    package let time: any Timekeeper
    package let journal: Journal
    package let events: EventStream
    package let stop: StopSignal
    package let rules: RolloutRules

    package var central: any Central { air.central }

    package init(
        rollout: String,
        run: Int,
        air: any Airtime,
        time: any Timekeeper,
        journal: Journal,
        events: EventStream,
        stop: StopSignal,
        rules: RolloutRules
    ) {
        self.rollout = rollout
        self.run = run
        self.air = air
        self.time = time
        self.journal = journal
        self.events = events
        self.stop = stop
        self.rules = rules
    }

    /// The same for one execution, with its own turns and its own signal to stop.
    func with(air: any Airtime, stop: StopSignal) -> Depot {
        Depot(
            rollout: rollout,
            run: run,
            air: air,
            time: time,
            journal: journal,
            events: events,
            stop: stop,
            rules: rules
        )
    }
}

extension Depot {
    /// A depot with one adapter.
    package init(
        rollout: String,
        run: Int,
        central: any Central,
        time: any Timekeeper,
        journal: Journal,
        events: EventStream,
        stop: StopSignal,
        rules: RolloutRules
    ) {
        self.init(
            rollout: rollout,
            run: run,
            air: SoleAirtime(central),
            time: time,
            journal: journal,
            events: events,
            stop: stop,
            rules: rules
        )
    }
}

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
    private var suspicion = SecretSuspicion()
    private let began: Moment

    /// Takes up `earlier` when it ended without a verdict.
    init(_ job: VehicleJob, in depot: Depot, position: Int, earlier: ExecutionRecord?) {
        self.job = job
        self.depot = depot
        self.position = position
        began = depot.time.now
        var record = ExecutionRecord(
            rollout: depot.rollout,
            vehicle: job.vehicle,
            serial: job.serial,
            run: depot.run,
            started: depot.time.wallTime
        )
        if let earlier, earlier.serial == job.serial, earlier.end == nil || earlier.inBootloader {
            record.image = earlier.image
            record.totalBytes = earlier.totalBytes
            record.acknowledged = earlier.acknowledged
            record.settleDeadline = earlier.settleDeadline
            record.inBootloader = earlier.inBootloader
            record.restarts = earlier.restarts
            record.interruptions = earlier.interruptions
            record.versionBefore = earlier.versionBefore
        }
        self.record = record
    }

    var vehicle: VehicleID { job.vehicle }
    var time: any Timekeeper { depot.time }

    /// The verdict, or nil when the run was stopped at a safe point before there was one.
    func run() async throws(JournalError) -> Verdict? {
        var left: [FailureClass: Int] = [:]
        var hostSince: Moment?
        while true {
            record.attempt += 1
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
                let done = provenUpdates > 0
                halt =
                    done || !hasUpdates
                    ? .verdict(.succeeded, nil, doneSentence)
                    : .verdict(
                        .alreadyCurrent,
                        nil,
                        "runs \(record.versionAfter?.description ?? "the target version") already"
                    )
            } catch {
                halt = error
            }
            switch halt {
            case .verdict(let outcome, let failure, let message):
                return try await end(outcome, failure, message)
            case .stopped:
                try await note(.interrupted, durably: true)
                return nil
            case .journal(let error):
                throw error
            case .host(let error):
                // The adapter's absence costs time, not attempts.
                record.attempt -= 1
                let since = hostSince ?? time.now
                hostSince = since
                guard since.duration(to: time.now) < depot.rules.hostPatience else {
                    return try await end(
                        .deferred,
                        .transient,
                        "\(error); the next run tries again"
                    )
                }
                depot.air.failed(error)
                guard await rested(.seconds(5), .next, "the host's radio to come back") else {
                    return nil
                }
            case .failure(let failure, let message):
                hostSince = nil
                let remaining = left[failure] ?? depot.rules.retries(after: failure)
                guard remaining > 0, depot.rules.retryBudget.take() else {
                    return try await end(outcome(of: failure), failure, message)
                }
                left[failure] = remaining - 1
                let pause = depot.rules.pause(beforeAttempt: record.attempt)
                depot.events.emit(.retrying(vehicle, failure, message: message, pause: pause))
                try await note(.queued, durably: false)
                let need: AirtimeNeed = record.inBootloader ? .bootloader : .next
                guard await rested(pause, need, "the pause before the next attempt") else {
                    return nil
                }
            }
        }
    }

    private var hasUpdates: Bool {
        job.steps.contains { step in
            if case .update = step { return true }
            return false
        }
    }

    private var doneSentence: String {
        guard let after = record.versionAfter, provenUpdates > 0 else { return "all steps done" }
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
        var message = message
        if record.inBootloader {
            message += "; it stands in its bootloader, and the next run goes on there"
        }
        record.end = ExecutionRecord.End(
            outcome,
            failure: failure,
            message: message,
            at: time.wallTime
        )
        record.settleDeadline = nil
        record.nextDeadline = nil
        try await note(.ended, durably: true)
        let verdict = Verdict(
            outcome: outcome,
            failure: failure,
            message: message,
            versionBefore: record.versionBefore,
            versionAfter: record.versionAfter,
            attempts: record.attempt,
            interruptions: record.interruptions,
            bytesSent: ByteCount(bytes: bytesSent) ?? .zero,
            took: began.duration(to: time.now)
        )
        depot.events.emit(.vehicleEnded(vehicle, verdict))
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
        record.updated = time.wallTime
        record.nextDeadline = deadline.map {
            ExecutionRecord.Deadline($0.label, at: time.wallTime.advanced(by: $0.in))
        }
        try await depot.journal.record(record, durably: durably)
        guard state != .ended else { return }
        depot.events.emit(.stateChanged(vehicle, state, detail: detail))
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
    func seek(for limit: Duration) async throws(Halt) -> ModuleSighting? {
        let stop = depot.stop
        let sighting: ModuleSighting?
        do throws(RadioError) {
            sighting = try await ModuleSeeker(central: depot.central, time: time).seek(
                job.serial,
                before: time.now.advanced(by: limit),
                unless: { stop.isRequested }
            )
        } catch { throw Halt(error, "while searching") }
        if sighting == nil && stop.isRequested { throw .stopped }
        return sighting
    }

    func connect(to sighting: ModuleSighting) async throws(Halt) -> any Link {
        let deadline = time.now.advanced(by: depot.rules.connectTimeout)
        do throws(RadioError) {
            return try await depot.central.connect(to: sighting.peer, before: deadline)
        } catch { throw Halt(error, "while connecting") }
    }

    func authenticate(_ link: any Link) async throws(Halt) -> ComoduleClient {
        let client = ComoduleClient(link: link, time: time)
        do throws(ModuleError) {
            try await client.authenticate(job.key)
            suspicion.authenticated()
            return client
        } catch {
            await client.disconnect()
            guard case .authentication(let failure) = error else {
                throw Halt(error, "while authenticating")
            }
            guard suspicion.failed(failure) == .wrongKey else {
                throw Halt(error, "while authenticating")
            }
            throw .verdict(
                .rejected,
                .rejected,
                "the module refuses our secret; check the vehicle's `secret` in the fleet"
            )
        }
    }
}
