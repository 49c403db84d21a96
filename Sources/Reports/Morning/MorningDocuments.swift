import Domain
package import Wire

extension MorningPage {
    /// For programs: times in UTC.
    package var json: JSONValue {
        .object([
            "schema": 1,
            "since": .string(since.description),
            "made": .string(made.description),
            "summary": .string(summary),
            "rollouts": .array(
                nights.map { night in
                    .object([
                        "rollout": .string(night.rollout),
                        "run": .int(night.run),
                        "began": .string(night.began.description),
                        "ended": night.ended.map { .string($0.description) },
                        "exit": night.exitCode.map { .int($0) },
                        "reason": .string(night.reason),
                        "counts": night.counts.json,
                    ])
                }
            ),
            "tasks": .array(
                tasks.map { task in
                    .object(
                        task.card.members + [JSONMember("rollout", .string(task.rollout))]
                            + (task.step.json.members ?? [])
                    )
                }
            ),
            "changes": .object(
                changes.lists.map { list in
                    JSONMember(list.key, .array(list.vehicles.map { .string($0.text) }))
                }
            ),
            "stale-days": .int(staleDays),
            "stale": .array(
                stale.map { item in
                    let current = item.lastCurrent.map { JSONValue.string($0.description) }
                    return .object(
                        item.card.members + [JSONMember("last-current", current ?? .null)]
                    )
                }
            ),
        ])
    }

    /// A line a task, for spreadsheets.
    package var csv: String {
        let columns = [
            "work", "depot", "bay", "vehicle", "plate", "serial", "last_seen", "signal", "rollout",
            "sentence", "commands",
        ]
        var text = columns.joined(separator: ",") + "\r\n"
        for task in tasks {
            let card = task.card
            let cells = [
                task.step.work.rawValue, card.depot ?? "", card.bay ?? "", card.vehicle.text,
                card.plate ?? "", card.serial?.text ?? "", card.lastSeen?.description ?? "",
                card.signal ?? "", task.rollout, task.step.sentence,
                task.step.commands.map(\.line).joined(separator: " | "),
            ]
            text += cells.map { CSVReport.cell($0) }.joined(separator: ",") + "\r\n"
        }
        return text
    }
}

extension MorningPage.Card {
    fileprivate var members: [JSONMember] {
        let value = JSONValue.object([
            "vehicle": .string(vehicle.text),
            "serial": serial.map { .string($0.text) },
            "plate": plate.map { .string($0) },
            "depot": depot.map { .string($0) },
            "bay": bay.map { .string($0) },
            "last-seen": lastSeen.map { .string($0.description) },
            "signal": signal.map { .string($0) },
        ])
        return value.members ?? []
    }
}
