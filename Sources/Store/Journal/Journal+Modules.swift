package import Base

/// A vehicle of a list, with the serial by which its work is known: its module's, or its GO
/// device's when it has no module.
package struct ListedVehicle: Sendable, Equatable {
    package let id: VehicleID
    package let serial: Serial

    package init(_ id: VehicleID, _ serial: Serial) { (self.id, self.serial) = (id, serial) }
}

/// A difference between a list and what the journal knows about vehicles and their modules.
package enum ListChange: Sendable, Equatable {
    /// The module was in another vehicle, or its vehicle had another id.
    ///
    /// `open` says what is open on the vehicle as it was known; then the two are not the same.
    case elsewhere(ListedVehicle, known: VehicleID, open: String?)
    /// The vehicle had another module.
    case replaced(ListedVehicle, known: Serial)

    /// The sentence for people.
    package var sentence: String {
        switch self {
        case .elsewhere(let listed, let known, _):
            "the list has the module \(listed.serial) in \(listed.id); it was in \(known)"
        case .replaced(let listed, let known):
            "the list has the module \(listed.serial) in \(listed.id), which had \(known)"
        }
    }
}

/// Why people's word about vehicles and modules was not taken.
package enum ModuleRefusal: Error, Sendable, Equatable {
    case unknownVehicle(VehicleID)
    case unknownModule(Serial)
    /// Another vehicle has the name already, and something is open on it, or both are in a rollout.
    case nameInUse(VehicleID)
}

// Which vehicle each module is in, by the lists of the runs so far and by people's words.

extension JournalView {
    /// The vehicle of each module; nil for one that was taken out.
    package func modules() throws(JournalError) -> [Serial: VehicleID?] {
        var modules: [Serial: VehicleID?] = [:]
        let found = try rows("SELECT serial, vehicle FROM modules", []) {
            row throws(JournalError) in
            (try row.value(0) { Serial($0) }, try row.optional(1) { VehicleID($0) })
        }
        for (serial, vehicle) in found { modules.updateValue(vehicle, forKey: serial) }
        return modules
    }

    /// The vehicles in the list of this run; empty for an order.
    package func listed(by run: Int) throws(JournalError) -> Set<VehicleID> {
        Set(
            try rows(
                "SELECT vehicle FROM modules WHERE run = ? AND vehicle IS NOT NULL",
                [Value(run)]
            ) { row throws(JournalError) in try row.value(0) { VehicleID($0) } }
        )
    }

    /// How the list differs from what is known, in the order of the list.
    package func changes(
        in list: [ListedVehicle],
        at now: WallTime
    ) throws(JournalError) -> [ListChange] {
        let known = try modules()
        guard !known.isEmpty else { return [] }
        var modules: [VehicleID: Serial] = [:]
        for (serial, vehicle) in known { if let vehicle { modules[vehicle] = serial } }
        var changes: [ListChange] = []
        for vehicle in list {
            if let owner = known[vehicle.serial] ?? nil, owner != vehicle.id {
                changes.append(
                    .elsewhere(vehicle, known: owner, open: try open(on: owner, at: now))
                )
            } else if let other = modules[vehicle.id], other != vehicle.serial,
                known[vehicle.serial] != .some(vehicle.id)
            {
                changes.append(.replaced(vehicle, known: other))
            }
        }
        return changes
    }

    /// Whether a plan was begun on both vehicles.
    fileprivate func share(_ one: VehicleID, _ other: VehicleID) throws(JournalError) -> Bool {
        try !rows(
            """
            SELECT 1 FROM executions AS one JOIN executions AS other
              ON other.rollout = one.rollout AND other.plan IS one.plan
            WHERE one.vehicle = ? AND other.vehicle = ? LIMIT 1
            """,
            [.text(one.text), .text(other.text)]
        ) { _ throws(JournalError) in true }.isEmpty
    }

    /// What belongs to a vehicle, and not to its module, and is open; nil when nothing is.
    fileprivate func open(on vehicle: VehicleID, at now: WallTime) throws(JournalError) -> String? {
        if let inhibit = try inhibits(at: now).first(where: { $0.vehicle == vehicle }) {
            return "\(vehicle) is inhibited: \(inhibit.reason)"
        }
        if let doubt = try doubts(of: vehicle).first {
            return "nobody knows whether \(vehicle) carried out `\(doubt.intent.description)`"
        }
        if let step = try owed(by: vehicle).first {
            return "\(vehicle) owes `\(step.action)`"
        }
        return nil
    }
}

extension Journal {
    /// How the list differs from what is known.
    package func changes(
        in list: [ListedVehicle],
        at now: WallTime
    ) throws(JournalError) -> [ListChange] {
        try view().changes(in: list, at: now)
    }

    /// Takes a list over: its modules are in its vehicles from now on, with their debts.
    ///
    /// A module that was in one of these vehicles and is in none now is known by its serial.
    static func follow(
        _ list: [ListedVehicle],
        by run: Int,
        isOrder: Bool,
        in database: JournalDatabase
    ) throws(JournalError) {
        let view = JournalView(database: database)
        let known = try view.modules()
        let listed = Set(list.map(\.serial))
        let ids = Set(list.map(\.id))
        let owners = Set(known.values.compactMap(\.self))
        // What is reported besides the vehicles of a run is no matter of an order.
        let put = try database.statement(
            """
            INSERT INTO modules (serial, vehicle, run) VALUES (?1, ?2, ?3)
            ON CONFLICT (serial) DO UPDATE SET vehicle = ?2, run = max(run, ?3)
            """
        )
        for vehicle in list {
            try put.run([
                .text(vehicle.serial.text), .text(vehicle.id.text), Value(isOrder ? 0 : run),
            ])
            // With nothing open on the vehicle, it is the same whether it has another id or not.
            guard let owner = known[vehicle.serial] ?? nil, owner != vehicle.id,
                !ids.contains(owner), !owners.contains(vehicle.id)
            else { continue }
            try rename(owner.text, vehicle.id.text, in: database)
        }
        for (serial, vehicle) in known {
            guard let vehicle, ids.contains(vehicle), !listed.contains(serial) else { continue }
            try database.statement("UPDATE modules SET vehicle = NULL WHERE serial = ?")
                .run([.text(serial.text)])
        }
        var vehicles: [Serial: VehicleID] = [:]
        for vehicle in list { vehicles[vehicle.serial] = vehicle.id }
        for debt in try view.debts() {
            let now =
                vehicles[debt.serial] ?? (ids.contains(debt.vehicle) ? debt.serial.vehicle : nil)
            if let now { try carry(debt, to: now, in: database) }
        }
    }

    private static func carry(
        _ debt: Debt,
        to vehicle: VehicleID,
        in database: JournalDatabase
    ) throws(JournalError) {
        guard debt.vehicle != vehicle else { return }
        try database.statement("UPDATE debts SET vehicle = ? WHERE serial = ?")
            .run([.text(vehicle.text), .text(debt.serial.text)])
    }

    /// Records that vehicles have other ids now, all at once: everything that is known of them, and
    /// their executions, are under the new ids.
    package func rename(
        _ names: [(old: VehicleID, new: VehicleID)],
        at now: WallTime,
        saying: Saying
    ) throws(JournalError) -> ModuleRefusal? {
        let database = try opened()
        let refusal: ModuleRefusal? = try database.transaction(.durable) {
            () throws(JournalError) in
            let view = JournalView(database: database)
            let known = try view.vehicles().union(try view.modules().values.compactMap(\.self))
            let olds = Set(names.map { $0.old })
            for (old, new) in names {
                guard known.contains(old) else { return .unknownVehicle(old) }
                guard !olds.contains(new) else { continue }
                guard try view.open(on: new, at: now) == nil, try !view.share(old, new) else {
                    return .nameInUse(new)
                }
            }
            // In two steps, because a new id may be another vehicle's old one.
            for (old, new) in names {
                try Self.rename(old.text, "\u{1}" + new.text, in: database)
            }
            for (_, new) in names {
                try Self.rename("\u{1}" + new.text, new.text, in: database)
            }
            try Self.note(saying, in: database)
            return nil
        }
        if refusal == nil { try writeOutside(names) }
        return refusal
    }

    private static func rename(
        _ old: String,
        _ new: String,
        in database: JournalDatabase
    ) throws(JournalError) {
        for table in [
            "executions", "intents", "debts", "owed", "inhibits", "failures", "measures", "leases",
            "modules", "server_actions",
        ] {
            try database.statement("UPDATE OR REPLACE \(table) SET vehicle = ? WHERE vehicle = ?")
                .run([.text(new), .text(old)])
        }
    }

    /// Records that a module is in this vehicle now: it takes its debt along, and only that.
    package func move(
        _ serial: Serial,
        to vehicle: VehicleID,
        saying: Saying
    ) throws(JournalError) -> ModuleRefusal? {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            guard try view.modules()[serial] != nil else { return .unknownModule(serial) }
            try database.statement("UPDATE modules SET vehicle = ? WHERE serial = ?")
                .run([.text(vehicle.text), .text(serial.text)])
            if let debt = try view.debt(of: serial) {
                try Self.carry(debt, to: vehicle, in: database)
            }
            try Self.note(saying, in: database)
            return nil
        }
    }

    /// Records the module of a vehicle that no run has had yet.
    static func know(
        _ vehicle: ListedVehicle?,
        in database: JournalDatabase
    ) throws(JournalError) {
        guard let vehicle else { return }
        try database.statement(
            "INSERT OR IGNORE INTO modules (serial, vehicle, run) VALUES (?, ?, 0)"
        )
        .run([.text(vehicle.serial.text), .text(vehicle.id.text)])
    }
}

extension Serial {
    /// The id under which a module is known that is in no vehicle.
    fileprivate var vehicle: VehicleID? { VehicleID(text) }
}
