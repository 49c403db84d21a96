package import Base

/// What a journal must have by now, kept in a file beside it: a journal that was replaced by an
/// earlier copy lacks some of it.
///
/// It has the number of the last run, and every command that was about to be sent. It is written
/// after the journal and before the command, so the journal never lacks anything of it otherwise.
final class JournalWitness {
    static let fileName = "witness.sqlite"

    private let database: JournalDatabase

    /// Opens the file, and creates it when it is missing; without a path it is in memory.
    init(path: String = ":memory:") throws(JournalError) {
        database = try JournalDatabase(path: path, mode: .write)
        try database.execute(
            """
            PRAGMA trusted_schema = OFF;
            CREATE TABLE IF NOT EXISTS run (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                number INTEGER NOT NULL,
                rollout TEXT NOT NULL,
                plan TEXT NOT NULL,
                is_order INTEGER NOT NULL,
                started INTEGER NOT NULL,
                seed TEXT
            ) STRICT;
            CREATE TABLE IF NOT EXISTS acts (
                intent INTEGER PRIMARY KEY,
                execution INTEGER NOT NULL,
                beginning INTEGER NOT NULL,
                run INTEGER NOT NULL,
                rollout TEXT NOT NULL,
                plan TEXT,
                vehicle TEXT NOT NULL,
                serial TEXT NOT NULL,
                digest TEXT NOT NULL,
                ordinal INTEGER NOT NULL,
                place INTEGER NOT NULL,
                description TEXT NOT NULL,
                begun INTEGER NOT NULL,
                is_order INTEGER NOT NULL,
                seed TEXT
            ) STRICT;
            CREATE TABLE IF NOT EXISTS names (
                said INTEGER NOT NULL,
                act INTEGER NOT NULL,
                run INTEGER NOT NULL,
                old TEXT NOT NULL,
                new TEXT NOT NULL
            ) STRICT;
            """
        )
    }

    /// Writes down that a run has begun.
    func note(_ run: RunRecord) throws(JournalError) {
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("INSERT OR REPLACE INTO run VALUES (1, ?, ?, ?, ?, ?, ?)").run([
                Value(run.number), .text(run.rollout), .text(run.plan.description),
                Value(run.isOrder ? 1 : 0), Value(run.started), Value(run.seed.map { "\($0)" }),
            ])
        }
    }

    /// Writes down a command that is about to be sent.
    func note(_ act: LostAct) throws(JournalError) {
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                """
                INSERT OR REPLACE INTO acts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ).run(act.values)
        }
    }

    /// Writes down that vehicles have got other ids, in one command of a person with this number.
    func note(_ change: NameChange, run: Int) throws(JournalError) {
        try database.transaction(.durable) { () throws(JournalError) in
            for (new, old) in change.olds {
                try database.statement("INSERT INTO names VALUES (?, ?, ?, ?, ?)").run([
                    .integer(change.said), .integer(change.act), Value(run), .text(old.text),
                    .text(new.text),
                ])
            }
        }
    }

    /// Forgets what is from before a run: no backup is that old.
    func forget(before run: Int) throws(JournalError) {
        try database.transaction(.relaxed) { () throws(JournalError) in
            for table in ["acts", "names"] {
                try database.statement("DELETE FROM \(table) WHERE run < ?").run([Value(run)])
            }
        }
    }

    /// Forgets other ids: a person says them again.
    func forgetNames() throws(JournalError) {
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("DELETE FROM names").run([])
        }
    }

    /// The last run that it knows; nil when it has just been created.
    func lastRun() throws(JournalError) -> RunRecord? {
        try JournalView(database: database).row(
            """
            SELECT number, rollout, plan, started, seed, started, NULL, '\(Self.lost)', is_order
            FROM run
            """
        )
    }

    /// Why a run that is known from here alone has ended, as the journal records it.
    static let lost = "lost with a journal that was replaced"

    /// Commands with a later number than this one, oldest first, under the ids that vehicles had when
    /// people had last said something that the journal has.
    func acts(after intent: Int, said: Int) throws(JournalError) -> [LostAct] {
        let view = JournalView(database: database)
        let changes = try changes(after: said, in: view)
        return try view.rows(
            "SELECT * FROM acts WHERE intent > ? ORDER BY intent",
            [Value(intent)],
            { row throws(JournalError) in
                var act = try LostAct(row: row)
                for change in changes where act.number > change.act {
                    act.intent.vehicle = change.olds[act.intent.vehicle] ?? act.intent.vehicle
                }
                return act
            }
        )
    }

    /// The last one first.
    private func changes(
        after said: Int,
        in view: JournalView
    ) throws(JournalError) -> [NameChange] {
        let rows = try view.rows(
            "SELECT said, act, old, new FROM names WHERE said > ? ORDER BY said DESC",
            [Value(said)],
            { row throws(JournalError) in
                NameChange(
                    said: row.integer(0),
                    act: row.integer(1),
                    olds: [try row.value(3) { VehicleID($0) }: try row.value(2) { VehicleID($0) }]
                )
            }
        )
        var changes: [NameChange] = []
        for row in rows {
            if changes.last?.said == row.said {
                changes[changes.count - 1].olds.merge(row.olds) { $1 }
            } else {
                changes.append(row)
            }
        }
        return changes
    }
}

/// Other ids of vehicles, as a person has said them at once.
struct NameChange {
    /// The number of the command, and of the last intent before it.
    let said: Int64
    let act: Int64
    /// The ids that vehicles had before, by their new ones.
    var olds: [VehicleID: VehicleID]
}

/// A command that was about to be sent, and that the journal does not have any more.
package struct LostAct: Sendable, Equatable {
    /// With the id of its vehicle that the journal knows.
    package fileprivate(set) var intent: Intent
    /// The id under which it was sent.
    package let sentTo: VehicleID
    let number: Int64
    fileprivate let beginning: Int
    fileprivate let plan: String?
    fileprivate let serial: String
    fileprivate let isOrder: Bool
    fileprivate let seed: String?

    init(
        _ id: IntentID,
        _ intent: Intent,
        of execution: ExecutionRecord,
        in run: RunRecord
    ) {
        isOrder = run.isOrder
        seed = run.seed.map { "\($0)" }
        number = id.row
        self.intent = intent
        sentTo = intent.vehicle
        beginning = execution.beginning
        plan = execution.plan?.description
        serial = execution.serial.text
    }

    fileprivate init(row: borrowing SQLStatement) throws(JournalError) {
        number = row.integer(0)
        beginning = Int(row.integer(2))
        plan = row.text(5)
        serial = row.text(7) ?? ""
        isOrder = row.isTrue(13)
        seed = row.text(14)
        let digest = row.text(8) ?? ""
        intent = Intent(
            execution: Int(row.integer(1)),
            run: Int(row.integer(3)),
            rollout: row.text(4) ?? "",
            vehicle: try row.value(6) { VehicleID($0) },
            step: StepKey(
                digest.isEmpty ? nil : try row.value(8) { SHA256Digest($0) },
                ordinal: Int(row.integer(9))
            ),
            place: Int(row.integer(10)),
            effect: .once,
            description: row.text(11) ?? "",
            begun: WallTime(milliseconds: row.integer(12))
        )
        sentTo = intent.vehicle
    }

    fileprivate var values: [Value] {
        [
            .integer(number), Value(intent.execution), Value(beginning), Value(intent.run),
            .text(intent.rollout), Value(plan), .text(intent.vehicle.text), .text(serial),
            .text(intent.step.text), Value(intent.step.ordinal),
            Value(intent.place), .text(intent.description), Value(intent.begun),
            Value(isOrder ? 1 : 0), Value(seed),
        ]
    }
}

/// How far a journal went back.
package struct LostTime: Sendable, Equatable {
    /// The last run that it has; nil when it has none.
    package let lastRun: RunRecord?
    /// The last run that there was; nil when nothing is known about what it lacks.
    package let lostRun: RunRecord?
    /// The commands that it lacks, oldest first.
    package let acts: [LostAct]
}

extension Journal {
    /// How far the journal went back; nil when it has everything that it must have.
    package func lostTime() throws(JournalError) -> LostTime? {
        guard let witness else { return nil }
        let database = try opened()
        let last = try JournalView(database: database).lastRun(rollout: nil)
        let intent = try Self.lastNumber(in: "intents", of: database)
        guard let known = try witness.lastRun() else {
            // The first run was cut before it had written itself down there: it has done nothing.
            if last?.number == 1, try database.integer("SELECT count(*) FROM executions") == 0 {
                return nil
            }
            // A journal of its own, without the file that belongs to it.
            return last.map { LostTime(lastRun: $0, lostRun: nil, acts: []) }
        }
        let said = try Self.lastNumber(in: "said", of: database)
        let acts = try witness.acts(after: intent, said: said)
        guard known.number > last?.number ?? 0 || !acts.isEmpty else { return nil }
        return LostTime(lastRun: last, lostRun: known, acts: acts)
    }

    /// Goes on with a journal that went back: what it lacks is in doubt, on the vehicles that it was
    /// sent to.
    package func accept(
        _ lost: LostTime,
        saying: Saying
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            for act in lost.acts { try Self.restore(act, in: database) }
            if let run = lost.lostRun, run.number > lost.lastRun?.number ?? 0 {
                try Self.restore(
                    run.number,
                    run.rollout,
                    run.plan.description,
                    run.started,
                    run.seed.map { "\($0)" },
                    run.isOrder,
                    in: database
                )
            }
            try Self.note(saying, in: database)
        }
        if let run = try JournalView(database: database).lastRun(rollout: nil) {
            try witness?.note(run)
        }
        try witness?.forgetNames()
    }

    /// The number that a row of the table got last, even if the row is gone.
    private static func lastNumber(
        in table: String,
        of database: JournalDatabase
    ) throws(JournalError) -> Int {
        try database.integer("SELECT seq FROM sqlite_sequence WHERE name = '\(table)'")
    }

    private static let noPlan = String(repeating: "0", count: 64)

    private static func restore(
        _ run: Int,
        _ rollout: String,
        _ plan: String,
        _ time: WallTime,
        _ seed: String?,
        _ isOrder: Bool,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            """
            INSERT OR IGNORE INTO runs (
                number, rollout, plan, started, seed, ended, reason, is_order
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run([
            Value(run), .text(rollout), .text(plan), Value(time), Value(seed), Value(time),
            .text(JournalWitness.lost), Value(isOrder ? 1 : 0),
        ])
    }

    /// The command is in doubt in the execution that it belonged to, which is there again.
    private static func restore(
        _ act: LostAct,
        in database: JournalDatabase
    ) throws(JournalError) {
        let intent = act.intent
        let isThere = try JournalView(database: database).execution(intent.execution) != nil
        for run in [act.beginning, intent.run] {
            let plan = act.plan ?? noPlan
            try restore(
                run,
                intent.rollout,
                plan,
                intent.begun,
                act.seed,
                act.isOrder,
                in: database
            )
        }
        if !isThere {
            try database.statement(
                """
                INSERT INTO executions (number, rollout, vehicle, serial, plan, beginning, state,
                    attempt, run, acted, forgiven, restarts, interruptions, in_bootloader, stage,
                    part, target_seen, started, updated, apart)
                VALUES (?, ?, ?, ?, ?, ?, 'queued', 0, ?, 1, 0, 0, 0, 0, 'none', 0, 0, ?, ?, 1)
                """
            ).run([
                Value(intent.execution), .text(intent.rollout), .text(intent.vehicle.text),
                .text(act.serial), Value(act.plan), Value(act.beginning), Value(intent.run),
                Value(intent.begun), Value(intent.begun),
            ])
        }
        try database.statement(
            """
            INSERT INTO intents (id, \(Intent.columns), outcome, settled)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '\(IntentRecord.doubtful)', ?)
            """
        ).run([.integer(act.number)] + intent.values + [Value(intent.begun)])
    }

    /// Writes a command down outside the journal, too, before it is sent.
    func writeOutside(_ id: IntentID, _ intent: Intent) throws(JournalError) {
        guard let witness, intent.effect == .once else { return }
        let database = try opened()
        guard database.transactionsLeft != 0 else {
            throw JournalError(.disk, "commit", words: "the power is cut")
        }
        let view = JournalView(database: database)
        guard let record = try view.execution(intent.execution) else { return }
        guard let run = try view.run(intent.run) else { return }
        try witness.note(LostAct(id, intent, of: record, in: run))
    }

    /// Writes other ids down outside the journal, too, after a person has said them.
    func writeOutside(_ names: [(old: VehicleID, new: VehicleID)]) throws(JournalError) {
        guard let witness else { return }
        let database = try opened()
        let change = NameChange(
            said: Int64(try Self.lastNumber(in: "said", of: database)),
            act: Int64(try Self.lastNumber(in: "intents", of: database)),
            olds: Dictionary(names.map { ($0.new, $0.old) }) { $1 }
        )
        let run = try JournalView(database: database).lastRun(rollout: nil)?.number ?? 0
        try witness.note(change, run: run)
    }

    /// Writes down outside the journal that a run has begun.
    func writeOutside(run number: Int) throws(JournalError) {
        guard let witness else { return }
        let database = try opened()
        guard database.transactionsLeft != 0 else {
            throw JournalError(.disk, "commit", words: "the power is cut")
        }
        if let run = try JournalView(database: database).run(number) { try witness.note(run) }
    }

    /// Keeps a witness in memory.
    ///
    /// Only for simulated nights, like the following functions.
    package func keepWitness() throws(JournalError) { witness = try JournalWitness() }

    /// A copy of the journal, as a backup keeps it.
    package func backup() throws(JournalError) -> JournalBackup {
        let copy = try JournalDatabase(path: ":memory:", mode: .write)
        try copy.copy(try opened())
        return JournalBackup(database: copy)
    }

    /// Replaces the journal by a copy.
    package func restore(_ backup: JournalBackup) throws(JournalError) {
        let database = try opened()
        try database.copy(backup.database)
        try database.disk?.copy(backup.database)
    }
}

/// A copy of a journal in memory.
package struct JournalBackup: @unchecked Sendable {
    // Only the actor of the journal uses it, through `restore`.
    fileprivate let database: JournalDatabase
}
