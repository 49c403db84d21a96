package import Base
package import Store

/// A list of runs, as `history` and the pages of `serve` list them.
package struct RunList: Sendable {
    /// A run, with its own report of its end.
    package struct Row: Sendable {
        package let run: RunRecord
        package let end: RunEnd?
        /// The sentence about a gateway's run without an end.
        let open: String?

        init(_ run: RunRecord, end: RunEnd?, open: String? = nil) {
            self.run = run
            self.end = end
            self.open = open
        }

        /// How long the run took, as it reported itself: wall clocks may be set meanwhile.
        package var took: Duration? { end?.took }

        package init(_ run: RunRecord, lastEvent: EventRecord?) {
            self.run = run
            open = nil
            if case .runEnded(let told)? = lastEvent.flatMap(RunList.body) {
                end = told
            } else {
                end = nil
            }
        }
    }

    /// The newest first.
    package let rows: [Row]
    /// People's commands since the oldest of these runs began, the newest first.
    package let sayings: [Saying]
    fileprivate let holder: LockHolder?
    /// The source of this answer; nil on a machine that belongs to no fleet.
    package var source: StandingSource?

    package init(_ rows: [Row], sayings: [Saying], holder: LockHolder?) {
        self.rows = rows
        self.sayings = sayings
        self.holder = holder
    }

    /// How many commands of people are listed.
    package static let mostSayings = 100

    /// The titles of tables of people's commands: after which run, when, by whom, and what.
    package static let sayingTitles = ["after run", "said", "by", "what"]

    package static func words(_ saying: Saying, _ time: (WallTime) -> String) -> [String] {
        [
            saying.runName.map { "\($0)" } ?? "-", time(saying.made), saying.author.visible,
            saying.words,
        ]
    }

    /// The sentence that is printed about a run.
    package func sentence(of row: Row) -> String {
        guard let end = row.run.end else {
            if let open = row.open { return open }
            return holder.map { "at work now: process \($0.pid)" } ?? "was cut off"
        }
        guard let told = row.end else {
            return end.exitCode == nil ? "was cut off" : end.reason.visible
        }
        return "\(told.vehicles.sentence): \(told.reason.visible)"
    }

    package static func body(of record: EventRecord) -> Event.Body? {
        guard let line = try? JSONValue(json: record.json) else { return nil }
        return EventReader.body(kind: record.kind, vehicle: record.vehicle, line)
    }
}

extension RunList.Row: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        RunRecord.members.map { $0.inside(\.run) }
        Member(ifAny: "counts", "As the run itself reported them at its end.") { $0.end?.vehicles }
    }
}

extension RunList: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "History",
        "What `history --json` writes."
    ) {
        Member.version
        Member(ifAny: "source", \.source)
        Member("running", "Whether a process works in the state directory.") { $0.holder != nil }
        Member("runs", "The newest first.", \.rows)
        Member("said", \.sayings)
    }
}
