package import Base

/// A step of `always` that an execution still has to do.
package struct OwedStep: JournalRecord, Sendable, Equatable {
    package let execution: Int
    package let step: StepKey
    package let rollout: String
    package let vehicle: VehicleID
    /// The run from which on it is owed.
    package let run: Int
    /// Its place in `always`: owed steps are done and reported in that order.
    let place: Int
    /// The step as a manifest writes it.
    package let action: String
    /// The gateway of that run; nil for a run of this machine's journal.
    package let gateway: String?

    /// The name of the run.
    package var runName: RunName { RunName(run, of: gateway) }

    /// A step that comes from somewhere other than a journal.
    package init(
        _ step: StepKey,
        _ action: String,
        of rollout: String,
        to vehicle: VehicleID,
        since run: RunName
    ) {
        execution = 0
        self.step = step
        self.rollout = rollout
        self.vehicle = vehicle
        self.run = run.number
        gateway = run.gateway
        place = 0
        self.action = action
    }

    package init(
        _ step: StepKey,
        _ action: String,
        of execution: ExecutionRecord,
        place: Int = 0
    ) {
        self.place = place
        self.execution = execution.number
        self.step = step
        rollout = execution.rollout
        vehicle = execution.vehicle
        run = execution.run
        gateway = nil
        self.action = action
    }

    static let columns = "execution, digest, ordinal, rollout, vehicle, run, action, place"

    init(row: borrowing SQLStatement) throws(JournalError) {
        execution = Int(row.integer(0))
        step = StepKey(
            try row.value(1) { SHA256Digest($0) },
            ordinal: Int(row.integer(2))
        )
        rollout = row.text(3) ?? ""
        vehicle = try row.value(4) { VehicleID($0) }
        run = Int(row.integer(5))
        gateway = nil
        action = row.text(6) ?? ""
        place = Int(row.integer(7))
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            Value(execution), .text(step.text), Value(step.ordinal),
            .text(rollout), .text(vehicle.text), Value(run), .text(action), Value(place),
        ]
    }
}
