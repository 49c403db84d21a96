import Domain
import Journal

/// What `always` still owes the vehicle, by this execution and by those before it.
extension Execution {
    /// The steps of `always` as they are owed from the first act on.
    var always: [OwedStep] {
        job.always.enumerated().compactMap { offset, step in
            guard step.changes else { return nil }
            return OwedStep(job.key(of: job.steps.count + offset), step.action, of: record)
        }
    }

    /// What an intent has the execution owe from then on: all of `always`, or from one of its own
    /// steps on what comes after it; nothing when it is done for another execution.
    func owes(by intent: Intent) -> [OwedStep] {
        guard intent.execution == record.number else { return [] }
        let steps = always
        guard let place = steps.firstIndex(where: { $0.step == intent.step }) else { return steps }
        return Array(steps[place...])
    }

    func owes(_ key: StepKey) async throws(JournalError) -> Bool {
        try await depot.journal.owed(by: vehicle).contains {
            $0.execution == record.number && $0.step == key
        }
    }

    func owes(_ step: OwedStep) async throws(JournalError) -> Bool {
        try await depot.journal.owed(by: vehicle).contains {
            $0.execution == step.execution && $0.step == step.step
        }
    }

    /// Does what other executions of the vehicle still owe it, before anything else.
    ///
    /// What this one owes is done at its end, as always; where it does nothing but pay, now.
    func doOwed() async throws(Halt) {
        let owed: [OwedStep]
        do throws(JournalError) {
            owed = try await depot.journal.owed(by: vehicle)
        } catch { throw .journal(error) }
        for step in owed where step.execution != record.number {
            guard let job = self.job.step(of: step) ?? depot.step(vehicle, step.action) else {
                throw .verdict(
                    .failed,
                    .device,
                    "`\(step.action)` of the rollout \(step.rollout) cannot be done by this one; "
                        + "run that rollout, or say 'yardmaster clear \(vehicle)' after a look"
                )
            }
            try await act(job, as: step)
        }
        if case .none = aim {
            for (offset, step) in job.always.enumerated() {
                let place = job.steps.count + offset
                do throws(JournalError) {
                    guard try await owes(job.key(of: place)) else { continue }
                } catch { throw .journal(error) }
                try await act(step, place)
            }
        }
    }

    /// Ends here when somebody wants the vehicle left alone.
    func yield() async throws(Halt) {
        let inhibit: Inhibit?
        do throws(JournalError) {
            inhibit = try await depot.journal.inhibition(of: vehicle, at: time.wallTime)
        } catch { throw .journal(error) }
        if let inhibit { throw .verdict(.deferred, nil, inhibit.sentence) }
    }
}

extension VehicleJob {
    /// The step that was meant, where this job has one that does the same.
    fileprivate func step(of owed: OwedStep) -> JobStep? {
        (always + steps).first { $0.action == owed.action }
    }
}
