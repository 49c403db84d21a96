import Base
import Store

/// The journal first: the intent of a step that changes something is on disk before the act.
extension Execution {
    /// Writes the intent to disk, acts, and writes the result.
    func once(
        _ step: JobStep,
        _ intent: Intent,
        settling owed: OwedStep?
    ) async throws(Halt) {
        var standing: StepRecords.Standing
        do throws(JournalError) {
            standing = try await StepRecords(journal: depot.journal).standing(of: intent)
            if standing == .done, let owed {
                if intent.effect == .converge, try await owes(owed) {
                    // A step was begun after it, so its effect may no longer be in force.
                    standing = .open
                } else {
                    try await depot.journal.drop(owed, telling: word(of: .did(owed)))
                }
            }
        } catch { throw .journal(error) }
        switch standing {
        case .done: return
        case .inDoubt: throw .doubt(step)
        case .open: break
        }
        let answer: IntentAnswer
        let owing: [OwedStep]
        do throws(JournalError) {
            let known = Set(
                try await depot.journal.owed(by: vehicle)
                    .filter { $0.execution == record.number }.map(\.step)
            )
            owing = owes(by: intent).filter { !known.contains($0.step) }
            answer = try await depot.journal.intendUnlessInhibited(
                intent,
                owing: owes(by: intent),
                isFleets: depot.coordinator.isShared
            )
        } catch { throw .journal(error) }
        let id: IntentID
        switch answer {
        case .inhibited(let inhibit): throw .verdict(.deferred, nil, inhibit.sentence)
        case .intended(let found): id = found
        }
        if intent.execution == record.number { record.acted = true }
        if depot.stop.isRequested {
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .stopped
        }
        guard try await mayAct(step, intent, id, settling: owed) else { return }
        try await enter(.acting, detail: step.action)
        let facts: [Fact]
        hasSent = true
        do throws(Halt) {
            facts = try await change(step)
        } catch {
            // A failed write to the journal is no result of the step: it stays in doubt.
            if case .journal = error { throw error }
            // What was not sent makes nothing owed.
            try await settle(
                id,
                intent,
                error.isDoubt ? IntentRecord.doubtful : IntentRecord.failed,
                paying: hasSent ? [] : owing
            )
            tell(step, intent.place, error.isDoubt ? .inDoubt : .failed, [])
            throw error
        }
        try await settle(id, intent, IntentRecord.done, paying: [owed].compactMap(\.self))
        tell(step, intent.place, .done, facts)
    }

    /// Asks the other gateways for a permit; false when one of them has done the step.
    private func mayAct(
        _ step: JobStep,
        _ intent: Intent,
        _ id: IntentID,
        settling owed: OwedStep?
    ) async throws(Halt) -> Bool {
        let permit: Permit
        do throws(JournalError) {
            permit = try await depot.coordinator.permit(
                Act(intent, owing: owes(by: intent)),
                on: job.serial,
                paying: owed != nil,
                unless: depot.stop
            )
        } catch { throw .journal(error) }
        switch permit {
        case .granted: return true
        case .done:
            let paid = [owed].compactMap(\.self)
            try await settle(id, intent, IntentRecord.done, paying: paid, isTold: false)
            tell(step, intent.place, .done, [])
            return false
        case .doubt(let gateway):
            try await settle(id, intent, IntentRecord.doubtful, isTold: false)
            throw .doubt(step, by: "\(gateway.visible)")
        case .inhibited(let inhibit):
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .verdict(.deferred, nil, inhibit.sentence)
        case .recalled(let recall):
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .verdict(.rejected, .rejected, recall.sentence)
        case .withdrawn(let sentence):
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .verdict(.skipped, nil, sentence)
        case .later(let reason):
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .verdict(.deferred, nil, reason)
        case .ended:
            // The others may have recorded it, but it was certainly not done.
            try await settle(id, intent, IntentRecord.failed)
            throw .stopped
        }
    }

    func word(of deed: Deed) -> FleetWord? { depot.coordinator.word(of: deed, on: job.serial) }

    private func settle(
        _ id: IntentID,
        _ intent: Intent,
        _ outcome: String,
        paying owed: [OwedStep] = [],
        isTold: Bool = true
    ) async throws(Halt) {
        var words: [FleetWord?] = []
        if isTold { words.append(word(of: .settled(intent, outcome))) }
        words += owed.map { word(of: .did($0)) }
        do throws(JournalError) {
            try await depot.journal.settle(
                id,
                outcome: outcome,
                at: time.wallTime,
                paying: owed,
                telling: words.compactMap(\.self)
            )
            try await depot.coordinator.tell()
        } catch { throw .journal(error) }
    }
}

extension Halt {
    fileprivate var isDoubt: Bool {
        if case .verdict(.inDoubt, _, _) = self { return true }
        return false
    }

    /// A step that an earlier run or another gateway began, with an unknown result.
    fileprivate static func doubt(_ step: JobStep, by whom: String = "an earlier run") -> Halt {
        .verdict(
            .inDoubt,
            .inDoubt,
            "\(whom) began `\(step.action)` and does not know how it ended; \(step.check)"
        )
    }
}
