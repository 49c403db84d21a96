package import Base
package import Store

/// What only this machine's journal has: begun or set before the machine joined its fleet.
package struct UnsharedRecords: Sendable {
    let debts: [Debt]
    let doubts: [IntentRecord]
    let owed: [OwedStep]
    let inhibits: [Inhibit]

    package var owesNothing: Bool { debts.isEmpty && doubts.isEmpty && owed.isEmpty }

    package init(in view: JournalView, at now: WallTime) throws(JournalError) {
        (debts, doubts, owed) = try view.unshared()
        inhibits = try view.inhibits(at: now)
    }
}

extension RolloutSnapshot {
    /// Adds what only this machine has; a record of the fleet for the same module or vehicle is kept instead.
    package mutating func add(_ mine: UnsharedRecords) {
        let modules = Set(debts.map(\.serial))
        debts += mine.debts.filter { !modules.contains($0.serial) }
        doubts += mine.doubts
        owed += mine.owed
        let left = Set(inhibits.map(\.vehicle))
        inhibits += mine.inhibits.filter { !left.contains($0.vehicle) }.map { inhibit in
            Inhibit(
                inhibit.vehicle,
                reason: "\(inhibit.reason) (on this machine only)",
                expires: inhibit.expires,
                author: inhibit.author,
                at: inhibit.made
            )
        }
    }
}
