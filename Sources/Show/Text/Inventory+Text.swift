package import Base
import Store

extension Inventory {
    /// One line for each module; `time` formats a time for people.
    package func table(_ time: (WallTime) -> String) -> String {
        let cells = rows.map { row -> [String] in
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
        return Columns.text(head, cells)
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
            let cells: [String] = [
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

extension InventoryRecord.Fact {
    private typealias Member = JSONForm<Self>.Member

    fileprivate static let property = JSONForm<Self>.object {
        Member("name", \.name)
        Member("value", \.value)
        Member(ifAny: "unit", \.unit)
    }
}

extension Inventory.Row: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "Inventory",
        "The known facts about a module, as `inventory --json` lists them."
    ) {
        Member(ifAny: "vehicle", "Missing for a module that is in no fleet list.", \.vehicle)
        Member("serial", \.serial)
        Member("family", \.family.rawValue)
        Member("profile", \.profile)
        Member(ifAny: "name", "The name that it advertises.") { $0.record?.name }
        Member(
            "firmware",
            "The version of each part.",
            as: .texts { $0.map { (name: $0.part, text: $0.version) } },
            \.versions
        )
        Member(
            "identity",
            "What the module reports about its type and hardware.",
            as: .texts { $0.map { (name: $0.name, text: $0.value) } }
        ) { $0.record?.facts(.identity) ?? [] }
        Member("properties", as: InventoryRecord.Fact.property.list) {
            $0.record?.facts(.property) ?? []
        }
        Member(ifAny: "battery", "The battery level, with its unit.", \.battery)
        Member(ifAny: "signal", "In dBm, when it was last heard.") { $0.record?.signal }
        Member(ifAny: "adapter", "The adapter that heard it.") { $0.record?.adapter }
        Member(ifAny: "bond", "How it was paired with.") { $0.record?.bond }
        Member("bootloader", "Whether it was in its bootloader.") {
            $0.record?.isInBootloader ?? false
        }
        Member(ifAny: "last-seen", "When an inventory or a run had an answer.", \.lastSeen)
        Member(ifAny: "read", "When it was read last.") { $0.record?.read }
        Member("debts", "Debts and doubts, in sentences for people.", \.debts)
        Member("drift", "Differences from the manifest, in sentences for people.", \.drift)
        Member(ifAny: "problem", "Why it was not read.") { $0.record?.problem }
    }
}

extension Inventory.Row {
    /// Lines for people, which `show` adds for a vehicle.
    func lines(_ time: (WallTime) -> String) -> [String] {
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
