package import Base

/// What stands about a vehicle when a person asks for it, read in the transaction that answers.
struct VehicleCase {
    /// Its verdict; nil without one, and while it is worked on.
    var outcome: Outcome?
    var isDoubtful = false
    var isInhibited = false
    var isQuarantined = false
    /// Whether a run has the right to its module: its open steps are that run's.
    var isAtWork = false
    /// The gateway of that run, in a fleet.
    var gateway: String?
    /// Whether it has a debt, or owes a step.
    var owes = false

    /// What `retry` does to it.
    enum Retry {
        case left
        /// It was named, and may not be tried again: nothing is changed on any vehicle.
        case refused(String)
        /// Its verdict is taken away, its doubts count as not carried out, or both.
        case again(verdict: Bool, doubts: Bool)
    }

    /// The doubts about a vehicle are answered only when it is named in full.
    func retry(_ vehicle: VehicleID, isNamed: Bool) -> Retry {
        if isInhibited || isQuarantined {
            let why =
                isInhibited
                ? "it is inhibited: `uninhibit` first"
                : "it is in quarantine: `clear \(vehicle)` first"
            return isNamed ? .refused(why) : .left
        }
        if isAtWork { return .left }
        if isDoubtful, !isNamed { return .left }
        let isTaken =
            switch outcome?.tally {
            case .failed, .unreachable, .deferred: true
            case .ok, .current, .skipped, .aborted, nil: false
            }
        return isTaken || isDoubtful ? .again(verdict: isTaken, doubts: isDoubtful) : .left
    }

    /// Whether `clear` may settle it: what a run has open is that run's to settle.
    var mayBeCleared: Bool { !isAtWork || !isDoubtful && !owes }
}

/// The result of `retry`.
package struct Rearmed: Sendable, Equatable {
    package var vehicles: [VehicleID] = []
    /// The rollouts in which they lost their verdicts.
    package var rollouts: Set<String> = []
    /// Vehicles whose doubts now count as not carried out.
    package var answered: [VehicleID] = []
    /// Vehicles that stay in doubt, because they were not named in full.
    package var doubtful: [VehicleID] = []
    /// Named vehicles that may not be tried again, with the reasons.
    package var refused: [VehicleID: String] = [:]
    /// What holds the rollout; nothing is changed in one that is aborted.
    package var hold: Hold.Kind?

    package init(hold: Hold.Kind? = nil) { self.hold = hold }

    /// Why nothing was changed, for people; nil when it was not refused.
    package var refusal: String? {
        if let why = Hold.refusal(under: hold) { return why }
        return refused.min { $0.key < $1.key }.map { "\($0.key) is left: \($0.value)" }
    }

    /// All that is taken up again.
    package var all: [VehicleID] { Set(vehicles + answered).sorted() }
}

/// The result of `clear`.
package struct Cleared: Sendable, Equatable {
    package var debts: [Debt] = []
    /// Vehicles whose doubts now count as done.
    package var answered: [VehicleID] = []
    /// Vehicles that were not named in full, so that their doubts were not answered.
    package var stillInDoubt: [VehicleID] = []
    package var owed: [OwedStep] = []
    package var failures = 0
    /// A vehicle that a run works on: nothing was changed.
    package var atWork: VehicleID?
    /// The gateway of that run, in a fleet.
    package var gateway: String?

    package init() {}

    /// What `clear` does with the doubts of vehicles, and the records that it removes.
    init(
        _ cases: [(vehicle: VehicleID, found: VehicleCase)],
        named: Set<VehicleID>,
        _ debts: [Debt],
        _ owed: [OwedStep]
    ) {
        if let busy = cases.first(where: { !$0.found.mayBeCleared }) {
            (atWork, gateway) = (busy.vehicle, busy.found.gateway)
            return
        }
        let doubtful = cases.filter(\.found.isDoubtful).map(\.vehicle)
        answered = doubtful.filter { named.contains($0) }
        stillInDoubt = doubtful.filter { !named.contains($0) }
        (self.debts, self.owed) = (debts, owed)
    }

    var isEmpty: Bool { debts.isEmpty && answered.isEmpty && owed.isEmpty && failures == 0 }
}
