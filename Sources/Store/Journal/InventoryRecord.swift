package import Base

/// The inventory's record of one module: when it was heard, and what it reported when it was read.
package struct InventoryRecord: Sendable, Equatable {
    /// One value that a module reports about itself.
    package struct Fact: Sendable, Equatable {
        package enum Kind: String, CaseIterable, Sendable, Hashable {
            /// Its model, type or hardware.
            case identity
            /// The version of one part, by the part's name.
            case version
            case property
        }

        package let kind: Kind
        package let name: String
        package let value: String
        package let unit: String?

        package init(_ kind: Kind, _ name: String, _ value: String, unit: String? = nil) {
            self.kind = kind
            self.name = name
            self.value = value
            self.unit = unit
        }
    }

    /// The problem of a module that is not in reach, or asleep.
    package static let notHeard = "not heard"
    /// The beginning of the text of a problem: another gateway works on the vehicle.
    package static let leftAlone = "left alone: "

    package let serial: Serial
    package let family: Family
    package let profile: String
    /// Nil for a module that is in no fleet list.
    package var vehicle: VehicleID?
    /// The name that it advertises.
    package var name: String?
    /// In dBm, when it was heard last.
    package var signal: Int?
    package var adapter: String?
    /// How the program was paired with it when it was last read.
    package var bond: String?
    package var isInBootloader = false
    package var heard: WallTime?
    package var read: WallTime?
    /// When the inventory last searched for it.
    package let looked: WallTime
    /// Why it was not read then.
    package var problem: String?
    /// The values of the last time that it was read.
    package var facts: [Fact] = []

    package init(serial: Serial, family: Family, profile: String, looked: WallTime) {
        self.serial = serial
        self.family = family
        self.profile = profile
        self.looked = looked
    }

    package func facts(_ kind: Fact.Kind) -> [Fact] { facts.filter { $0.kind == kind } }

    package func fact(_ kind: Fact.Kind, _ name: String) -> Fact? {
        facts.first { $0.kind == kind && $0.name == name }
    }
}

/// The last version that a run read from a vehicle's module.
package struct RunVersion: Sendable, Equatable {
    package let vehicle: VehicleID
    package let time: WallTime
    package let version: FirmwareVersion
}

extension Journal {
    /// Stores the results of an inventory; a module that was not read this time keeps its earlier
    /// values.
    package func keep(_ records: [InventoryRecord]) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            for record in records { try Self.keep(record, in: database) }
        }
    }

    private static func keep(
        _ record: InventoryRecord,
        in database: JournalDatabase
    ) throws(JournalError) {
        let key: [Value] = [.text(record.serial.text), .text(record.family.rawValue)]
        if let vehicle = record.vehicle {
            // A vehicle that got another module has only that one.
            try database.statement(
                """
                UPDATE inventory SET vehicle = NULL
                WHERE vehicle = ?3 AND NOT (serial = ?1 AND family = ?2)
                """
            ).run(key + [.text(vehicle.text)])
        }
        try database.statement(
            """
            INSERT INTO inventory (serial, family, profile, vehicle, name, signal, adapter, bond,
                in_bootloader, heard, read, looked, problem)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (serial, family) DO UPDATE SET
                profile = excluded.profile,
                vehicle = coalesce(excluded.vehicle, vehicle),
                name = coalesce(excluded.name, name),
                signal = coalesce(excluded.signal, signal),
                adapter = coalesce(excluded.adapter, adapter),
                bond = coalesce(excluded.bond, bond),
                in_bootloader = CASE WHEN excluded.heard IS NULL
                    THEN in_bootloader ELSE excluded.in_bootloader END,
                heard = coalesce(excluded.heard, heard),
                read = coalesce(excluded.read, read),
                looked = excluded.looked,
                problem = excluded.problem
            """
        ).run(
            key + [
                .text(record.profile), Value(record.vehicle?.text), Value(record.name),
                Value(record.signal), Value(record.adapter), Value(record.bond),
                Value(record.isInBootloader ? 1 : 0), Value(record.heard), Value(record.read),
                Value(record.looked), Value(record.problem),
            ]
        )
        guard record.read != nil else { return }
        try database.statement("DELETE FROM inventory_facts WHERE serial = ? AND family = ?")
            .run(key)
        let insert = try database.statement(
            """
            INSERT OR REPLACE INTO inventory_facts (serial, family, kind, name, value, unit)
            VALUES (?, ?, ?, ?, ?, ?)
            """
        )
        for fact in record.facts {
            try insert.run(
                key + [
                    .text(fact.kind.rawValue), .text(fact.name), .text(fact.value),
                    Value(fact.unit),
                ]
            )
        }
    }
}

extension JournalView {
    /// Every module that an inventory has seen, by vehicle and then by serial.
    package func inventory() throws(JournalError) -> [InventoryRecord] {
        struct Key: Hashable {
            let serial: String
            let family: String
        }
        let facts = try rows(
            """
            SELECT serial, family, kind, name, value, unit FROM inventory_facts
            ORDER BY serial, family, kind, name
            """,
            [],
            { row throws(JournalError) in
                (
                    Key(serial: row.text(0) ?? "", family: row.text(1) ?? ""),
                    InventoryRecord.Fact(
                        try row.value(2) { InventoryRecord.Fact.Kind(rawValue: $0) },
                        row.text(3) ?? "",
                        row.text(4) ?? "",
                        unit: row.text(5)
                    )
                )
            }
        )
        let known = Dictionary(grouping: facts) { $0.0 }
        return try rows(
            """
            SELECT serial, family, profile, vehicle, name, signal, adapter, bond, in_bootloader,
                heard, read, looked, problem
            FROM inventory ORDER BY vehicle IS NULL, vehicle, serial, family
            """,
            [],
            { row throws(JournalError) in
                var record = InventoryRecord(
                    serial: try row.value(0) { Serial($0) },
                    family: try row.value(1) { Family(rawValue: $0) },
                    profile: row.text(2) ?? "",
                    looked: WallTime(milliseconds: row.integer(11))
                )
                record.vehicle = try row.optional(3) { VehicleID($0) }
                record.name = row.text(4)
                record.signal = row.isNull(5) ? nil : Int(row.integer(5))
                record.adapter = row.text(6)
                record.bond = row.text(7)
                record.isInBootloader = row.isTrue(8)
                record.heard = row.time(9)
                record.read = row.time(10)
                record.problem = row.text(12)
                let key = Key(serial: record.serial.text, family: record.family.rawValue)
                record.facts = (known[key] ?? []).map(\.1)
                return record
            }
        )
    }

    /// The version of each vehicle when a run last read it.
    package func runVersions() throws(JournalError) -> [RunVersion] {
        try rows(
            """
            SELECT vehicle, MAX(updated), version_after FROM executions
            WHERE version_after IS NOT NULL GROUP BY vehicle
            """,
            [],
            { row throws(JournalError) in
                RunVersion(
                    vehicle: try row.value(0) { VehicleID($0) },
                    time: WallTime(milliseconds: row.integer(1)),
                    version: try row.value(2) { FirmwareVersion($0) }
                )
            }
        )
    }
}
