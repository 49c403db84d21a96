import Base
import Families
import Radio
import Store

/// One rollout on one vehicle, from the first search to the verdict.
final class Execution {
    let job: VehicleJob
    let depot: Depot
    /// Its number among the vehicles that the run has begun.
    private let position: () -> Int
    var record: ExecutionRecord
    /// Image bytes sent in this run, repeats included.
    var bytesSent: Int
    /// Updates of this execution that are proven.
    var provenUpdates = 0
    /// The last value that steps reported for each name.
    var seen: [Fact] = []
    /// Whether the module's hardware and versions were reported in this run.
    var hasLooked = false
    /// How its module is opened: changes with the module's secret.
    var driver: any UpdateDriver
    /// Whether the module refused all known secrets.
    var isRefused = false
    /// Whether a link ended in a way that may be a refusal.
    var isSuspected = false
    /// The owner of the link to its module.
    let link: VehicleLink
    /// The signal strength of the last sighting, in dBm.
    var lastSignal: Int?
    /// The last sighting of the module, when there was no link to it since.
    var heard: ModuleSighting?
    /// Preconditions that did not hold, the last of each.
    var problems: [Problem] = []
    var host = HostPatience()
    /// Whether a link of this attempt broke, or was refused, beside too many others of its adapter.
    var isCrowded = false
    /// Whether the adapter knows that the last link was lost, or not made.
    var hasShownLoss = false
    /// Attempts that were not counted because of that: so that a vehicle whose links always break
    /// comes to an end, there are a few at most.
    private var sparedAttempts = 0
    private static let mostSpared = 3
    let began: Moment
    /// When an earlier run last saw the module in its bootloader, if it has left it there.
    let stoodInBootloader: WallTime?
    /// The unproven update of the module, from any rollout.
    var debt: Debt?
    /// The debt as it stands in the journal.
    var keptDebt: Debt?
    /// A payment that is written with the verdict.
    var payment: Payment?
    /// The right to the module, until it is given back.
    var lease: Lease?
    /// What to do after everything owed to the module is done.
    private(set) var aim: Aim
    /// Why it was not begun now; nil when it was.
    private(set) var waits: Waiting?
    /// Attempts that failed on the radio before, on any machine.
    private var failures = 0
    /// The verdict of another machine, if there is one.
    private(set) var settled: FleetEnd?
    /// The verdict of this machine alone, when other machines also decide how the vehicle ends.
    private(set) var left: Closing?

    /// Whether anything of the step under way may have left this machine; a step that connects by itself says so.
    var hasSent = true

    /// What an execution does besides owed work.
    enum Aim {
        case steps
        /// Nothing: it ends with this verdict.
        case verdict(Closing)
        /// Nothing, and it gets no verdict yet: the rollout is held.
        case none
    }

    /// Continues or begins an execution to which the journal has given a number.
    ///
    /// `bytesSent` are those of this run's earlier work on the vehicle.
    init(
        _ job: VehicleJob,
        in depot: Depot,
        position: @escaping () -> Int,
        record: ExecutionRecord,
        bytesSent: Int,
        aim: Aim = .steps
    ) {
        self.bytesSent = bytesSent
        self.aim = aim
        self.job = job
        driver = job.driver
        self.depot = depot
        self.position = position
        began = depot.time.now
        link = VehicleLink(
            to: job.serial,
            depot.central,
            depot.time,
            bond: job.bond,
            connectingFor: depot.rules.connectTimeout
        )
        stoodInBootloader =
            record.inBootloader && record.run != depot.run ? record.updated : nil
        var record = record
        record.belongs(to: depot.run)
        record.attempt = 0
        record.nextDeadline = nil
        if record.end != nil {
            // It is checked once more.
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

    /// Carries the execution out; returns its verdict, or nil when the run was stopped at a safe
    /// point before there was one.
    func run() async throws(JournalError) -> Verdict? {
        var isPaying = true
        if case .steps = aim { isPaying = false }
        let claim = try await depot.coordinator.claim(
            job.serial,
            for: vehicle,
            paying: isPaying,
            nearness: isPaying ? nil : depot.air.nearness,
            at: time.wallTime,
            unless: depot.stop
        )
        // The claim brings what other gateways began on it. The debt counts even for an execution that
        // may not touch the module.
        debt = try await depot.journal.debt(of: job.serial)
        keptDebt = debt
        // What another gateway has begun in this beginning counts at the gate, however this one settles it.
        if let debt, debt.execution == record.number { record.acted = true }
        switch claim {
        case .held(let holder):
            // No other machine can decide soon how it ends, so this one does not wait for them.
            let words = "\(holder) has the right to touch this module; a later run tries again"
            await depot.coordinator.leave(
                [LeftVehicle(record.vehicle, .deferred, .transient, words)]
            )
            return try await end(.deferred, .transient, words)
        case .unknown(let reason):
            // A run that ends gives no verdict to vehicles that it has not begun.
            if depot.stop.isRequested, !depot.stop.isRequestedAlone { return nil }
            return try await leave(.deferred, .transient, "\(reason); a later run tries again")
        case .stopped(let hold):
            // A hold that is lifted immediately does not end the run.
            if depot.coordinator.isShared { waits = .other(hold.reason) }
            return nil
        case .inhibited(let inhibit): return try await leave(.deferred, nil, inhibit.sentence)
        case .quarantined(let sentence): return try await leave(.failed, nil, sentence)
        case .later(let reason):
            waits = reason
            return nil
        case .settled(let end):
            settled = end
            return nil
        case .granted(let lease): return try await work(under: lease)
        }
    }

    private func work(under lease: Lease) async throws(JournalError) -> Verdict? {
        self.lease = lease
        failures = lease.failures
        if let doubt = try await depot.journal.doubts(of: vehicle).first, !job.onlyReads {
            // Nothing is done on a vehicle with a step in doubt.
            aim = .verdict(job.closing(inDoubt: doubt))
        }
        var verdict = try await attempts()
        if verdict == nil, depot.stop.isRequestedAlone {
            // Its airtime is used up; the steps of `always` are done anyway.
            depot.stop.reset()
            await depot.air.take(for: .next)
            verdict = try await conclude(.timedOut, nil, airtimeSentence)
        }
        await link.forget()
        if verdict == nil, depot.stop.isFenced {
            verdict = try await end(.deferred, .transient, Self.fencedSentence)
        }
        if payment != nil { try await save(durably: true, intending: nil) }
        // A local right went back in the transaction of the verdict, if there is one.
        if self.lease != nil { try await depot.coordinator.release(lease, with: verdict) }
        return verdict
    }

    /// Ends the execution without a right: with a verdict, or when several machines go through the waves
    /// together, by leaving the vehicle to the others.
    private func leave(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) -> Verdict? {
        guard depot.coordinator.wave != nil else {
            return try await end(outcome, failure, message)
        }
        left = Closing(outcome, failure, message)
        return nil
    }

    private static let fencedSentence =
        "the right to its module could not be kept; the next run goes on where it stands"

    private var airtimeSentence: String {
        let limit = depot.airtime.map { " of \($0.brief)" } ?? ""
        return "used up its airtime\(limit); the next run goes on where it stands"
    }

    private func attempts() async throws(JournalError) -> Verdict? {
        let transient = depot.rules.retries(after: .transient)
        var left: [FailureClass: Int] = [.transient: max(0, transient - failures)]
        while true {
            record.attempt += 1
            host.begins(at: time.now)
            isCrowded = false
            depot.events.emit(
                .attemptStarted(
                    vehicle,
                    serial: job.serial,
                    attempt: record.attempt,
                    position: position()
                )
            )
            let halt = await halted()
            if depot.stop.isFenced, !halt.isFinal {
                // Whatever the failure was, the attempt was interrupted, and nothing more may be
                // done on the module.
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
                // An adapter that is missing, or has too many links, costs time, not attempts.
                record.attempt -= 1
                guard host.waits(at: time.now, by: depot.rules) else {
                    return try await end(
                        .deferred,
                        .transient,
                        "\(halt.hostSentence); the next run tries again"
                    )
                }
                guard await rested(after: halt) else { return nil }
            case .failure(let failure, let message):
                host.works()
                let remaining = left[failure] ?? depot.rules.retries(after: failure)
                if try await isLeft(after: failure, message, isLast: remaining == 0) { return nil }
                guard remaining > 0, depot.rules.retryBudget.take() else {
                    return try await conclude(outcome(of: failure), failure, message)
                }
                left[failure] = remaining - 1
                guard try await paused(after: failure, message) else { return nil }
            }
        }
    }

    /// Pauses before the next attempt; false when the run was stopped meanwhile.
    private func paused(
        after failure: FailureClass,
        _ message: String
    ) async throws(JournalError) -> Bool {
        let pause = depot.rules.pause(beforeAttempt: record.attempt)
        depot.events.emit(.retrying(vehicle, failure, message: message, pause: pause))
        try await note(.queued, durably: false)
        let need: AirtimeNeed = debt?.inBootloader == true ? .bootloader : .next
        return await rested(pause, need, "the pause before the next attempt")
    }

    /// Attempts once, and returns why that ended.
    private func halted() async -> Halt {
        do throws(Halt) {
            try await attempt()
            switch aim {
            case .steps: return done
            case .verdict(let closing): return ending(closing)
            case .none: return .paid
            }
        } catch .failure(.transient, _) where isCrowded && sparedAttempts < Self.mostSpared {
            sparedAttempts += 1
            // The radio works, and the wait for a turn is no fault of it: what is spared is counted.
            host.works()
            return .host(.noFreeLink)
        } catch { return error }
    }

    /// Whether another machine tries next: it hears the module, and the radio failed here.
    ///
    /// The attempts of all machines are counted together.
    private func isLeft(
        after failure: FailureClass,
        _ message: String,
        isLast: Bool
    ) async throws(JournalError) -> Bool {
        guard case .steps = aim, !depot.stop.isRequested else { return false }
        let isLost: Bool
        switch failure {
        case .transient: isLost = false
        case .unreachable: isLost = true
        case .rejected, .integrity, .device, .noReturn, .wrongVersion, .rolledBack, .inDoubt,
            .internal:
            return false
        }
        guard isLost || !isLast,
            let other = await depot.coordinator.failed(
                on: job.serial,
                of: vehicle,
                signal: lastSignal,
                isLost: isLost
            )
        else { return false }
        let sentence = "\(message); \(other) hears it and tries next"
        depot.events.emit(.retrying(vehicle, failure, message: sentence, pause: .zero))
        try await note(.queued, durably: true)
        waits =
            isLost
            ? .lost(sentence, Parking.pause) : .nearer(sentence, Parking.pause)
        return true
    }

    /// The end of an execution that does nothing but owed work: an aborted rollout may have brought
    /// its update to its end.
    private func ending(_ closing: Closing) -> Halt {
        guard closing.outcome == .aborted, provenUpdates > 0 else {
            return .verdict(closing.outcome, closing.failure, closing.message)
        }
        let updates = job.steps.count {
            if case .update = $0 { true } else { false }
        }
        let others = job.steps.contains {
            switch $0 {
            case .update, .require: false
            case .read, .expect, .wait, .set, .feature, .command, .rotate: true
            }
        }
        return provenUpdates == updates && !others
            ? done : .verdict(.aborted, nil, "\(closing.message); \(doneSentence)")
    }

    private var done: Halt {
        guard job.hasUpdates, provenUpdates == 0 else {
            return .verdict(.succeeded, nil, doneSentence)
        }
        let version = record.versionAfter?.description ?? "the target version"
        return .verdict(.alreadyCurrent, nil, "runs \(version) already")
    }
}
