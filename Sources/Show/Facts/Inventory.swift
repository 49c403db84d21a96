package import Base
package import Manifest
package import Store

/// The modules in the yard, vehicle by vehicle, from the journal at one moment.
///
/// Each row has what the module reported last, what is owed to it, and how it differs from the
/// manifest.
package struct Inventory: Sendable {
    /// The names of battery properties in profiles, and the name for the standard service's value.
    package static let batteryNames = [
        "state_of_charge", "battery_level", "battery", "battery_charge",
    ]

    /// One vehicle of the fleet list, or one module that is in none.
    package struct Row: Sendable {
        let vehicle: VehicleID?
        let serial: Serial
        let family: Family
        let profile: String
        /// Nil for a module that no inventory has seen.
        let record: InventoryRecord?
        /// The versions of its parts, with those that a run has read since then.
        let versions: [(part: String, version: String)]
        /// When an inventory heard it or a run got an answer from it, whichever was last.
        let lastSeen: WallTime?
        /// Debts, doubts and owed steps, in sentences for people.
        let debts: [String]
        /// Differences from the manifest, in sentences for people.
        let drift: [String]

        /// The battery level with its unit; nil when it is unknown.
        var battery: String? {
            for name in Inventory.batteryNames {
                guard let fact = record?.fact(.property, name) else { continue }
                return fact.unit == "percent" || fact.unit == nil
                    ? fact.value + "%" : "\(fact.value) \(fact.unit ?? "")"
            }
            return nil
        }

        var model: String? { record?.fact(.identity, "model")?.value }

        /// The version of the module's main firmware.
        var version: String? {
            (versions.first { $0.part == ModulePart.secondary.rawValue } ?? versions.first)?.version
        }
    }

    package let rows: [Row]
    /// The manifest that it is compared with, by its rollout's name.
    let rollout: String?

    /// With a plan, its vehicles, limited to `chosen`; else every module that was searched for at
    /// `since` or later.
    package init(
        in view: JournalView,
        plan: FrozenPlan?,
        chosen: Set<VehicleID>? = nil,
        since: WallTime? = nil
    ) throws(JournalError) {
        let ground = try Ground(view)
        rollout = plan?.name
        guard let plan else {
            rows = ground.records.filter { $0.looked >= since ?? $0.looked }
                .map { ground.row(of: $0, $0.vehicle) }
            return
        }
        rows = plan.vehicles.filter { chosen?.contains($0.id) ?? true }
            .map { ground.row(of: $0, in: plan) }
    }

    private init(rows: [Row], rollout: String?) {
        self.rows = rows
        self.rollout = rollout
    }

    /// The rows that a person has to look at.
    package var onlyStriking: Inventory {
        Inventory(
            rows: rows.filter {
                !$0.debts.isEmpty || !$0.drift.isEmpty || $0.record?.problem != nil
            },
            rollout: rollout
        )
    }

    /// The number of rows, and how many have each kind of problem.
    package var summary: String {
        let missing = rows.count { $0.record?.read == nil }
        let drifted = rows.count { !$0.drift.isEmpty }
        let owing = rows.count { !$0.debts.isEmpty }
        var text = "\(rows.count) \(rollout == nil ? "module" : "vehicle")"
        if rows.count != 1 { text += "s" }
        if missing > 0 { text += ", \(missing) never read" }
        if drifted > 0 { text += ", \(drifted) not as the manifest has them" }
        if owing > 0 { text += ", \(owing) with something owed" }
        return text
    }

    /// One vehicle, if an inventory has seen it.
    static func row(
        of vehicle: VehicleID,
        in view: JournalView
    ) throws(JournalError) -> Row? {
        let ground = try Ground(view)
        return ground.records.first { $0.vehicle == vehicle }.map { ground.row(of: $0, vehicle) }
    }

    /// The journal's records, read at one moment.
    private struct Ground {
        struct Key: Hashable {
            let serial: Serial
            let family: Family
        }

        let records: [InventoryRecord]
        let byModule: [Key: InventoryRecord]
        let runs: [VehicleID: RunVersion]
        let seen: [VehicleID: WallTime]
        let debts: [Debt]
        let owed: [OwedStep]
        let doubts: [IntentRecord]
        let recalls: [RecallUse]

        init(_ view: JournalView) throws(JournalError) {
            records = try view.inventory()
            byModule = Dictionary(
                records.map { (Key(serial: $0.serial, family: $0.family), $0) }
            ) { first, _ in first }
            runs = Dictionary(try view.runVersions().map { ($0.vehicle, $0) }) { $1 }
            seen = Dictionary(try view.sightings().map { ($0.vehicle, $0.time) }) { max($0, $1) }
            debts = try view.debts()
            owed = try view.owed(by: nil)
            doubts = try view.doubts(of: nil)
            recalls = try view.recallUses()
        }

        /// That the module runs a recalled image.
        private func recalled(_ serial: Serial) -> [String] {
            recalls.filter { $0.running.contains { $0.serial == serial } }.map { use in
                "runs \(use.recall.name), which is recalled, by \(use.recall.author): \(use.recall.reason)"
            }
        }

        func row(of record: InventoryRecord, _ vehicle: VehicleID?) -> Row {
            Row(
                vehicle: vehicle,
                serial: record.serial,
                family: record.family,
                profile: record.profile,
                record: record,
                versions: versions(record, vehicle, .secondary),
                lastSeen: lastSeen(record, vehicle),
                debts: debts(of: vehicle, record.serial),
                drift: recalled(record.serial)
            )
        }

        func row(of planned: PlannedVehicle, in plan: FrozenPlan) -> Row {
            let record = byModule[Key(serial: planned.serial, family: planned.family)]
            let updates = planned.updates
            let versions = versions(record, planned.id, updates.last?.part ?? .secondary)
            let drift = Drift(plan, planned, updates, record, versions)
            return Row(
                vehicle: planned.id,
                serial: planned.serial,
                family: planned.family,
                profile: planned.profile,
                record: record,
                versions: versions,
                lastSeen: lastSeen(record, planned.id),
                debts: debts(of: planned.id, planned.serial),
                drift: recalled(planned.serial) + drift.sentences
            )
        }

        /// A version that a run has read after the inventory replaces the inventory's.
        private func versions(
            _ record: InventoryRecord?,
            _ vehicle: VehicleID?,
            _ part: ModulePart
        ) -> [(part: String, version: String)] {
            var known: [String: String] = [:]
            for fact in record?.facts(.version) ?? [] { known[fact.name] = fact.value }
            if let run = vehicle.flatMap({ runs[$0] }), record?.read.map({ $0 < run.time }) ?? true
            {
                known[part.rawValue] = run.version.description
            }
            return ModulePart.allCases.compactMap { part in
                known[part.rawValue].map { (part.rawValue, $0) }
            }
        }

        private func lastSeen(_ record: InventoryRecord?, _ vehicle: VehicleID?) -> WallTime? {
            [record?.heard, vehicle.flatMap { seen[$0] }].compactMap { $0 }.max()
        }

        private func debts(of vehicle: VehicleID?, _ serial: Serial) -> [String] {
            debts.filter { $0.serial == serial || $0.vehicle == vehicle }
                .map { "owes the update to \($0.title)" }
                + doubts.filter { $0.intent.vehicle == vehicle }
                .map { "`\($0.intent.description)` is in doubt" }
                + owed.filter { $0.vehicle == vehicle }.map { "owes `\($0.action)`" }
        }
    }
}

extension PlannedVehicle {
    /// The updates whose images remain at the end: one for each part.
    fileprivate var updates: [UpdateStep] {
        var last: [UpdateStep] = []
        for case .update(let update) in steps.map(\.action) {
            last.removeAll { $0.part == update.part }
            last.append(update)
        }
        return last
    }

    /// The properties that its steps set, each with its last value.
    fileprivate var settings: [Assignment] {
        var last: [Assignment] = []
        for case .set(let assignments) in steps.map(\.action) {
            for assignment in assignments {
                last.removeAll { $0.name == assignment.name }
                last.append(assignment)
            }
        }
        return last
    }
}

/// The differences between a module and the manifest.
private struct Drift {
    let sentences: [String]

    init(
        _ plan: FrozenPlan,
        _ planned: PlannedVehicle,
        _ updates: [UpdateStep],
        _ record: InventoryRecord?,
        _ versions: [(part: String, version: String)]
    ) {
        var list: [String] = []
        for update in updates {
            guard let image = plan.image(named: update.image) else { continue }
            let part = update.part == .secondary ? "" : "\(update.part.rawValue) "
            let wanted = image.version.description
            if let found = versions.first(where: { $0.part == update.part.rawValue })?.version {
                if found != wanted { list.append("\(part)\(found), not \(wanted)") }
            } else {
                list.append("\(part)version not known, not proven to be \(wanted)")
            }
            for (name, limit) in [("type", image.fits.type), ("variant", image.fits.variant)] {
                guard let limit, let found = record?.fact(.identity, name)?.value,
                    found != "\(limit)"
                else { continue }
                list.append("\(name) \(found), and \(image.name) is for \(limit)")
            }
        }
        for setting in planned.settings {
            guard let found = record?.fact(.property, setting.name)?.value,
                found != setting.value.text
            else { continue }
            list.append("\(setting.name) \(found), not \(setting.value.text)")
        }
        sentences = list
    }
}
