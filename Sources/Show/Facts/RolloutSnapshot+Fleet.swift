import Base
import Manifest
package import Store

extension RolloutSnapshot {
    /// The snapshot of a rollout in a fleet's tables, with the same values as from a journal.
    ///
    /// Times are by the server's clock.
    package init(
        _ view: FleetView,
        in ground: FleetGround,
        plan: PlanView?,
        sayings: [Saying] = []
    ) {
        let known = view.rollout
        let lastRun = known.lastRun(view.runs.last)
        let vehicles = view.vehicles(in: plan)
        var executions: [ExecutionRecord] = []
        var settled: [ExecutionRecord] = []
        var shared = SharedStanding()
        shared.workers = SharedStanding.workers(of: view, in: ground)
        shared.closed = ground.history.reason
        shared.isOperator = ground.isOperator
        shared.gate = SharedStanding.Gate(
            attempted: known.attempted,
            failed: known.failed,
            underWay: view.underWay,
            most: known.most
        )
        shared.waves = view.waves
        (shared.done, shared.begun) = (view.done, known.begun)
        for vehicle in vehicles {
            if let holder = vehicle.worker(of: known.name) {
                shared.holders[vehicle.vehicle] = SharedStanding.Holder(
                    gateway: holder.gateway,
                    since: holder.since
                )
            }
        }
        let waiting = FleetWaits(view, ground, shared)
        for (index, vehicle) in vehicles.enumerated() {
            let record = ExecutionRecord(
                vehicle,
                number: index + 1,
                in: known,
                asking: lastRun.number
            )
            settled.append(record)
            var now = record
            if vehicle.state != .ended { now.end = nil }
            executions.append(now)
            shared.waits[vehicle.vehicle] = waiting.reason(vehicle)
        }
        self.init(
            of: lastRun,
            RolloutRecord(known, run: lastRun.number, isWaveOver: view.isWaveOver),
            executions,
            settled: settled,
            shared: shared
        )
        (inhibits, failures) = (ground.inhibits, view.failures)
        recalls = ground.recalls
        (debts, doubts, owed) = (ground.debts, ground.doubts, ground.owed)
        self.sayings = sayings.reversed()
    }
}

extension FleetView {
    /// The vehicles in the order of the plan; those that are not in it come last.
    fileprivate func vehicles(in plan: PlanView?) -> [FleetVehicle] {
        guard let plan else { return vehicles }
        var places: [VehicleID: Int] = [:]
        for (place, vehicle) in plan.vehicles.enumerated() { places[vehicle.id] = place }
        return vehicles.enumerated().sorted { left, right in
            (places[left.element.vehicle] ?? .max, left.offset)
                < (places[right.element.vehicle] ?? .max, right.offset)
        }.map(\.element)
    }

    fileprivate var waves: [[VehicleID]] {
        var waves = [[VehicleID]](repeating: [], count: max(0, min(rollout.waves, 100_000)))
        for vehicle in vehicles where waves.indices.contains(vehicle.wave) {
            waves[vehicle.wave].append(vehicle.vehicle)
        }
        return waves
    }

    /// Whether all vehicles of the current wave have ended, also those that were taken up again.
    fileprivate var isWaveOver: Bool {
        vehicles.allSatisfy { $0.wave != rollout.wave || $0.state == .ended }
    }
}

extension FleetRollout {
    /// Its last run, by the server's clock; one without a number when none is reported.
    func lastRun(_ run: FleetRun?) -> RunRecord {
        run?.byServer
            ?? RunRecord(
                RunName(0, of: ""),
                of: name,
                plan: SHA256Digest(shown: plan),
                started: begun
            )
    }
}

extension FleetVehicle {
    /// The gateway that works on it now, for this rollout.
    fileprivate func worker(of rollout: String) -> Holder? {
        guard let holder, holder.left > .zero, holder.rollout == rollout,
            holder.vehicle == vehicle.text
        else { return nil }
        return holder
    }
}

// MARK: Records

extension RolloutRecord {
    init(_ rollout: FleetRollout, run: Int, isWaveOver: Bool) {
        self.init(
            name: rollout.name,
            plan: SHA256Digest(shown: rollout.plan),
            run: run,
            at: rollout.updated,
            hold: rollout.hold
        )
        state = rollout.isFinished ? .finished : .running
        wave = rollout.wave
        waveEnded = isWaveOver ? rollout.waveEnded : nil
    }
}

extension ExecutionRecord {
    /// Has the last verdict, even while the vehicle is worked on once more.
    fileprivate init(
        _ vehicle: FleetVehicle,
        number: Int,
        in rollout: FleetRollout,
        asking run: Int
    ) {
        // A verdict that no single gateway gave belongs to no run.
        let whose = vehicle.end.flatMap { $0.gateway.isEmpty ? nil : $0.gateway }
        self.init(
            number: number,
            rollout: rollout.name,
            vehicle: vehicle.vehicle,
            serial: vehicle.serial,
            run: whose == nil ? run : vehicle.run ?? 0,
            started: rollout.begun
        )
        gateway = whose
        linked = vehicle.isBegun
        updated = vehicle.ended ?? vehicle.since ?? rollout.updated
        versionAfter = vehicle.end?.version
        if let holder = vehicle.worker(of: rollout.name) {
            state = holder.doing.flatMap { ExecutionState(rawValue: $0) } ?? .seeking
            acknowledged = holder.acknowledged.flatMap { ByteCount(bytes: $0) }
            totalBytes = holder.total.flatMap { ByteCount(bytes: $0) }
            updated = holder.since ?? updated
        } else if vehicle.state == .ended {
            state = .ended
        }
        if let found = vehicle.end {
            end = End(
                found.outcome,
                failure: found.failure,
                message: found.sentence,
                at: vehicle.ended ?? vehicle.since ?? rollout.updated
            )
        }
    }
}

// MARK: Gateways

extension SharedStanding {
    /// The gateways that have taken part in the rollout's present beginning.
    fileprivate static func workers(of view: FleetView, in ground: FleetGround) -> [Worker] {
        var workers = view.runs.map { run in
            Worker(
                run,
                ground.gateways.first { $0.instance == run.start.instance },
                under: view.rollout.hold
            )
        }
        // A gateway is at work before its run is reported, too.
        let known = Set(view.runs.map(\.start.instance))
        let names = Set(view.runs.map(\.gateway))
        for gateway in ground.gateways
        where gateway.rollout == view.rollout.name && gateway.beginning == view.rollout.beginning {
            guard !gateway.isGone, !known.contains(gateway.instance),
                !names.contains(gateway.name)
            else { continue }
            workers.append(Worker(gateway))
        }
        return workers
    }
}

extension SharedStanding.Worker {
    fileprivate init(_ run: FleetRun, _ gateway: FleetGateway?, under hold: Hold?) {
        let state: State =
            if let end = run.run.end {
                end.exitCode == nil ? .cutOff : .ended
            } else {
                gateway.map { State($0) } ?? .cutOff
            }
        self.init(
            gateway: run.gateway,
            run: RunName(run.run.number, of: run.gateway),
            state: state,
            since: run.byServer.started,
            silence: gateway?.silence ?? .zero,
            modules: gateway?.modules ?? 0,
            links: gateway?.figures?.links,
            unreported: gateway?.figures?.untold ?? 0,
            exitCode: run.run.end?.exitCode,
            reason: run.run.end?.reason(under: hold) ?? ""
        )
    }

    fileprivate init(_ gateway: FleetGateway) {
        self.init(
            gateway: gateway.name,
            run: nil,
            state: State(gateway),
            since: gateway.since,
            silence: gateway.silence,
            modules: gateway.modules,
            links: gateway.figures?.links,
            unreported: gateway.figures?.untold ?? 0,
            exitCode: nil,
            reason: ""
        )
    }
}

extension SharedStanding.Worker.State {
    /// The one rule for the state of a gateway.
    package init(_ gateway: FleetGateway) {
        self =
            if gateway.isGone {
                .ended
            } else if gateway.silence >= LeaseTerms.standard.length {
                .silent
            } else { gateway.isDraining ? .draining : .working }
    }
}

extension EpochGuard {
    /// Why no rights are granted, for people; nil when they are.
    var reason: String? {
        switch self {
        case .open: nil
        case .waits(let left):
            "another server took over, or a backup was confirmed; for another \(left.brief)"
        case .awaits(let names):
            "not before \(names) has reported what it did; begin a run there; if that machine is gone for good, an "
                + "operator says 'yardmaster gateway forget NAME'"
        case .movedOn: "another server took over just now"
        case .restored(let words):
            "\(words); an operator looks, and says 'yardmaster fleet accept-restore'"
        }
    }
}
