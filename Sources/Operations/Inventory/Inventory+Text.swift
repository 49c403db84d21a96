package import Domain
import Journal
import Reports
package import Wire

extension Inventory {
    /// A line for each; `time` writes a time as people have it.
    package func table(_ time: (WallTime) -> String) -> String {
        let cells = rows.map { row in
            [
                row.vehicle?.text.visible ?? "-", row.serial.text,
                row.model?.visible ?? "\(row.family.rawValue)/\(row.profile)",
                row.versions.isEmpty
                    ? "-"
                    : row.versions.map { version in
                        version.part == ModulePart.secondary.rawValue
                            ? version.version : "\(version.part) \(version.version)"
                    }.joined(separator: ", "),
                row.battery ?? "-", row.record?.signal.map { "\($0) dBm" } ?? "-",
                row.lastSeen.map(time) ?? "never", row.record?.bond ?? "-",
                (row.debts + row.drift + [row.record?.problem].compactMap { $0 })
                    .joined(separator: "; ").visible,
            ]
        }
        let head = [
            "vehicle", "serial", "model", "versions", "battery", "signal", "seen", "bond", "what",
        ]
        return Columns.table([head] + cells).map { $0.trimmed + "\n" }.joined()
    }

    /// For spreadsheets (RFC 4180).
    package var csv: String {
        let head = [
            "vehicle", "serial", "family", "profile", "model", "version", "versions", "type",
            "variant", "hardware", "battery", "signal_dbm", "last_seen", "read", "bond", "adapter",
            "debts", "drift", "problem",
        ]
        var text = head.joined(separator: ",") + "\r\n"
        for row in rows {
            func identity(_ name: String) -> String {
                row.record?.fact(.identity, name)?.value ?? ""
            }
            let cells = [
                row.vehicle?.text ?? "", row.serial.text, row.family.rawValue, row.profile,
                row.model ?? "", row.version ?? "",
                row.versions.map { "\($0.part) \($0.version)" }.joined(separator: "; "),
                identity("type"), identity("variant"), identity("hardware"), row.battery ?? "",
                row.record?.signal.map { "\($0)" } ?? "", row.lastSeen?.description ?? "",
                row.record?.read?.description ?? "", row.record?.bond ?? "",
                row.record?.adapter ?? "", row.debts.joined(separator: "; "),
                row.drift.joined(separator: "; "), row.record?.problem ?? "",
            ]
            text +=
                cells.map { Int($0) == nil ? CSVReport.cell($0) : $0 }.joined(separator: ",")
                + "\r\n"
        }
        return text
    }

    package func json(exit code: Int, reason: String) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": rollout.map { .string($0) },
            "vehicles": .array(rows.map(\.json)),
            "exit": .object(["code": .int(code), "reason": .string(reason)]),
        ])
    }
}

extension Inventory.Row {
    package var json: JSONValue {
        .object([
            "vehicle": vehicle.map { .string($0.text) },
            "serial": .string(serial.text),
            "family": .string(family.rawValue),
            "profile": .string(profile),
            "name": record?.name.map { .string($0) },
            "firmware": .object(
                versions.map { JSONMember($0.part, .string($0.version)) }
            ),
            "identity": .object(
                (record?.facts(.identity) ?? []).map { JSONMember($0.name, .string($0.value)) }
            ),
            "properties": .array(
                (record?.facts(.property) ?? []).map { fact in
                    .object([
                        "name": .string(fact.name), "value": .string(fact.value),
                        "unit": fact.unit.map { .string($0) },
                    ])
                }
            ),
            "battery": battery.map { .string($0) },
            "signal": record?.signal.map { .int($0) },
            "adapter": record?.adapter.map { .string($0) },
            "bond": record?.bond.map { .string($0) },
            "bootloader": .bool(record?.isInBootloader ?? false),
            "last-seen": lastSeen.map { .string($0.description) },
            "read": record?.read.map { .string($0.description) },
            "debts": .array(debts.map { .string($0) }),
            "drift": .array(drift.map { .string($0) }),
            "problem": record?.problem.map { .string($0) },
        ])
    }

    /// Lines for people: what `show` adds of a vehicle.
    package func lines(_ time: (WallTime) -> String) -> [String] {
        guard let record else { return [] }
        var lines: [String] = []
        let identity = record.facts(.identity).map { "\($0.name) \($0.value.visible)" }
        if !identity.isEmpty { lines.append(identity.joined(separator: ", ")) }
        if versions.count > 1 {
            lines.append(versions.map { "\($0.part) \($0.version)" }.joined(separator: ", "))
        }
        let held = record.facts(.property).map { fact in
            "\(fact.name) \(fact.value)" + (fact.unit.map { " \($0)" } ?? "")
        }
        if !held.isEmpty { lines.append(held.joined(separator: ", ").visible) }
        var reading: [String] = []
        if let read = record.read { reading.append("read \(time(read))") }
        if let bond = record.bond { reading.append("bond: \(bond)") }
        if let adapter = record.adapter { reading.append("by \(adapter)") }
        if let problem = record.problem {
            reading.append("looked for \(time(record.looked)): \(problem)")
        }
        if !reading.isEmpty { lines.append(reading.joined(separator: ", ")) }
        return lines
    }
}

extension String {
    /// Without the spaces at its end.
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
