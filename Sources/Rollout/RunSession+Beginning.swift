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
            } else {
                try await leaveAlone(
                    index,
                    single[job.vehicle] ?? whole,
                    left.recall(of: job),
                    left.quarantined[job.vehicle]
                )
            }
        }
    }

    private func leaveAlone(
        _ index: Int,
        _ inhibit: Inhibit?,
        _ recall: Recall?,
        _ failures: (count: Int, message: String)?
    ) async throws(JournalError) {
        let job = run.jobs[index]
        let isIndebted = progress.indebted.contains(index)
        let touched = progress.executions[index].acted
        if let kept = keep(index, isRecalled: recall != nil) {
            if progress.outcome(of: index) != kept.outcome {
                try await close(index, alone: kept)
            } else if try await !leave(index, kept) {
                skip(index, kept.outcome, touched: touched)
            }
        } else if let inhibit {
            try await close(index, alone: Closing(.deferred, nil, inhibit.sentence))
        } else if let recall, !isIndebted {
            // What was begun is finished, as under an abort.
            try await close(index, alone: Closing(.rejected, .rejected, recall.sentence))
        } else if let closing = job.exchanged {
            // What was begun on that device is settled there.
            if !isIndebted { try await close(index, alone: closing) }
        } else if let failures {
            let closing = Closing(
                .failed,
                nil,
                "in quarantine after \(failures.count) failures, the last: \(failures.message); "
                    + "fix it and say `clear \(job.vehicle)`"
            )
            // An update that was begun on it is settled anyway.
            guard !isIndebted else { return progress.quarantines(index, closing) }
            try await close(index, alone: closing)
        } else if let (problem, otherwise) = job.steps.problemAhead,
            let ending = otherwise.ending,
            // An update that was begun is finished, even if its labels have changed since.
            !isIndebted
        {
            depot.events.emit(.problem(job.vehicle, problem))
            try await close(
                index,
                alone: Closing(ending.outcome, ending.failure, problem.sentence),
                [problem]
            )
        }
    }

    private func close(
        _ index: Int,
        alone closing: Closing,
        _ problems: [Problem] = []
    ) async throws(JournalError) {
        let touched = progress.executions[index].acted
        guard let verdict = try await close(index, closing, problems) else { return }
        skip(index, verdict.outcome, verdict.failure, touched: touched)
    }

    /// The verdict that a vehicle keeps, so that nothing is done on it; nil for all others.
    private func keep(_ index: Int, isRecalled: Bool) -> Closing? {
        let job = run.jobs[index]
        guard !progress.indebted.contains(index) else { return nil }
        if progress.doubtful.contains(index), !job.onlyReads {
            return Closing(.inDoubt, .inDoubt, "")
        }
        guard let outcome = progress.outcome(of: index), !job.hasUpdates || isRecalled else {
            return nil
        }
        switch outcome {
        case .succeeded, .alreadyCurrent:
            return Closing(outcome, nil, progress.executions[index].end?.message ?? "")
        case .failed, .rolledBack, .rejected, .unreachable, .deferred, .skipped, .timedOut,
            .aborted, .inDoubt:
            return nil
        }
    }
}

extension LeftAlone {
    /// The recall of an image that the job installs, if there is one.
    fileprivate func recall(of job: VehicleJob) -> Recall? {
        guard !recalls.isEmpty else { return nil }
        for case .update(let update) in job.steps {
            if let recall = recalls.first(where: { $0.image == update.digest }) { return recall }
        }
        return nil
    }
}
