package import Base
package import Store

/// How many vehicles of how many need a person: what a reader wants to know first.
package struct Headline: Sendable, Equatable {
    /// How a vehicle stands; the most urgent first.
    private enum Fate: CaseIterable, Comparable { case person, underWay, waiting, done, over }

    private var fates: [VehicleID: Fate] = [:]
    /// Vehicles beside these that are in no other rollout.
    private var counted: [Fate: Int] = [:]

    package init() {}

    /// The vehicles of a rollout; the steps of those that need one are added.
    package init(_ snapshot: RolloutSnapshot, _ standings: [Standing]) {
        add(snapshot, snapshot.executions, standings, isOnly: true)
    }

    /// `isOnly` when no other rollout is added.
    mutating func add(
        _ snapshot: RolloutSnapshot,
        _ records: [ExecutionRecord],
        _ standings: [Standing],
        isOnly: Bool = false
    ) {
        for (record, standing) in zip(records, standings) {
            let isUnderWay = snapshot.isUnderWay(record)
            add(record.vehicle, isUnderWay ? .underWay : Self.fate(standing.verdict?.outcome))
        }
        for group in snapshot.done {
            let fate = Self.fate(group.outcome)
            if isOnly {
                counted[fate, default: 0] += group.count
            } else {
                for vehicle in group.vehicles { add(vehicle, fate) }
            }
        }
    }

    private static func fate(_ outcome: Outcome?) -> Fate {
        switch outcome?.tally {
        case .ok, .current: .done
        case .failed, .deferred, .unreachable, .skipped, .aborted, nil: .over
        }
    }

    /// Of several rollouts, the most urgent counts for a vehicle.
    private mutating func add(_ vehicle: VehicleID, _ fate: Fate) {
        fates[vehicle] = min(fate, fates[vehicle] ?? fate)
    }

    package mutating func add(_ vehicle: VehicleID, _ step: NextStep) {
        add(vehicle, step.work.needsPerson ? .person : .waiting)
    }

    /// Such as `13 of 60 need a person; 47 are done`; nil without vehicles.
    package var sentence: String? {
        let counts = fates.values.reduce(into: counted) { $0[$1, default: 0] += 1 }
        let all = counts.values.reduce(0, +)
        guard all > 0 else { return nil }
        let people = counts[.person] ?? 0
        let rest = Fate.allCases.compactMap { fate -> String? in
            guard let count = counts[fate], fate != .person else { return nil }
            let (are, wait) = count == 1 ? ("is", "waits") : ("are", "wait")
            return switch fate {
            case .person: nil
            case .underWay: "\(count) \(are) under way"
            case .waiting: "\(count) \(wait)"
            case .done: "\(count) \(are) done"
            case .over: "\(count) \(are) left as they were"
            }
        }
        let whom = people == 0 ? "none" : "\(people)"
        return "\(whom) of \(all) \(people > 1 ? "need" : "needs") a person"
            + (rest.isEmpty ? "" : "; \(rest.joined(separator: ", "))")
    }
}
