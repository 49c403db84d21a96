package import Domain
import Journal
import Postgres
import Rollout

/// A run's part in a rollout of the fleet.
package struct FleetPart: Sendable {
    /// Which beginning of the rollout it works on.
    package let beginning: Int
    /// After how many failures on one release a vehicle is left alone.
    package var quarantineAfter: Int?
    /// What each vehicle is to get.
    package var releases: [VehicleID: SHA256Digest] = [:]

    package init(beginning: Int) { self.beginning = beginning }
}

extension FleetAct {
    init(_ act: Act, _ lease: FleetLease, beginning: Int?, isPaying: Bool) {
        let intent = act.intent
        self.init(
            lease,
            vehicle: intent.vehicle,
            rollout: intent.rollout,
            beginning: beginning,
            digest: intent.step.digest?.description ?? "",
            ordinal: intent.step.ordinal,
            effect: intent.effect.rawValue,
            action: intent.description,
            isPaying: isPaying
        )
        debt = act.debt.map { debt in
            FleetAct.Debt(
                image: debt.image.description,
                name: debt.name,
                version: debt.version?.description,
                target: debt.target,
                total: debt.total
            )
        }
        owed = act.owed.map { step in
            FleetAct.Owed(
                digest: step.step.digest?.description ?? "",
                ordinal: step.step.ordinal,
                action: step.action
            )
        }
    }
}
