import Base
package import Store

extension RolloutSnapshot {
    /// What to do about each vehicle that is not in order, in the order of the plan.
    ///
    /// `known` are the standings of all its executions, where they were made already.
    package func nextSteps(
        manifest: String?,
        _ plan: PlanView?,
        flags: PlaceFlags,
        _ known: [Standing]? = nil
    ) -> [(record: ExecutionRecord, standing: Standing, step: NextStep)] {
        let guide = NextStepGuide(
            rollout: run?.rollout ?? "",
            manifest: manifest,
            flags: flags,
            hold: rollout?.hold?.kind,
            order: run.flatMap { $0.isOrder && !isAtWork ? $0.number : nil },
            isAtWork: isAtWork,
            isShared: shared != nil,
            isOperator: shared?.isOperator ?? true
        )
        let limit = plan?.quarantineAfter
        let quarantined = Set(
            failures.filter { failure in limit.map { failure.count >= $0 } ?? false }.map(\.vehicle)
        )
        var inhibited: [VehicleID: Inhibit] = [:]
        for inhibit in inhibits {
            if let vehicle = inhibit.vehicle { inhibited[vehicle] = inhibit }
        }
        let depot = inhibits.first { $0.vehicle == nil }
        return zip(executions, known ?? standings(of: executions)).compactMap { record, standing in
            guard !isUnderWay(record) else { return nil }
            if standing.verdict == nil, standing.debt == nil, replaced.contains(record.vehicle) {
                return nil
            }
            return guide.step(
                record.vehicle,
                standing,
                signal: signal(of: record.vehicle),
                isListed: !left.contains(record.vehicle),
                isQuarantined: quarantined.contains(record.vehicle),
                inhibit: inhibited[record.vehicle] ?? depot
            ).map { (record, standing, $0) }
        }
    }

    /// When the first of its kept executions was begun.
    var firstBegun: WallTime? { shared?.begun ?? executions.map(\.started).min() }
}
