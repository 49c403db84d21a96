package import Base
import Manifest
package import Rollout
import Show
package import Store

extension FleetCoordinator {
    /// The report of an act to the fleet, under the right with which the act was done.
    package func word(of deed: Deed, on serial: Serial) -> FleetWord? {
        guard let epoch = epoch(of: serial) else { return nil }
        func word(_ kind: FleetWord.Kind, _ rollout: String, _ vehicle: VehicleID) -> FleetWord {
            FleetWord(
                kind,
                under: FleetLease(serial: serial, epoch: epoch),
                of: holder,
                rollout: rollout,
                beginning: part.beginning,
                vehicle: vehicle,
                run: run
            )
        }
        switch deed {
        case .settled(let intent, let outcome):
            guard intent.effect == .once else { return nil }
            var word = word(.step, intent.rollout, intent.vehicle)
            word.digest = intent.step.text
            word.ordinal = intent.step.ordinal
            word.outcome = outcome
            word.sentence = intent.description
            return word
        case .paid(let debt, let isProof):
            var word = word(.debt, debt.rollout, debt.vehicle)
            word.digest = debt.image.description
            if isProof { word.outcome = Payment.proof }
            return word
        case .did(let step):
            var word = word(.owed, step.rollout, step.vehicle)
            word.digest = step.step.text
            word.ordinal = step.step.ordinal
            return word
        case .ended(let vehicle, let verdict, let touched, let release):
            var word = word(.verdict, rollout, vehicle)
            word.outcome = verdict.outcome.rawValue
            word.failure = verdict.failure?.rawValue
            word.sentence = verdict.message
            word.version = verdict.versionAfter?.description
            if let rule = part.rules.pause {
                var share = GateCount()
                share.count(
                    verdict.outcome,
                    verdict.failure,
                    touched: touched,
                    counting: rule.classes
                )
                (word.attempted, word.failed) = (share.attempted, share.failed)
            } else if touched {
                word.attempted = 1
            }
            if touched, verdict.outcome.tally == .failed, verdict.failure != .unreachable,
                part.quarantineAfter != nil
            {
                word.release = release?.description
            }
            return word
        }
    }
}
