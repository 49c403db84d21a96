package import Domain
package import Journal
package import Manifest
package import Reports

extension RolloutSnapshot {
    /// What is to be done about each vehicle that is not as it should be, in the order of the plan.
    package func nextSteps(
        manifest: String?,
        _ plan: FrozenPlan?,
        flags: String
    ) -> [(record: ExecutionRecord, standing: Standing, step: NextStep)] {
        let guide = NextStepGuide(
            rollout: run?.rollout ?? "",
            manifest: manifest,
            flags: flags,
            isHeld: rollout?.hold?.kind == .paused
        )
        let limit = plan?.rollout.quarantineAfter
        let quarantined = Set(
            failures.filter { failure in limit.map { failure.count >= $0 } ?? false }.map(\.vehicle)
        )
        return zip(executions, standings(of: executions)).compactMap { record, standing in
            guard !isUnderWay(record) else { return nil }
            return guide.step(
                record.vehicle,
                standing,
                isQuarantined: quarantined.contains(record.vehicle)
            ).map { (record, standing, $0) }
        }
    }

    /// When the first of its executions that are kept was begun.
    package var firstBegun: WallTime? { executions.map(\.started).min() }
}
