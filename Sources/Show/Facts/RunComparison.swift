package import Base
package import Store

/// A comparison of two runs: how many vehicles ended in which way, and which ended differently.
package struct RunComparison: Sendable {
    /// The state of a vehicle at the end of a run.
    struct Fate: Sendable, Equatable {
        /// An outcome, or the progress when there is none.
        let word: String
        let message: String
        /// Whether its rollout is done with success on it.
        let isDone: Bool
    }

    /// A vehicle with different states at the end of the two runs.
    package struct Change: Sendable {
        let vehicle: VehicleID
        let before: Fate
        let after: Fate
    }

    /// The kinds of changes, the worst first.
    package enum Kind: String, CaseIterable, Sendable {
        case lost, gained, other

        var title: String {
            switch self {
            case .lost: "No longer done"
            case .gained: "Now done"
            case .other: "Otherwise than before"
            }
        }
    }

    package let before: RunList.Row
    let after: RunList.Row
    /// The changed vehicles, in the order of their ids.
    package let changes: [Change]
    /// Vehicles that only one of the two runs reports.
    package let onlyBefore: [VehicleID]
    let onlyAfter: [VehicleID]
    /// How many vehicles have the same state at the end of both runs.
    package let same: Int

    /// The records are the last events of each run about its vehicles.
    package init(
        _ before: (row: RunList.Row, words: [EventRecord]),
        _ after: (row: RunList.Row, words: [EventRecord])
    ) {
        (self.before, self.after) = (before.row, after.row)
        let (old, new) = (Self.fates(before.words), Self.fates(after.words))
        var changes: [Change] = []
        var same = 0
        for (vehicle, fate) in new.sorted(by: { $0.key < $1.key }) {
            guard let earlier = old[vehicle] else { continue }
            // For people, `succeeded` and `already-current` are the same.
            if earlier.word == fate.word || (earlier.isDone && fate.isDone) {
                same += 1
            } else {
                changes.append(Change(vehicle: vehicle, before: earlier, after: fate))
            }
        }
        self.changes = changes
        self.same = same
        onlyBefore = old.keys.filter { new[$0] == nil }.sorted()
        onlyAfter = new.keys.filter { old[$0] == nil }.sorted()
    }

    private static func fates(_ records: [EventRecord]) -> [VehicleID: Fate] {
        var fates: [VehicleID: Fate] = [:]
        for record in records {
            switch RunList.body(of: record) {
            case .vehicleEnded(let vehicle, let verdict): fates[vehicle] = Fate(verdict)
            case .vehicleStands(let vehicle, let standing):
                fates[vehicle] =
                    standing.verdict.map { Fate($0) }
                    ?? Fate(
                        word: standing.state.rawValue,
                        message: standing.sentence,
                        isDone: false
                    )
            case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .progress,
                .interrupted, .problem, .retrying, .stepEnded, .warning, .notice, .runEnded, nil:
                break
            }
        }
        return fates
    }

    func changes(_ kind: Kind) -> [Change] { changes.filter { $0.kind == kind } }

    /// The counts of both runs by outcome, without outcomes that neither has.
    var counts: [(name: String, before: Int?, after: Int?)] {
        let (old, new) = (before.end?.vehicles, after.end?.vehicles)
        let outcomes = Outcome.allCases.map { outcome in
            (
                name: outcome.rawValue, before: old.map { $0.outcomes[outcome] ?? 0 },
                after: new.map { $0.outcomes[outcome] ?? 0 }
            )
        }
        let unfinished = (
            name: Standing.unfinished, before: old?.unfinished, after: new?.unfinished
        )
        return (outcomes + [unfinished]).filter { $0.before ?? 0 > 0 || $0.after ?? 0 > 0 }
    }

    /// Sentences about vehicles that only one of the runs reports.
    var loneSentences: [String] {
        [(before, onlyBefore), (after, onlyAfter)].compactMap { row, vehicles in
            guard !vehicles.isEmpty else { return nil }
            let names = vehicles.prefix(Self.mostNames).map(\.text.visible).joined(separator: ", ")
            let rest = vehicles.count - Self.mostNames
            return "only run \(row.run.name) tells of " + names
                + (rest > 0 ? " and \(rest) more" : "")
        }
    }

    private static let mostNames = 20
}

extension RunComparison.Fate {
    fileprivate init(_ verdict: Verdict) {
        self.init(
            word: verdict.outcome.rawValue,
            message: verdict.message,
            isDone: verdict.outcome.tally == .ok || verdict.outcome.tally == .current
        )
    }
}

extension RunComparison.Change {
    var kind: RunComparison.Kind {
        if before.isDone { return .lost }
        return after.isDone ? .gained : .other
    }
}

// MARK: For people

extension RunComparison {
    /// `time` formats a time for people, `list` describes how a run ended.
    package func text(_ list: RunList, _ time: (WallTime) -> String) -> String {
        var text = ""
        for row in [before, after] {
            text += "run \(row.run.name) of \(row.run.rollout.visible), begun "
            text += "\(time(row.run.started)): \(list.sentence(of: row))\n"
        }
        let rows = counts.map { count in
            [count.name, Self.number(count.before), Self.number(count.after)]
        }
        let head = ["", "run \(before.run.name)", "run \(after.run.name)"]
        text += "\n" + Columns.text(head, rows)
        for kind in Kind.allCases {
            let changes = changes(kind)
            guard !changes.isEmpty else { continue }
            text += "\n\(kind.title)\n"
            for change in changes {
                text += "  \(change.vehicle.text.visible)  \(change.before.word) -> "
                text += "\(change.after.word): \(change.after.message.visible)\n"
            }
        }
        let rest =
            loneSentences + ["\(counted(same, "vehicle")) \(same == 1 ? "is" : "are") as before"]
        return text + "\n" + rest.map { $0 + "\n" }.joined()
    }

    static func number(_ count: Int?) -> String { count.map { "\($0)" } ?? "-" }
}

// MARK: For programs

extension RunComparison.Fate: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    static let jsonForm = JSONForm<Self>.object("Fate", "How a run left a vehicle.") {
        Member(
            "state",
            "An outcome, or how far it is without one.",
            as: .word(of: words, \.self),
            \.word
        )
        Member("message", "For people.", \.message)
    }

    private static var words: [String] {
        Outcome.allCases.map(\.rawValue) + Standing.State.allCases.map(\.rawValue)
    }
}

extension RunComparison.Kind: JSONDescribed {}

extension RunComparison.Change: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("vehicle", \.vehicle)
        Member("kind", "Whether it was done and is not, or the other way round.", \.kind)
        Member("before", \.before)
        Member("after", \.after)
    }
}

extension RunComparison: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "Comparison",
        "What `history compare --json` writes."
    ) {
        Member.version
        Member("before", \.before)
        Member("after", \.after)
        Member("changes", "Vehicles that the two left in different ways.", \.changes)
        Member("only-before", "Vehicles that only the first one reports.", \.onlyBefore)
        Member("only-after", "Vehicles that only the second one reports.", \.onlyAfter)
        Member("same", "How many vehicles both left in the same way.", \.same)
    }
}
