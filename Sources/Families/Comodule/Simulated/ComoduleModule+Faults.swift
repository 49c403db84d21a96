import Domain
import Protocols
import Radio
import Simulation

extension ModulePlan.Fault: ScriptedFault {}

/// The scripted faults and when they happen.
extension ComoduleModule: FaultyModule {
    var scriptedFaults: [ModulePlan.Fault] { plan.faults }

    var faultCounts: [UInt8] {
        get { facts.faultCounts }
        set { facts.faultCounts = newValue }
    }

    /// Does one read or write, with the faults that are scheduled for its number.
    func exchange<R>(_ body: () -> R) -> R {
        exchanges += 1
        let number = exchanges
        if let kind = breakDue(at: number, isBefore: true) { breakOff(kind) }
        let result = body()
        if let kind = breakDue(at: number, isBefore: false) { breakOff(kind) }
        return result
    }

    private func breakDue(at number: Int, isBefore: Bool) -> ModulePlan.Break? {
        strike { if case .breaks(let kind, number, isBefore) = $0 { kind } else { nil } }
    }

    func breakOff(_ kind: ModulePlan.Break) {
        switch kind {
        case .linkLost: link?.drop()
        case .silence: fallSilent()
        case .restart:
            // A reset: the module sends nothing that was still queued.
            link?.drop()
            restart(as: facts.mode, after: plan.restartTime)
        }
    }

    /// Saves once for everything that happens at this moment.
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
