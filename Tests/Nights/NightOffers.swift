import Base
import Commands
import Manifest
import Show
import Store
import Synchronization

/// The commands that a status offers: the program takes each as it is printed, and each changes something
/// for its vehicle now.
struct NightOffers {
    private let hold: Hold.Kind?
    private let inhibits: [Inhibit]
    private let isAtWork: Bool
    /// Whether the rollout brings vehicles back: the command that began it also continues it.
    private let isWayBack: Bool

    init(_ status: RolloutStatus) {
        hold = status.snapshot.rollout?.hold?.kind
        inhibits = status.snapshot.inhibits
        isAtWork = status.snapshot.isAtWork
        isWayBack = status.snapshot.run.flatMap { FrozenPlan.rolledBack(by: $0.rollout) } != nil
    }

    /// What is wrong with what a status offers, one sentence each.
    static func faults(of status: RolloutStatus) -> [String] {
        let offers = NightOffers(status)
        let standings = Dictionary(
            zip(status.chosen.map(\.vehicle), status.standings),
            uniquingKeysWith: { first, _ in first }
        )
        return status.nextSteps.flatMap { vehicle, step in
            step.commands.compactMap { command in
                guard let standing = standings[vehicle] else { return "\(vehicle) is not shown" }
                // One that is set aside is released first, by a command before this one.
                let lifts = step.commands.prefix { $0 != command }.contains {
                    $0.line.hasPrefix("yardmaster uninhibit")
                }
                return offers.fault(
                    of: command,
                    for: vehicle,
                    standing,
                    step.cause,
                    isReleased: lifts
                ).map {
                    "'\(command.line)' is offered for \(vehicle), \(step.cause.rawValue): \($0)"
                }
            }
                + (step.commands.isEmpty && step.work.needsPerson && !offers.isAtWork
                    ? ["nothing is offered for \(vehicle), \(step.cause.rawValue)"] : [])
        }
    }

    private func fault(
        of command: NextStep.Command,
        for vehicle: VehicleID,
        _ standing: Standing,
        _ cause: Cause,
        isReleased: Bool
    ) -> String? {
        guard let invocation = Self.invocation(command.line) else { return "it is no command" }
        let isOpen = standing.doubt != nil || standing.debt != nil || !standing.owed.isEmpty
        let isForGood = hold?.isForGood == true
        switch invocation.command {
        case .retry:
            if isForGood { return "the rollout is over for good" }
            if isInhibited(vehicle), !isReleased { return "the vehicle is set aside" }
            return standing.doubt == nil && standing.verdict?.outcome.tally.isLast != false
                ? "nothing is to be tried again" : nil
        case .clear:
            return isOpen || cause == .quarantined || standing.verdict?.outcome.tally == .failed
                ? nil : "nothing is to be cleared"
        case .resume: return hold == .paused ? nil : "the rollout is not paused"
        case .uninhibit: return isInhibited(vehicle) ? nil : "the vehicle is not set aside"
        case .rollback where !isWayBack:
            return hold == .recalled ? nil : "the rollout is not recalled"
        case .run, .rollback:
            let begins = invocation.command == .run && invocation[Command.again]
            if isAtWork { return "a run is at work" }
            return isForGood && !begins && !isOpen ? "the rollout is over for good" : nil
        case .validate, .doctor: return nil
        default: return "nobody expects this command"
        }
    }

    /// Lines that were parsed before: the same ones are offered night after night.
    private static let parsed = Mutex<[String: Invocation?]>([:])

    private static func invocation(_ line: String) -> Invocation? {
        if let known = parsed.withLock({ $0[line] }) { return known }
        let words = line.split(separator: " ").map(String.init)
        var found: Invocation?
        if words.first == "yardmaster",
            case .run(let invocation)? = try? Parser.parse(Array(words.dropFirst()))
        {
            found = invocation
        }
        parsed.withLock { $0[line] = .some(found) }
        return found
    }

    private func isInhibited(_ vehicle: VehicleID) -> Bool {
        inhibits.contains { $0.vehicle == nil || $0.vehicle == vehicle }
    }
}

extension Outcome.Tally {
    /// Whether a run leaves the vehicle as it is.
    fileprivate var isLast: Bool {
        switch self {
        case .ok, .current: true
        case .failed, .deferred, .unreachable, .skipped, .aborted: false
        }
    }
}
