package import Base
import Manifest
package import Store

/// One rollout of a fleet at one moment, with a summary of the others.
package struct FleetLook: Sendable {
    package let ground: FleetGround
    package let view: FleetView
    /// The shown part of its plan, as the fleet keeps it.
    package let plan: String?
    package var sayings: [Saying] = []
    package var briefs: [FleetBrief] = []
    /// The last run of each rollout, by its name.
    package var lastRuns: [String: FleetRun] = [:]
    /// All rollouts of the fleet.
    package var names: Set<String> = []

    /// The shown part of its plan, for the vehicles that were read in full.
    package var planView: PlanView? {
        plan.flatMap { PlanView(text: $0, of: view.vehicles.map(\.vehicle)) }
    }

    /// Who has approved a plan, when it is that of the rollout now.
    func approvers(of digest: SHA256Digest) -> [String] {
        guard view.rollout.plan == digest.description else { return [] }
        return plan.flatMap { PlanView.approval(in: $0) }?.names ?? []
    }
}

/// What a fleet knows of one vehicle.
package struct FleetVehicleLook: Sendable {
    package let rollouts: [FleetLook]
    let ground: FleetGround
    let verdicts: [FleetVerdictRecord]
    let failures: [FailureCount]
    let seen: WallTime?
}

/// What `morning` reads from a fleet.
package struct FleetMorningLook: Sendable {
    package let rollouts: [FleetLook]
    package let names: Set<String>
    let endings: [Ending]
    let sightings: [Sighting]
}

/// The time zone of the windows of a fleet's rollouts; nil when none has a window.
package struct FleetZone: Sendable {
    package let name: String?
}

/// The runs of a fleet's gateways.
package struct FleetHistoryLook: Sendable {
    package let runs: [FleetRun]
    package let sayings: [Saying]
    package let zone: String?
}

/// One run of a gateway, and the state of its rollout's vehicles.
package struct FleetRunLook: Sendable {
    package let run: FleetRun
    let verdicts: [FleetVerdictRecord]
    /// Nil when the rollout was begun again since, or is no longer known.
    let rollout: FleetLook?
    package let zone: String?
}

// What the commands that only read ask for; each is of one moment.

extension FleetDatabase {
    /// The rollout of this name, or the last one; of one with more vehicles than `most`, those that are done are not
    /// read in full, and `briefs` has not their counts.
    package func look(
        of name: String?,
        whole most: Int = .max
    ) throws(FleetError) -> FleetLook? {
        let found: FleetRollout?
        if let name { found = try rollout(name) } else { found = try lastRollout() }
        guard let found else { return nil }
        let isLarge = most < .max ? try hasMore(than: most, in: found) : false
        let ground = try ground()
        var look = try look(at: found, ground, isLarge ? .open(.init(ground)) : .all)
        look.briefs = try briefs(except: isLarge ? found.name : nil)
        look.lastRuns = try lastRuns()
        look.names = try rolloutNames()
        return look
    }

    private func look(
        at rollout: FleetRollout,
        _ ground: FleetGround,
        _ scope: FleetView.Scope = .all
    ) throws(FleetError) -> FleetLook {
        let view = try view(of: rollout, scope)
        return FleetLook(
            ground: ground,
            view: view,
            plan: try planView(rollout.plan),
            sayings: try sayings(
                of: rollout.name,
                since: view.since,
                limit: RolloutSnapshot.mostSayings
            )
        )
    }

    package func look(of vehicle: VehicleID) throws(FleetError) -> FleetVehicleLook? {
        let ground = try ground()
        var rollouts: [FleetLook] = []
        for rollout in try self.rollouts(with: vehicle) {
            rollouts.append(try look(at: rollout, ground, .only(vehicle)))
        }
        let verdicts = try verdicts(on: vehicle)
        let isKnown =
            !rollouts.isEmpty || !verdicts.isEmpty
            || ground.debts.contains { $0.vehicle == vehicle }
            || ground.doubts.contains { $0.intent.vehicle == vehicle }
            || ground.owed.contains { $0.vehicle == vehicle }
            || ground.inhibits.contains { $0.vehicle == vehicle }
        guard isKnown else { return nil }
        return FleetVehicleLook(
            rollouts: rollouts,
            ground: ground,
            verdicts: verdicts,
            failures: try failures(of: [vehicle]),
            seen: try sightings(of: vehicle).first?.time
        )
    }

    /// Unless `isWhole`, vehicles that are done are not read in full.
    package func lookInTheMorning(
        since begin: WallTime,
        isWhole: Bool = false
    ) throws(FleetError) -> FleetMorningLook? {
        let names = try rolloutNames()
        guard !names.isEmpty else { return nil }
        let ground = try ground()
        let owing = Set(ground.debts.map(\.rollout) + ground.doubts.map(\.intent.rollout))
        var rollouts: [FleetLook] = []
        for rollout in try self.rollouts(since: begin, or: owing.sorted()) {
            rollouts.append(try look(at: rollout, ground, isWhole ? .all : .open(.init(ground))))
        }
        let (endings, answered) = try endings(since: begin)
        return FleetMorningLook(
            rollouts: rollouts,
            names: names,
            endings: endings,
            sightings: try sightings(of: nil, known: answered)
        )
    }

    package func lookForZone(of rollout: String? = nil) throws(FleetError) -> FleetZone? {
        guard try lastRollout() != nil else { return nil }
        return FleetZone(name: try zone(of: rollout))
    }

    package func lookAtHistory(
        of rollout: String?,
        count: Int
    ) throws(FleetError) -> FleetHistoryLook? {
        let runs = try runs(of: rollout, limit: count)
        guard let oldest = runs.last else { return nil }
        return FleetHistoryLook(
            runs: runs,
            sayings: try sayings(
                of: rollout,
                since: oldest.byServer.started,
                limit: RunList.mostSayings
            ),
            zone: try zone(of: rollout)
        )
    }

    package func look(at wish: RunWish) throws(FleetError) -> FleetRunLook? {
        let found: FleetRun?
        switch wish {
        case .last: found = try runs(of: nil, limit: 1).first
        case .run(let name):
            guard let gateway = name.gateway else { return nil }
            found = try run(name.number, of: gateway)
        }
        guard let found else { return nil }
        let rollout = try rollout(found.run.rollout).flatMap { known in
            known.beginning == found.start.beginning ? known : nil
        }
        var look: FleetLook?
        if let rollout { look = try self.look(at: rollout, try ground()) }
        return FleetRunLook(
            run: found,
            verdicts: try verdicts(of: found),
            rollout: look,
            zone: try zone(of: found.run.rollout)
        )
    }
}

extension FleetView {
    /// When the runs that are at work on it began, or the last one.
    fileprivate var since: WallTime {
        let open = runs.filter { $0.run.end == nil }.compactMap(\.noted)
        return open.min() ?? runs.last?.noted ?? rollout.begun
    }
}
