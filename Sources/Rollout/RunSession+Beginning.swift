import Domain
import Journal
import Reports

// What is known of vehicles before anything is begun.

extension RunSession {
    /// Vehicles that are inhibited, in quarantine, or ruled out by what the fleet list says of them
    /// have their verdict before anything is begun.
    func leaveAlone() async throws(JournalError) {
        let inhibits = try await depot.journal.inhibits(at: depot.time.wallTime)
        var whole: Inhibit?
        var single: [VehicleID: Inhibit] = [:]
        for inhibit in inhibits {
            if let vehicle = inhibit.vehicle { single[vehicle] = inhibit } else { whole = inhibit }
        }
        var quarantined: [VehicleID: [FailureCount]] = [:]
        if let limit = run.schedule.quarantineAfter {
            for count in try await depot.journal.failures(atLeast: limit) {
                quarantined[count.vehicle, default: []].append(count)
            }
        }
        for (index, job) in run.jobs.enumerated() {
            if progress.refusal != nil {
                // Those that nothing is owed to stay as they are.
                if !progress.indebted.contains(index) { skip(index, .skipped) }
                continue
            }
            let touched = progress.executions[index].acted
            if let kept = try await keep(index) {
                skip(index, kept, touched: touched)
            } else if let inhibit = single[job.vehicle] ?? whole {
                let verdict = try await conclude(index, .deferred, nil, inhibit.sentence)
                skip(index, verdict.outcome, verdict.failure, touched: touched)
            } else if let count = quarantined[job.vehicle]?.first(where: {
                $0.release == job.release
            }) {
                let sentence =
                    "in quarantine after \(count.count) failures, the last: \(count.message); "
                    + "fix it and say 'yardmaster clear \(job.vehicle)'"
                guard !progress.indebted.contains(index) else {
                    // What was begun on it is brought to rest all the same.
                    progress.quarantines(index, Closing(.failed, nil, sentence))
                    continue
                }
                let verdict = try await conclude(index, .failed, nil, sentence)
                skip(index, verdict.outcome, verdict.failure, touched: touched)
            } else if let (problem, otherwise) = job.steps.problemAhead,
                let ending = otherwise.ending,
                // What was begun is finished, whatever is said of the vehicle since.
                !progress.indebted.contains(index)
            {
                depot.events.emit(.problem(job.vehicle, problem))
                let verdict = try await conclude(
                    index,
                    ending.outcome,
                    ending.failure,
                    problem.sentence,
                    [problem]
                )
                skip(index, verdict.outcome, verdict.failure, touched: touched)
            }
        }
    }

    /// The verdict that a vehicle keeps, so that nothing is done on it; nil for all others.
    private func keep(_ index: Int) async throws(JournalError) -> Outcome? {
        let job = run.jobs[index]
        guard !progress.indebted.contains(index) else { return nil }
        if progress.doubtful.contains(index), !job.onlyReads {
            if progress.outcome(of: index) == .inDoubt { return .inDoubt }
            return try await conclude(index, .inDoubt, .inDoubt, "").outcome
        }
        guard let outcome = progress.outcome(of: index), !job.hasUpdates else { return nil }
        switch outcome {
        case .succeeded, .alreadyCurrent: return outcome
        case .failed, .rolledBack, .rejected, .unreachable, .deferred, .skipped, .timedOut,
            .aborted, .inDoubt:
            return nil
        }
    }
}
