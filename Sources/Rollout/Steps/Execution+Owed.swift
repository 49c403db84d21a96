import Base
import Store

/// The steps of `always` that are still owed to the vehicle, by this execution and earlier ones.
extension Execution {
    /// The steps of `always`, all of which are owed from the first act on.
    var always: [OwedStep] {
        job.always.enumerated().compactMap { offset, step in
            guard step.changes else { return nil }
            return OwedStep(
                job.key(of: job.steps.count + offset),
                step.action,
                of: record,
                place: offset
            )
        }
    }

    /// The steps that the execution owes from this intent on.
    ///
    /// They are all of `always`; for an intent of `always` itself, that step and the ones after it;
    /// none when the intent belongs to another execution.
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

    /// Does the steps that other executions still owe the vehicle, before anything else.
    ///
    /// The steps that this execution owes are done at its end as usual, or now when it does nothing
    /// but owed steps.
    func doOwed() async throws(Halt) {
        let owed: [OwedStep]
        do throws(JournalError) {
            owed = try await depot.journal.owed(by: vehicle)
        } catch { throw .journal(error) }
        for step in owed where step.execution != record.number {
            guard let job = self.job.step(of: step) ?? parsed(step) else {
                throw .verdict(
                    .failed,
                    .device,
                    "`\(step.action)` of the rollout \(step.rollout) cannot be done by this one; "
                        + "run that rollout, or say `clear \(vehicle)` after a look"
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

    /// The step by its text, which says all of it.
    private func parsed(_ owed: OwedStep) -> JobStep? {
        owed.hidesText ? nil : depot.step(vehicle, owed.action)
    }

    /// Ends the execution here when the vehicle is inhibited.
    func yield() async throws(Halt) {
        let inhibit: Inhibit?
        do throws(JournalError) {
            inhibit = try await depot.journal.inhibition(of: vehicle, at: time.wallTime)
        } catch { throw .journal(error) }
        if let inhibit { throw .verdict(.deferred, nil, inhibit.sentence) }
    }
}

extension VehicleJob {
    /// This job's step with the same action; nil when it has none.
    fileprivate func step(of owed: OwedStep) -> JobStep? {
        guard owed.hidesText else { return (always + steps).first { $0.action == owed.action } }
        // Another text would look the same.
        return always.indices.first { key(of: steps.count + $0) == owed.step }.map { always[$0] }
    }
}

extension OwedStep {
    /// Whether its action leaves out a text, which may be a password.
    fileprivate var hidesText: Bool { action.contains(FeatureOrder.hidden) }
}
