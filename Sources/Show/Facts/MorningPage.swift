package import Base
package import Manifest
package import Store

/// The work of the morning: all rollouts since a time, as a list of tasks.
package struct MorningPage: Sendable, Equatable {
    /// One rollout that has run since then.
    package struct Night: Sendable, Equatable {
        let rollout: String
        package let run: Int
        let began: WallTime
        /// Nil for a run that is still active or was cut off.
        let ended: WallTime?
        let exitCode: Int?
        let reason: String
        package let counts: VehicleCounts
        /// The gateway of the run, in a fleet.
        package var gateway: String?
        /// Whether the run, or in a fleet a run of any gateway, is active.
        package var isAtWork = false

        /// The name of the run.
        var name: RunName { RunName(run, of: gateway) }

        /// How it ended, for people; `time` writes a time.
        func ending(_ time: (WallTime) -> String) -> String {
            if isAtWork { return "at work now" }
            guard let ended else { return "was cut off" }
            return "ended \(time(ended))" + (exitCode.map { ", exit \($0)" } ?? "")
        }

        package init(
            rollout: String,
            run: Int,
            began: WallTime,
            ended: WallTime?,
            exitCode: Int?,
            reason: String,
            counts: VehicleCounts
        ) {
            self.rollout = rollout
            self.run = run
            self.began = began
            self.ended = ended
            self.exitCode = exitCode
            self.reason = reason
            self.counts = counts
        }
    }

    /// The facts by which people find a vehicle: its place, its plate, and when it was last heard.
    package struct Card: Sendable, Equatable {
        let vehicle: VehicleID
        let serial: Serial?
        package var plate: String?
        package var depot: String?
        package var bay: String?
        package var lastSeen: WallTime?
        /// The signal strength when it was last heard, such as `-71 dBm`.
        package var signal: String?

        package init(_ vehicle: VehicleID, _ serial: Serial?) {
            self.vehicle = vehicle
            self.serial = serial
        }

        /// The place and the plate are labels of the fleet list.
        package init(_ vehicle: VehicleID, _ serial: Serial?, _ planned: PlannedVehicle?) {
            self.init(vehicle, serial ?? planned?.serial)
            func label(_ names: [String]) -> String? {
                names.lazy.compactMap { planned?.value(of: $0) }.first { !$0.isEmpty }
            }
            plate = label(["plate", "licence", "license"])
            depot = label(["depot", "site", "yard"])
            bay = label(["bay", "slot", "stand"])
        }

        /// The vehicle with its bay and its plate, where the list has them.
        package var name: String {
            let marks = [stand, plate.map { "plate \($0)" }].compactMap(\.self)
            return vehicle.text + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
        }

        /// The place of the vehicle; empty where the fleet list has none.
        var place: String { [depot, stand].compactMap(\.self).joined(separator: ", ") }

        /// The place in the depot; a list may write `7` or `bay 7`.
        var stand: String? {
            bay.map { $0.lowercased().hasPrefix("bay") ? $0 : "bay \($0)" }
        }
    }

    /// A task for one vehicle.
    package struct Task: Sendable, Equatable {
        let card: Card
        let rollout: String
        let step: NextStep

        package init(_ card: Card, _ rollout: String, _ step: NextStep) {
            self.card = card
            self.rollout = rollout
            self.step = step
        }
    }

    /// The differences from the state before that time.
    package struct Changes: Sendable, Equatable {
        package var updated: [VehicleID] = []
        package var failed: [VehicleID] = []
        package var recovered: [VehicleID] = []
        package var away: [VehicleID] = []
        package var back: [VehicleID] = []

        package init() {}

        /// Each list with its title.
        var lists: [(title: String, vehicles: [VehicleID])] {
            [
                ("newly done", updated), ("newly failed", failed), ("recovered", recovered),
                ("newly away", away), ("back again", back),
            ]
        }
    }

    /// A vehicle that has not been current for too long.
    package struct Stale: Sendable, Equatable {
        let card: Card
        /// The last time at which it was current; nil for never.
        let lastCurrent: WallTime?

        package init(_ card: Card, lastCurrent: WallTime?) {
            self.card = card
            self.lastCurrent = lastCurrent
        }
    }

    let since: WallTime
    let made: WallTime
    package let nights: [Night]
    /// In the order in which they should be done: by work, then depot, bay and vehicle.
    package let tasks: [Task]
    let changes: Changes
    let stale: [Stale]
    let staleDays: Int
    /// How many vehicles of how many need a person.
    package var headline = Headline()
    /// The source of the page; nil on a machine that belongs to no fleet.
    package var source: StandingSource?

    package init(
        since: WallTime,
        made: WallTime,
        nights: [Night],
        tasks: [Task],
        changes: Changes,
        stale: [Stale],
        staleDays: Int
    ) {
        self.since = since
        self.made = made
        self.nights = nights
        self.tasks = tasks.sorted { $0.order.lexicographicallyPrecedes($1.order) }
        self.changes = changes
        self.stale = stale.sorted { $0.card.order.lexicographicallyPrecedes($1.card.order) }
        self.staleDays = staleDays
    }

    /// The tasks under their headings, in their order.
    package var groups: [HelpGroup] { HelpGroup.groups(of: tasks) }

    /// The depots of its tasks.
    var depots: Set<String> { Set(tasks.compactMap(\.card.depot)) }

    /// The amount of work in one line, which is also the subject of a mail.
    package var summary: String {
        let counts = NextStep.Work.allCases.compactMap { work in
            let count = tasks.count { $0.step.work == work }
            return count == 0 ? nil : "\(count) \(work.rawValue)"
        }
        let failed = nights.reduce(0) { $0 + $1.counts.count(.failed) }
        let runs = nights.isEmpty ? "nothing ran" : counted(nights.count, "rollout")
        guard !counts.isEmpty else { return "\(runs), nothing to do" }
        return "\(runs), \(failed) failed; to do: " + counts.joined(separator: ", ")
    }
}

extension MorningPage.Card {
    /// Depots and bays are sorted by their numbers: bay 2 comes before bay 10.
    fileprivate var order: [String] {
        [depot ?? "~", bay ?? "~", vehicle.text].map(\.byNumber)
    }
}

extension MorningPage.Task {
    var order: [String] {
        let rank = NextStep.Work.allCases.firstIndex(of: step.work) ?? 0
        return [String(rank)]
            + [card.depot ?? "~", card.bay ?? "~", card.vehicle.text].map(\.byNumber)
    }
}

extension String {
    /// The text with padded numbers, so that it sorts by their values.
    fileprivate var byNumber: String {
        var (result, digits) = ("", "")
        func padded() -> String {
            String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
        }
        for character in self {
            if character.isASCII, character.isNumber {
                digits.append(character)
            } else {
                if !digits.isEmpty { result += padded() }
                digits = ""
                result.append(character)
            }
        }
        return digits.isEmpty ? result : result + padded()
    }
}
