import Base
import Radio
import Store

/// The end of an execution: the steps of `always`, and the records in the journal and the reports.
extension Execution {
    /// Does the steps of `always`, and ends the execution with both results.
    func conclude(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) -> Verdict? {
        var left: [FailureClass: Int] = [:]
        var halt: Halt?
        for (offset, step) in job.always.enumerated() {
            // Owed steps stay owed when the module may not be touched any more.
            if depot.stop.isFenced {
                halt = .stopped
                break
            }
            // When nothing was begun, only owed steps are done.
            if case .steps = aim {
            } else {
                guard try await owes(job.key(of: job.steps.count + offset)) else { continue }
            }
            // A module that was just not heard is not searched for again.
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

    /// Does a step of `always`, and repeats it as often as its failures allow; nil when it is done.
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
                    guard await rested(after: error) else { return .stopped }
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

    /// Ends the execution; a failure of `always` counts unless there was one before.
    private func end(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String,
        and last: (outcome: Outcome, failure: FailureClass?, message: String)
    ) async throws(JournalError) -> Verdict {
        let isFine = outcome.tally == .ok || outcome.tally == .current
        // A doubt weighs more than a known failure.
        let counts = isFine || last.outcome == .inDoubt
        return try await end(
            counts ? last.outcome : outcome,
            counts ? last.failure : failure,
            "\(message); at the end: \(last.message)"
        )
    }

    var doneSentence: String {
        guard let after = record.versionAfter, provenUpdates > 0 else {
            // A person who ordered values to be read wants to see them.
            let values = seen.map { "\($0.name) is \($0.value)" }
            return "all steps done" + (values.isEmpty ? "" : ": " + values.joined(separator: ", "))
        }
        return "runs \(after), read twice after its restart"
    }

    func outcome(of failure: FailureClass) -> Outcome {
        switch failure {
        case .unreachable: .unreachable
        case .rejected: .rejected
        case .rolledBack: .rolledBack
        case .inDoubt: .inDoubt
        case .transient, .integrity, .device, .noReturn, .wrongVersion, .internal: .failed
        }
    }

    func end(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ message: String
    ) async throws(JournalError) -> Verdict {
        let owed = try await depot.journal.owed(by: vehicle)
        let claim = link.claims.map { "; \($0)" } ?? ""
        // The vehicle may have got a module that owes an update since its rollout was begun.
        var due = debt
        if due == nil { due = try await depot.journal.debt(in: vehicle, besides: job.serial) }
        let ending = Closing(outcome, failure, message + claim).owing(due).owing(owed)
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
        let (journal, record, debt, payment) = (depot.journal, record, debt, payment)
        let lease = lease.flatMap { depot.coordinator.record(of: $0) }
        var baggage = VerdictBaggage(
            holding: depot.gate(verdict.outcome, verdict.failure, record.acted),
            telling: word(
                of: .ended(vehicle, verdict, touched: record.acted, release: job.release)
            ),
            measure: depot.measure(verdict),
            releasing: lease
        )
        try await depot.events.emit(.vehicleEnded(vehicle, verdict)) {
            (events) async throws(JournalError) in
            baggage.events = events
            try await journal.record(
                record,
                durably: true,
                debt: debt,
                paying: payment,
                with: baggage
            )
        }
        self.payment = nil
        if lease != nil { self.lease = nil }
        return verdict
    }
}
