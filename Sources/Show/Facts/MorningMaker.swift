package import Base
import Manifest
package import Store

/// Makes the morning page from the journal's facts about all rollouts at one moment.
package struct MorningMaker: Sendable {
    /// The facts that are read at one moment.
    package struct Ground: Sendable {
        /// Rollouts that ran since then, and those with an open debt or doubt.
        package let snapshots: [RolloutSnapshot]
        let sightings: [Sighting]
        let signals: [SignalSighting]
        let endings: [Ending]

        init(
            snapshots: [RolloutSnapshot],
            sightings: [Sighting],
            signals: [SignalSighting],
            endings: [Ending]
        ) {
            self.snapshots = snapshots
            self.sightings = sightings
            self.signals = signals
            self.endings = endings
        }

        package init(
            in view: JournalView,
            since: WallTime,
            holder: LockHolder?,
            at now: WallTime
        ) throws(JournalError) {
            let runs = try view.runs(rollout: nil, limit: 1_000)
            var names: [String] = []
            for run in runs where run.wasAtWork(since: since) {
                if !names.contains(run.rollout) { names.append(run.rollout) }
            }
            // The last rollout has what vehicles owe that left its list.
            if let last = try view.lastRollout(), !names.contains(last.rollout) {
                names.append(last.rollout)
            }
            for debt in try view.debts() where !names.contains(debt.rollout) {
                names.append(debt.rollout)
            }
            for doubt in try view.doubts(of: nil) where !names.contains(doubt.intent.rollout) {
                names.append(doubt.intent.rollout)
            }
            var snapshots: [RolloutSnapshot] = []
            for name in names {
                snapshots.append(try RolloutSnapshot(of: name, in: view, holder: holder, at: now))
            }
            self.snapshots = snapshots
            sightings = try view.sightings()
            signals = try view.signals()
            endings = try view.endings()
        }
    }

    /// A stored plan, and the path of its manifest.
    package struct Plan: Sendable {
        package let plan: PlanView
        let manifest: String?

        package init(_ plan: PlanView, manifest: String?) {
            self.plan = plan
            self.manifest = manifest
        }
    }

    private let ground: Ground
    private let plans: [String: Plan]
    private let since: WallTime
    private let now: WallTime
    private let staleDays: Int
    private let flags: PlaceFlags
    private let vehicles: [VehicleID: PlannedVehicle]
    private let seen: [VehicleID: WallTime]
    private let signals: [VehicleID: String]

    /// `plans` are by the names of rollouts; `flags` follow the command's name in lines for the
    /// shell.
    package init(
        _ ground: Ground,
        plans: [String: Plan],
        since: WallTime,
        at now: WallTime,
        staleDays: Int,
        flags: PlaceFlags
    ) {
        self.ground = ground
        self.plans = plans
        self.since = since
        self.now = now
        self.staleDays = staleDays
        self.flags = flags
        var vehicles: [VehicleID: PlannedVehicle] = [:]
        // The newest rollout that contains the vehicle determines its state.
        for snapshot in ground.snapshots {
            for vehicle in plans[snapshot.run?.rollout ?? ""]?.plan.vehicles ?? []
            where vehicles[vehicle.id] == nil {
                vehicles[vehicle.id] = vehicle
            }
        }
        self.vehicles = vehicles
        seen = Dictionary(
            ground.sightings.map { ($0.vehicle, $0.time) },
            uniquingKeysWith: { max($0, $1) }
        )
        signals = Dictionary(
            ground.signals.map { ($0.vehicle, $0.signal) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    package var page: MorningPage {
        let (tasks, headline) = toDo
        var page = MorningPage(
            since: since,
            made: now,
            nights: ground.snapshots.compactMap(night),
            tasks: tasks,
            changes: changes,
            stale: stale,
            staleDays: staleDays
        )
        page.headline = headline
        return page
    }

    private func night(_ snapshot: RolloutSnapshot) -> MorningPage.Night? {
        guard let run = snapshot.run, run.wasAtWork(since: since) else { return nil }
        let standings = snapshot.standings(of: snapshot.executions)
        let others = snapshot.shared?.workers ?? []
        var night = MorningPage.Night(
            rollout: run.rollout,
            run: run.number,
            began: run.started,
            ended: run.end?.time,
            exitCode: run.end?.exitCode,
            // Each gateway's run has an end of its own.
            reason: others.count > 1
                ? others.map(\.short).joined(separator: "; ")
                : run.end?.reason(under: snapshot.rollout?.hold) ?? "",
            counts: snapshot.counts(standings)
        )
        night.gateway = run.gateway
        night.isAtWork = snapshot.isAtWork
        return night
    }

    private var toDo: (tasks: [MorningPage.Task], headline: Headline) {
        var tasks: [MorningPage.Task] = []
        var headline = Headline()
        var known: Set<String> = []
        for snapshot in ground.snapshots {
            guard let run = snapshot.run else { continue }
            let isNight = run.wasAtWork(since: since)
            let plan = plans[run.rollout]
            let standings = snapshot.standings(of: snapshot.executions)
            if isNight { headline.add(snapshot, snapshot.executions, standings) }
            for next in snapshot.nextSteps(
                manifest: plan?.manifest,
                plan?.plan,
                flags: flags,
                standings
            ) {
                // Of rollouts that were not working, only tasks that do not resolve without a
                // person.
                let isStuck = Cause.Tried(next.standing) == .bootloader
                guard isNight || isStuck || next.step.work <= .answer else { continue }
                headline.add(next.record.vehicle, next.step)
                // A vehicle in two rollouts is rescued once.
                let key = "\(next.step.work.rawValue) \(next.record.vehicle.text)"
                guard known.insert(key).inserted else { continue }
                tasks.append(
                    MorningPage.Task(
                        card(next.record.vehicle, next.record.serial),
                        run.rollout,
                        next.step
                    )
                )
            }
        }
        return (tasks, headline)
    }

    private func card(_ vehicle: VehicleID, _ serial: Serial?) -> MorningPage.Card {
        var card = MorningPage.Card(vehicle, serial, vehicles[vehicle])
        card.lastSeen = seen[vehicle]
        card.signal = signals[vehicle]
        return card
    }

    private var changes: MorningPage.Changes {
        var before: [VehicleID: Outcome] = [:]
        var after: [VehicleID: Outcome] = [:]
        var updated: Set<VehicleID> = []
        for ending in ground.endings {
            if ending.time < since {
                before[ending.vehicle] = ending.outcome
            } else {
                after[ending.vehicle] = ending.outcome
                if ending.outcome == .succeeded { updated.insert(ending.vehicle) }
            }
        }
        var changes = MorningPage.Changes()
        changes.updated = updated.sorted()
        for (vehicle, outcome) in after.sorted(by: { $0.key < $1.key }) {
            let old = before[vehicle]?.tally
            switch outcome.tally {
            case .failed where old != .failed: changes.failed.append(vehicle)
            case .unreachable where old != .unreachable: changes.away.append(vehicle)
            case .ok where old == .failed, .current where old == .failed:
                changes.recovered.append(vehicle)
            case .failed, .unreachable, .ok, .current, .deferred, .skipped, .aborted: break
            }
            if old == .unreachable, outcome.tally != .unreachable { changes.back.append(vehicle) }
        }
        return changes
    }

    private var stale: [MorningPage.Stale] {
        let limit = now.advanced(by: .seconds(-86_400 * staleDays))
        var current: [VehicleID: WallTime] = [:]
        for ending in ground.endings
        where ending.outcome.tally == .ok || ending.outcome.tally == .current {
            current[ending.vehicle] = ending.time
        }
        // A rollout that has just begun has no history yet.
        guard let first = ground.snapshots.compactMap(\.firstBegun).min(), first < limit
        else { return [] }
        return vehicles.values.compactMap { vehicle in
            let (seen, current) = (seen[vehicle.id], current[vehicle.id])
            if let seen, let current, seen >= limit, current >= limit { return nil }
            return MorningPage.Stale(card(vehicle.id, vehicle.serial), lastCurrent: current)
        }
    }
}

extension RunRecord {
    /// Whether it began or ended since then; the clock may have been set meanwhile.
    fileprivate func wasAtWork(since: WallTime) -> Bool {
        (end?.time ?? started) >= since || started >= since
    }
}
