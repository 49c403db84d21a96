import Base
package import Commands
package import Manifest
import Rollout
package import Show
import Store

/// The vehicles that a state directory knows, for selections.
package struct KnownVehicles {
    let state: String
    /// For a command that keeps running.
    var shelf: PlanShelf?

    package init(state: String, shelf: PlanShelf? = nil) {
        self.state = state
        self.shelf = shelf
    }

    /// Parses an argument that selects vehicles.
    package static func selection(_ text: String) throws(CommandError) -> VehicleSelection {
        if let selection = VehicleSelection(text) { return selection }
        throw CommandError(
            .usage,
            text.isEmpty
                ? "the name of the vehicle is empty" : "'\(text.visible)' means no vehicle",
            hint: "give \(VehicleSelection.expected)"
        )
    }

    /// The vehicles of a plan, with their outcomes in the last run of its rollout.
    package func ground(of plan: FrozenPlan) -> VehicleGround {
        let snapshot = snapshot(of: plan.name)
        return VehicleGround(
            rollout: plan.name,
            planned: plan.vehicles,
            groups: snapshot?.groups
        )
    }

    /// The vehicles of a rollout that has run, with the labels of the stored plan.
    package func ground(of snapshot: RolloutSnapshot) -> VehicleGround {
        let name = snapshot.run?.rollout
        return VehicleGround(
            rollout: name,
            planned: plan(of: snapshot)?.vehicles ?? [],
            others: Set(snapshot.executions.map(\.vehicle)),
            groups: snapshot.groups
        )
    }

    /// The same by the rollout's name; nil for the rollout that ran last.
    package func ground(ofRollout name: String?) -> VehicleGround {
        guard let snapshot = snapshot(of: name) else {
            return VehicleGround(rollout: name, planned: [])
        }
        return ground(of: snapshot)
    }

    /// The plan that the rollout began with, or that of its last run where only parts have run; nil
    /// when it is not stored.
    package func plan(of snapshot: RolloutSnapshot) -> PlanView? {
        guard let run = snapshot.run else { return nil }
        let digest = snapshot.rollout?.plan ?? run.plan
        let archive = PlanArchive(state: state)
        let plan =
            if let shelf {
                shelf.plan(digest) { archive.plan(digest, of: run.rollout) }
            } else { archive.plan(digest, of: run.rollout) }
        return plan.map { PlanView($0.following(snapshot.executions)) }
    }

    /// The stored plans of rollouts by their names, with the paths of their manifests.
    package func plans(of snapshots: [RolloutSnapshot]) -> [String: MorningMaker.Plan] {
        let archive = PlanArchive(state: state)
        var plans: [String: MorningMaker.Plan] = [:]
        for snapshot in snapshots {
            guard let name = snapshot.run?.rollout, let plan = plan(of: snapshot) else { continue }
            plans[name] = MorningMaker.Plan(plan, manifest: archive.manifest(of: name))
        }
        return plans
    }

    /// Nil when no journal can be read; callers that need it report that.
    private func snapshot(of name: String?) -> RolloutSnapshot? {
        let now = RealTime().wallTime
        let holder = StateDirectoryHolder.current(state)
        return try? JournalReader(directory: state).read { view throws(JournalError) in
            try RolloutSnapshot(of: name, in: view, holder: holder, at: now)
        }
    }
}
