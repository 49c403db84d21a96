package import Base

/// Which wave each vehicle is in: the same on every run and every machine.
package enum Waves {
    /// The waves of the whole plan, by vehicle.
    package static func vehicles(_ plan: FrozenPlan) -> [[VehicleID]] {
        cut(plan).map { wave in wave.map { plan.vehicles[$0].id } }
    }

    /// The waves as indices into the plan's list of vehicles, each in the order of the list.
    ///
    /// Without `spread` they are cut from the list in its order. With it, every wave takes vehicles
    /// from each model in turn; a model is a combination of values of those labels. So a canary of
    /// three vehicles covers three models if there are three.
    package static func cut(_ plan: FrozenPlan) -> [[Int]] {
        let labels = plan.rollout.spread
        let order =
            labels.isEmpty
            ? Array(plan.vehicles.indices)
            : spread(plan.vehicles.map { stratum(of: $0, labels) })
        var waves: [[Int]] = []
        var from = 0
        for size in plan.waveSizes {
            waves.append(order[from..<min(from + size, order.count)].sorted())
            from += size
        }
        return waves
    }

    /// What vehicles of one model have in common; family and profile unless labels are named.
    package static func stratum(of vehicle: PlannedVehicle, _ labels: [String]) -> String {
        guard !labels.isEmpty else { return "\(vehicle.family.rawValue)/\(vehicle.profile)" }
        return labels.map(vehicle.value(of:)).joined(separator: "\u{1F}")
    }

    /// One of each stratum, then the second of each, and so on; strata in the order of the list.
    private static func spread(_ strata: [String]) -> [Int] {
        var seen: [String: Int] = [:]
        var first: [String: Int] = [:]
        let ranked = strata.enumerated().map { index, stratum in
            let rank = seen[stratum, default: 0]
            seen[stratum] = rank + 1
            if first[stratum] == nil { first[stratum] = index }
            return (rank: rank, stratum: first[stratum] ?? index, index: index)
        }
        return ranked.sorted {
            ($0.rank, $0.stratum, $0.index) < ($1.rank, $1.stratum, $1.index)
        }.map(\.index)
    }
}
