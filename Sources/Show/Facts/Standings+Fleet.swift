package import Base
package import Store

// The values of `status`, `show`, `morning` and `history`, made from a fleet's answers.

extension RolloutStatus.Brief {
    /// Counts with the same rule as for single vehicles.
    package init(_ brief: FleetBrief, _ lastRuns: [String: FleetRun]) {
        let rollout = brief.rollout
        let run = rollout.lastRun(lastRuns[rollout.name])
        var counts = VehicleCounts()
        for group in brief.groups {
            counts.add(
                Closing.outcome(
                    of: group.outcome,
                    isDoubtful: group.isDoubtful,
                    hasDebt: group.hasDebt,
                    owes: group.owes
                ),
                times: group.count
            )
        }
        self.init(
            run: run,
            state: RolloutRecord(rollout, run: run.number, isWaveOver: false).word,
            counts: counts
        )
    }
}

extension VehicleView {
    /// Values from the fleet's database, with those that only this machine's journal has.
    package init(
        _ vehicle: VehicleID,
        _ snapshots: [RolloutSnapshot],
        _ look: FleetVehicleLook,
        beside mine: VehicleView?,
        _ own: [RolloutSnapshot]
    ) {
        let endings = look.verdicts.map { Ending($0.vehicle, $0.outcome, at: $0.at) }
        // The fleet has the same verdicts; only those from before its first are added.
        let first = endings.first?.time
        let earlier = (mine?.endings ?? []).filter { ending in
            first.map { ending.time < $0 } ?? true
        }
        let ground = look.ground
        let whole = snapshots.first
        let debts = whole?.debts ?? ground.debts
        let doubts = whole?.openDoubts ?? ground.doubts
        let owed = whole?.owed ?? ground.owed
        let inhibits = whole?.inhibits ?? ground.inhibits
        self.init(
            vehicle: vehicle,
            snapshots: snapshots + own,
            endings: earlier + endings,
            lastSeen: [look.seen, mine?.lastSeen].compactMap { $0 }.max(),
            signal: mine?.signal,
            debts: debts.filter { $0.vehicle == vehicle },
            doubts: doubts.filter { $0.intent.vehicle == vehicle },
            owed: owed.filter { $0.vehicle == vehicle },
            inhibits: inhibits.filter { $0.vehicle == nil || $0.vehicle == vehicle },
            failures: look.failures,
            inventory: mine?.inventory
        )
    }
}

extension MorningMaker.Ground {
    /// Values from the fleet's database, with those that only this machine's journal has.
    package init(
        _ look: FleetMorningLook,
        _ snapshots: [RolloutSnapshot],
        beside mine: MorningMaker.Ground?,
        _ own: [RolloutSnapshot]
    ) {
        let known = Set(look.endings.map(\.vehicle))
        self.init(
            snapshots: snapshots + own,
            sightings: look.sightings + (mine?.sightings ?? []),
            signals: mine?.signals ?? [],
            endings: look.endings + (mine?.endings ?? []).filter { !known.contains($0.vehicle) }
        )
    }
}

extension RunList.Row {
    /// A run as the fleet has it, with the state of a run that has no end.
    package init(_ run: FleetRun) {
        let told = RunEnd(run)
        guard run.run.end == nil else {
            self.init(run.run, end: told)
            return
        }
        self.init(run.run, end: told, open: run.words)
    }
}

extension FleetRun {
    var isAtWork: Bool { silence.map { $0 < LeaseTerms.standard.length } ?? false }

    /// The state of a run that has no end, for people.
    var words: String {
        switch silence {
        case _? where isAtWork: "at work now"
        case let silence?: "silent for \(silence.brief)"
        case nil: "its end is not reported yet"
        }
    }
}

extension RunList {
    /// The runs of this machine that are not in a fleet's database.
    package static func ownRows(
        of rollout: String?,
        count: Int,
        in view: JournalView
    ) throws(JournalError) -> [Row] {
        var rows: [Row] = []
        for run in try view.runs(rollout: rollout, limit: count) {
            guard try view.fleet(ofRun: run.number)?.isTold != true else { continue }
            rows.append(Row(run, lastEvent: try view.lastEvent(run: run.number)))
        }
        return rows
    }

    /// Merges two lists by time; each keeps its own order, which does not depend on clocks.
    package static func merged(_ fleet: [Row], _ own: [Row], _ count: Int) -> [Row] {
        var (left, right) = (fleet[...], own[...])
        var rows: [Row] = []
        while rows.count < count {
            switch (left.first, right.first) {
            case (let one?, let other?):
                if other.run.started > one.run.started {
                    rows.append(other)
                    right.removeFirst()
                } else {
                    rows.append(one)
                    left.removeFirst()
                }
            case (let one?, nil):
                rows.append(one)
                left.removeFirst()
            case (nil, let other?):
                rows.append(other)
                right.removeFirst()
            case (nil, nil): return rows
            }
        }
        return rows
    }
}
