import Domain
package import Journal
package import Reports
package import Wire

/// The runs that there were, as `history` and the pages of `serve` list them.
package struct RunList: Sendable {
    /// A run, and what it said itself of its end.
    package struct Row: Sendable {
        package let run: RunRecord
        package let end: RunEnd?

        package init(_ run: RunRecord, lastEvent: EventRecord?) {
            self.run = run
            if case .runEnded(let told)? = lastEvent.flatMap(RunList.body) {
                end = told
            } else {
                end = nil
            }
        }
    }

    /// The newest first.
    package let rows: [Row]
    private let holder: LockHolder?

    package init(_ rows: [Row], holder: LockHolder?) {
        self.rows = rows
        self.holder = holder
    }

    /// What people are told of a run.
    package func sentence(of row: Row) -> String {
        guard let end = row.run.end else {
            return holder.map { "at work now: \($0)" } ?? "was cut off"
        }
        guard let told = row.end else {
            return end.exitCode == nil ? "was cut off" : end.reason.visible
        }
        return "\(told.vehicles.sentence): \(told.reason.visible)"
    }

    package var json: JSONValue {
        .object([
            "schema": 1,
            "running": .bool(holder != nil),
            "runs": .array(
                rows.map { row in
                    .object(
                        Self.members(row.run)
                            + (row.end?.members.filter { $0.name == "counts" } ?? [])
                    )
                }
            ),
        ])
    }

    package static func members(_ run: RunRecord) -> [JSONMember] {
        let value = JSONValue.object([
            "run": .int(run.number),
            "rollout": .string(run.rollout),
            "plan": .string(run.plan.description),
            "seed": run.seed.map { .seed($0) },
            "started": .string(run.started.description),
            "ended": run.end.map { .string($0.time.description) },
            "exit": run.end.map { end in
                .object([
                    "code": end.exitCode.map { .int($0) } ?? .null, "reason": .string(end.reason),
                ])
            },
        ])
        return value.members ?? []
    }

    package static func body(of record: EventRecord) -> Event.Body? {
        guard let line = try? JSONValue(json: record.json) else { return nil }
        return EventReader.body(kind: record.kind, vehicle: record.vehicle, line)
    }
}
