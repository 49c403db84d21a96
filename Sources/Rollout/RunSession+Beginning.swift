import Base
import Store

// Verdicts on vehicles before anything is begun.

extension RunSession {
    /// Gives vehicles that are inhibited, in quarantine, or excluded by their labels in the fleet
    /// list their verdict before anything is begun.
    func leaveAlone() async throws(JournalError) {
        var releases: [VehicleID: SHA256Digest] = [:]
        for job in run.jobs { releases[job.vehicle] = job.release }
        let left = try await depot.coordinator.leftAlone(
            releases,
            quarantineAfter: run.schedule.quarantineAfter,
            at: depot.time.wallTime
        )
        var whole: Inhibit?
        var single: [VehicleID: Inhibit] = [:]
        for inhibit in left.inhibits {
            if let vehicle = inhibit.vehicle { single[vehicle] = inhibit } else { whole = inhibit }
        }
        for (index, job) in run.jobs.enumerated() {
            if progress.refusal != nil {
                // Vehicles to which nothing is owed stay unchanged.
                if !progress.indebted.contains(index) { skip(index, .skipped) }
                continue
            }
            let touched = progress.executions[index].acted
            func close(
                _ closing: Closing,
                _ problems: [Problem] = []
            ) async throws(JournalError) {
                guard let verdict = try await self.close(index, closing, problems) else { return }
                skip(index, verdict.outcome, verdict.failure, touched: touched)
            }
            if let kept = keep(index) {
                if progress.outcome(of: index) != kept.outcome {
                    try await close(kept)
                } else if try await !leave(index, kept) {
                    skip(index, kept.outcome, touched: touched)
                }
            } else if let inhibit = single[job.vehicle] ?? whole {
                try await close(Closing(.deferred, nil, inhibit.sentence))
            } else if let closing = job.exchanged {
                // What was begun on that device is settled there.
                guard !progress.indebted.contains(index) else { continue }
                try await close(closing)
            } else if let count = left.quarantined[job.vehicle] {
                let sentence =
                    "in quarantine after \(count.count) failures, the last: \(count.message); "
                    + "fix it and say `clear \(job.vehicle)`"
                guard !progress.indebted.contains(index) else {
                    // An update that was begun on it is settled anyway.
                    progress.quarantines(index, Closing(.failed, nil, sentence))
                    continue
                }
                try await close(Closing(.failed, nil, sentence))
            } else if let (problem, otherwise) = job.steps.problemAhead,
                let ending = otherwise.ending,
                // An update that was begun is finished, even if its labels have changed since.
                !progress.indebted.contains(index)
            {
                depot.events.emit(.problem(job.vehicle, problem))
                try await close(
                    Closing(ending.outcome, ending.failure, problem.sentence),
                    [problem]
                )
            }
        }
    }

    /// The verdict that a vehicle keeps, so that nothing is done on it; nil for all others.
    private func keep(_ index: Int) -> Closing? {
        let job = run.jobs[index]
        guard !progress.indebted.contains(index) else { return nil }
        if progress.doubtful.contains(index), !job.onlyReads {
            return Closing(.inDoubt, .inDoubt, "")
        }
        guard let outcome = progress.outcome(of: index), !job.hasUpdates else { return nil }
        switch outcome {
        case .succeeded, .alreadyCurrent:
            return Closing(outcome, nil, progress.executions[index].end?.message ?? "")
        case .failed, .rolledBack, .rejected, .unreachable, .deferred, .skipped, .timedOut,
            .aborted, .inDoubt:
            return nil
        }
    }
}
