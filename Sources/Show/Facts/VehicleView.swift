package import Base
package import Store

/// The journal's records of one vehicle at one moment.
package struct VehicleView: Sendable {
    let vehicle: VehicleID
    /// The rollouts that have it, the newest first, without orders unless there are only orders.
    package let snapshots: [RolloutSnapshot]
    let endings: [Ending]
    let lastSeen: WallTime?
    let signal: String?
    let debts: [Debt]
    let doubts: [IntentRecord]
    let owed: [OwedStep]
    let inhibits: [Inhibit]
    let failures: [FailureCount]
    /// The results of an inventory for it.
    let inventory: Inventory.Row?

    init(
        vehicle: VehicleID,
        snapshots: [RolloutSnapshot],
        endings: [Ending],
        lastSeen: WallTime?,
        signal: String?,
        debts: [Debt],
        doubts: [IntentRecord],
        owed: [OwedStep],
        inhibits: [Inhibit],
        failures: [FailureCount],
        inventory: Inventory.Row?
    ) {
        self.vehicle = vehicle
        self.snapshots = snapshots
        self.endings = endings
        self.lastSeen = lastSeen
        self.signal = signal
        self.debts = debts
        self.doubts = doubts
        self.owed = owed
        self.inhibits = inhibits
        self.failures = failures
        self.inventory = inventory
    }

    package init(
        of vehicle: VehicleID,
        in view: JournalView,
        holder: LockHolder?,
        at now: WallTime
    ) throws(JournalError) {
        self.vehicle = vehicle
        var names: [String] = []
        for run in try view.runs(rollout: nil, limit: 1_000) where !names.contains(run.rollout) {
            names.append(run.rollout)
        }
        var snapshots: [RolloutSnapshot] = []
        for name in names {
            let snapshot = try RolloutSnapshot(of: name, in: view, holder: holder, at: now)
            if snapshot.executions.contains(where: { $0.vehicle == vehicle }) {
                snapshots.append(snapshot)
            }
        }
        self.snapshots = snapshots
        endings = try view.endings().filter { $0.vehicle == vehicle }
        lastSeen = try view.sightings().first { $0.vehicle == vehicle }?.time
        signal = try view.signals().first { $0.vehicle == vehicle }?.signal
        debts = try view.debts().filter { $0.vehicle == vehicle }
        doubts = try view.doubts(of: vehicle)
        owed = try view.owed(by: vehicle)
        inhibits = try view.inhibits(at: now).filter { $0.vehicle == nil || $0.vehicle == vehicle }
        failures = try view.failures(atLeast: 1).filter { $0.vehicle == vehicle }
        inventory = try Inventory.row(of: vehicle, in: view)
    }

    package var isKnown: Bool {
        !snapshots.isEmpty || !debts.isEmpty || !doubts.isEmpty || inventory != nil
            || inhibits.contains { $0.vehicle == vehicle }
    }
}
