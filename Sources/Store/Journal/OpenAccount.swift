package import Base

/// What is owed to one vehicle, or in doubt about it, whatever rollout began it.
package struct OpenAccount: Sendable, Equatable {
    package let vehicle: VehicleID
    /// The module that it was begun on.
    package let serial: Serial
    package var debt: Debt?
    package var doubt: IntentRecord?
    package var owed: [OwedStep] = []

    /// The execution that began it, with its rollout, run and time.
    package let execution: Int
    package let rollout: String
    package let run: Int
    package let begun: WallTime

    fileprivate init(_ debt: Debt) {
        (vehicle, serial, self.debt) = (debt.vehicle, debt.serial, debt)
        (execution, rollout) = (debt.execution, debt.rollout)
        (run, begun) = (debt.run, debt.begun)
    }

    fileprivate init(_ vehicle: VehicleID, _ record: ExecutionRecord) {
        (self.vehicle, serial) = (vehicle, record.serial)
        (execution, rollout) = (record.number, record.rollout)
        (run, begun) = (record.run, record.started)
    }
}

extension JournalView {
    /// The open accounts of vehicles that are not in the list of this run, sorted by vehicle; none
    /// for an order, which is about its own vehicles only.
    package func accountsLeft(by run: Int) throws(JournalError) -> [OpenAccount] {
        let listed = try listed(by: run)
        guard !listed.isEmpty else { return [] }
        var accounts: [VehicleID: OpenAccount] = [:]
        for debt in try debts() where !listed.contains(debt.vehicle) {
            accounts[debt.vehicle] = OpenAccount(debt)
        }
        for doubt in try doubts(of: nil) where !listed.contains(doubt.intent.vehicle) {
            let vehicle = doubt.intent.vehicle
            if accounts[vehicle] == nil, let record = try execution(doubt.intent.execution) {
                accounts[vehicle] = OpenAccount(vehicle, record)
            }
            if accounts[vehicle]?.doubt == nil { accounts[vehicle]?.doubt = doubt }
        }
        for step in try owed(by: nil) where !listed.contains(step.vehicle) {
            if accounts[step.vehicle] == nil, let record = try execution(step.execution) {
                accounts[step.vehicle] = OpenAccount(step.vehicle, record)
            }
            accounts[step.vehicle]?.owed.append(step)
        }
        return accounts.values.sorted { $0.vehicle < $1.vehicle }
    }
}

extension Journal {
    package func accountsLeft(by run: Int) throws(JournalError) -> [OpenAccount] {
        try view().accountsLeft(by: run)
    }
}
