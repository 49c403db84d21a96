import Domain
import Protocols
import Radio
import Simulation

/// What goes wrong by script, and when.
extension ComoduleModule {
    /// One read or write with the faults that are set to its number.
    func exchange<R>(_ body: () -> R) -> R {
        exchanges += 1
        let number = exchanges
        if let kind = breakDue(at: number, isBefore: true) { breakOff(kind) }
        let result = body()
        if let kind = breakDue(at: number, isBefore: false) { breakOff(kind) }
        return result
    }

    private func breakDue(at number: Int, isBefore: Bool) -> ModulePlan.Break? {
        for (index, fault) in plan.faults.enumerated() where isLeft(index) {
            guard case .breaks(let kind, number, isBefore) = fault.kind else { continue }
            count(index)
            return kind
        }
        return nil
    }

    func breakOff(_ kind: ModulePlan.Break) {
        switch kind {
        case .linkLost: link?.drop()
        case .silence: fallSilent()
        case .restart:
            // A reset: nothing that is on its way is sent any more.
            link?.drop()
            restart(as: facts.mode, after: plan.restartTime)
        }
    }

    func isLeft(_ fault: Int) -> Bool {
        Int(facts.faultCounts[fault]) < plan.faults[fault].times
    }

    func count(_ fault: Int) {
        if facts.faultCounts[fault] < .max { facts.faultCounts[fault] += 1 }
        save()
    }

    /// Counts the first fault of this kind that is left; false when there is none.
    func happens(_ kind: (ModulePlan.Fault.Kind) -> Bool) -> Bool {
        guard
            let index = plan.faults.indices.first(where: {
                isLeft($0) && kind(plan.faults[$0].kind)
            })
        else { return false }
        count(index)
        return true
    }

    /// Saves once for all that happens at this moment.
    func save() {
        guard slot != nil, !saveIsSet else { return }
        saveIsSet = true
        world.after(.zero) { [weak self] in
            guard let self else { return }
            self.saveIsSet = false
            self.facts.transfer = self.target.facts
            self.slot?.save(self.facts.bytes, at: self.world.now)
        }
    }
}
