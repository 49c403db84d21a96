import Base
import Store

/// What the journal has for a run under way: holds, inhibitions, requests of people.
extension RunSession {
    func askJournal() async {
        guard run.schedule.plan != nil else { return }
        do throws(JournalError) {
            // For readers of the journal.
            try await depot.events.save(in: depot.journal)
            let (vehicles, counts) = shared?.ask(run.jobs) ?? ([], false)
            try await depot.coordinator.follow(waitingFor: vehicles, counts: counts)
            if progress.refusal == nil { try await lookAround() }
            if progress.refusal == nil, let hold = try await depot.journal.hold(on: depot.rollout) {
                obey(hold)
            }
            for open in try await depot.journal.openRequests(for: depot.rollout) {
                let answer = try await takeUp(open.request)
                try await depot.journal.answer(open, answer, at: depot.time.wallTime)
                notice(.request, "\(open.request.kind.rawValue): \(answer)")
            }
        } catch { fail(error) }
    }

    /// A person or a gate has paused or aborted the rollout: nothing is begun from then on.
    private func obey(_ hold: Hold) {
        let ending: RunEnding =
            switch hold.kind {
            case .paused: .paused(hold.reason)
            case .aborted, .recalled: .aborted(hold.reason)
            }
        progress.obeys(hold)
        shell.with { $0.actions += $0.scheduler.drain(ending) }
    }

    private func takeUp(_ request: ControlRequest) async throws(JournalError) -> String {
        switch request.kind {
        case .yield:
            shell.with { $0.actions += $0.scheduler.drain(.replaced) }
            halt.request()
            return "ends at the next safe point"
        case .retry:
            let count = try await again(request.vehicles)
            let mayBegin = shell.with { $0.scheduler.ending == nil }
            return "\(counted(count, "vehicle")) \(count == 1 ? "is" : "are") taken again"
                + (mayBegin ? "" : " by the next run")
        }
    }

    /// Tries vehicles again whose verdict was removed, and only those.
    private func again(_ vehicles: [VehicleID]) async throws(JournalError) -> Int {
        if let shared { return try await lookAgain(at: vehicles, shared) }
        let named = Set(vehicles)
        var count = 0
        for (index, job) in run.jobs.enumerated()
        where named.contains(job.vehicle) && progress.outcome(of: index) != nil {
            let record = try await progress.execution(of: index)
            guard record.end == nil else { continue }
            let debt = try await depot.journal.debt(of: job.serial)
            progress.taken(again: index)
            shell.with {
                $0.scheduler.again(index, attempts: record.attempt, isOpen: debt != nil)
            }
            count += 1
        }
        return count
    }
}
