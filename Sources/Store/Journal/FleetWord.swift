package import Base

/// A report of an act of this gateway to the fleet's database.
///
/// Reports are written to this disk first, and sent in their order until the database has accepted
/// them.
package struct FleetWord: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// The result of a step that must be done once.
        case step
        /// A module was seen settled: its update is proven.
        case debt
        /// A step of `always` was done.
        case owed
        /// The verdict of an execution.
        case verdict
    }

    package let kind: Kind
    /// The process that had the right, and its gateway.
    package let instance: String
    package let gateway: String
    package let serial: Serial
    package let epoch: Int
    package let rollout: String
    package let beginning: Int
    package let vehicle: VehicleID
    package let run: Int
    /// The digest of the step, or of the image.
    package var digest = ""
    package var ordinal = 0
    /// A word of `Outcome`, or the word with which a step is settled.
    package var outcome = ""
    package var failure: String?
    package var sentence = ""
    package var version: String?
    /// The release that it failed on, when that counts towards its quarantine.
    package var release: String?
    /// Its contribution to the gate.
    package var attempted = 0
    package var failed = 0

    package init(
        _ kind: Kind,
        under lease: FleetLease,
        of holder: FleetHolder,
        rollout: String,
        beginning: Int,
        vehicle: VehicleID,
        run: Int
    ) {
        self.kind = kind
        (instance, gateway) = (holder.instance, holder.gateway)
        (serial, epoch) = (lease.serial, lease.epoch)
        self.rollout = rollout
        self.beginning = beginning
        self.vehicle = vehicle
        self.run = run
    }

    fileprivate static let columns = """
        kind, instance, gateway, serial, epoch, rollout, beginning, vehicle, run, digest, ordinal, \
        outcome, failure, sentence, version, release, attempted, failed
        """

    fileprivate init(row: borrowing SQLStatement) throws(JournalError) {
        kind = try row.value(1) { Kind(rawValue: $0) }
        instance = row.text(2) ?? ""
        gateway = row.text(3) ?? ""
        serial = try row.value(4) { Serial($0) }
        epoch = Int(row.integer(5))
        rollout = row.text(6) ?? ""
        beginning = Int(row.integer(7))
        vehicle = try row.value(8) { VehicleID($0) }
        run = Int(row.integer(9))
        digest = row.text(10) ?? ""
        ordinal = Int(row.integer(11))
        outcome = row.text(12) ?? ""
        failure = row.text(13)
        sentence = row.text(14) ?? ""
        version = row.text(15)
        release = row.text(16)
        attempted = Int(row.integer(17))
        failed = Int(row.integer(18))
    }

    fileprivate var values: [Value] {
        [
            .text(kind.rawValue), .text(instance), .text(gateway), .text(serial.text), Value(epoch),
            .text(rollout), Value(beginning), .text(vehicle.text), Value(run), .text(digest),
            Value(ordinal), .text(outcome), Value(failure), .text(sentence), Value(version),
            Value(release), Value(attempted), Value(failed),
        ]
    }
}

/// Work that a gateway has begun and that nobody has settled.
package struct FleetOpen: Sendable {
    package var doubts: [(intent: Intent, serial: Serial)]
    package var debts: [Debt] = []
    package var owed: [OwedStep]
}

/// A rollout of the fleet as this gateway has last seen it.
package struct FleetMark: Sendable, Equatable {
    package let beginning: Int
    package let resumed: Int

    package init(beginning: Int, resumed: Int) {
        (self.beginning, self.resumed) = (beginning, resumed)
    }
}

extension Journal {
    static func leave(
        _ words: [FleetWord],
        in database: JournalDatabase
    ) throws(JournalError) {
        guard !words.isEmpty else { return }
        let insert = try database.statement(
            """
            INSERT INTO fleet_words (\(FleetWord.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        for word in words { try insert.run(word.values) }
    }

    /// Reports that the fleet has not accepted yet, in their order.
    package func untold(
        limit: Int = 100
    ) throws(JournalError) -> [(id: Int64, word: FleetWord)] {
        try view().rows(
            "SELECT id, \(FleetWord.columns) FROM fleet_words WHERE told = 0 ORDER BY id LIMIT ?",
            [Value(limit)],
            { row throws(JournalError) in (row.integer(0), try FleetWord(row: row)) }
        )
    }

    package func untoldCount() throws(JournalError) -> Int {
        let found = try opened().statement("SELECT count(*) FROM fleet_words WHERE told = 0")
        return try found.step() ? Int(found.integer(0)) : 0
    }

    /// Records that the fleet has accepted a report; it is kept in case the database loses it.
    package func told(_ id: Int64) throws(JournalError) {
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            try database.statement("UPDATE fleet_words SET told = 1 WHERE id = ?").run([
                .integer(id)
            ])
        }
    }

    /// The history of the fleet's database that all reports were sent to; nil before the first.
    package func fleetHistory() throws(JournalError) -> String? {
        let found = try opened().statement("SELECT mark FROM fleet_history")
        return try found.step() ? found.text(0) : nil
    }

    /// Sends accepted reports again because the fleet's database has another history.
    package func tellAgain(in history: String) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                "UPDATE fleet_words SET told = 0 WHERE told = 1 AND EXISTS (SELECT 1 FROM fleet_history)"
            ).run([])
            try database.statement("UPDATE runs SET told = 0 WHERE fleet_instance IS NOT NULL")
                .run([])
            try database.statement(
                "INSERT OR REPLACE INTO fleet_history (one, mark) VALUES (1, ?)"
            ).run([.text(history)])
        }
    }

    /// The open work here that the fleet also keeps.
    package func fleetOpen() throws(JournalError) -> FleetOpen {
        let doubts = try view().rows(
            """
            SELECT \(IntentRecord.columns),
                (SELECT serial FROM executions WHERE number = intents.execution) FROM intents
            WHERE fleet = 1 AND effect = '\(Effect.once.rawValue)'
                AND (outcome IS NULL OR outcome = '\(IntentRecord.doubtful)')
            ORDER BY id
            """,
            [],
            { row throws(JournalError) in
                (
                    intent: try IntentRecord(row: row).intent,
                    serial: try row.value(14) { Serial($0) }
                )
            }
        )
        let debts = try view().rows(
            "SELECT serial FROM debts WHERE fleet = 1 ORDER BY serial",
            [],
            { row throws(JournalError) in try row.value(0) { Serial($0) } }
        )
        let owed: [OwedStep] = try view().rows(
            """
            SELECT \(OwedStep.columns) FROM owed WHERE fleet = 1 ORDER BY execution, digest, ordinal
            """
        )
        var open = FleetOpen(doubts: doubts, owed: owed)
        for serial in debts {
            if let debt = try view().debt(of: serial) { open.debts.append(debt) }
        }
        return open
    }

    /// The fleet's beginning that this journal's record of the rollout is of.
    ///
    /// The mark alone does not say it: the fleet may have begun the rollout again while a run was at work here, or
    /// a run was killed before it did so in its journal. Nil when no run of a fleet has worked on the record.
    package func fleetBeginning(of rollout: String) throws(JournalError) -> Int? {
        try view().rows(
            """
            SELECT fleet_beginning FROM runs JOIN rollouts ON rollouts.name = runs.rollout
            WHERE runs.rollout = ? AND runs.number >= rollouts.began AND fleet_beginning IS NOT NULL
            ORDER BY runs.number LIMIT 1
            """,
            [.text(rollout)],
            { row throws(JournalError) in Int(row.integer(0)) }
        ).first
    }

    package func fleetMark(of rollout: String) throws(JournalError) -> FleetMark? {
        try view().rows(
            "SELECT beginning, resumed FROM fleet_rollouts WHERE name = ?",
            [.text(rollout)],
            { row throws(JournalError) in
                FleetMark(beginning: Int(row.integer(0)), resumed: Int(row.integer(1)))
            }
        ).first
    }

    /// Applies the fleet's hold on the rollout here, and nothing else.
    ///
    /// Each `resume` in the fleet is also applied here.
    package func follow(
        _ rollout: String,
        _ mark: FleetMark,
        _ hold: Hold?
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            let view = JournalView(database: database)
            let before = try view.rows(
                "SELECT beginning, resumed FROM fleet_rollouts WHERE name = ?",
                [.text(rollout)],
                { row throws(JournalError) in
                    FleetMark(beginning: Int(row.integer(0)), resumed: Int(row.integer(1)))
                }
            ).first
            if before != mark {
                try database.statement(
                    """
                    INSERT OR REPLACE INTO fleet_rollouts (name, beginning, resumed)
                    VALUES (?, ?, ?)
                    """
                ).run([.text(rollout), Value(mark.beginning), Value(mark.resumed)])
            }
            if let before, before.resumed < mark.resumed, before.beginning == mark.beginning {
                try Self.forgive(rollout, in: database)
            }
            let known = try view.hold(on: rollout)
            guard known?.kind != hold?.kind || known?.made != hold?.made else { return }
            try database.statement("DELETE FROM holds WHERE rollout = ?").run([.text(rollout)])
            if let hold { try Self.save(hold, in: database) }
        }
    }
}
