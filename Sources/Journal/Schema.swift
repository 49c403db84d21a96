/// The tables, and the upgrade of files of older versions.
enum Schema {
    /// `YARD` in ASCII: distinguishes our file from any other SQLite database.
    static let applicationID = 0x5941_5244

    /// The script at index n upgrades version n to n + 1.
    ///
    /// A released script never changes.
    static let migrations = [
        """
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY,
            rollout TEXT NOT NULL,
            plan TEXT NOT NULL,
            started INTEGER NOT NULL,
            ended INTEGER,
            exit_code INTEGER,
            reason TEXT,
            seed TEXT,
            CHECK ((ended IS NULL) = (reason IS NULL))
        ) STRICT;
        CREATE INDEX runs_by_rollout ON runs (rollout, number);

        CREATE TABLE executions (
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            serial TEXT NOT NULL,
            state TEXT NOT NULL,
            attempt INTEGER NOT NULL CHECK (attempt >= 0),
            run INTEGER NOT NULL REFERENCES runs (number),
            image TEXT,
            total_bytes INTEGER CHECK (total_bytes >= 0),
            acknowledged INTEGER CHECK (acknowledged >= 0),
            restarts INTEGER NOT NULL CHECK (restarts >= 0),
            interruptions INTEGER NOT NULL CHECK (interruptions >= 0),
            settle_deadline INTEGER,
            in_bootloader INTEGER NOT NULL CHECK (in_bootloader IN (0, 1)),
            version_before TEXT,
            version_after TEXT,
            outcome TEXT,
            failure TEXT,
            message TEXT,
            started INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            ended INTEGER,
            next_label TEXT,
            next_time INTEGER,
            PRIMARY KEY (rollout, vehicle),
            CHECK ((state = 'ended') = (outcome IS NOT NULL)),
            CHECK ((outcome IS NULL) = (ended IS NULL)),
            CHECK ((next_label IS NULL) = (next_time IS NULL))
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE intents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            step INTEGER NOT NULL,
            effect TEXT NOT NULL,
            description TEXT NOT NULL,
            image TEXT,
            begun INTEGER NOT NULL,
            outcome TEXT,
            settled INTEGER,
            FOREIGN KEY (rollout, vehicle) REFERENCES executions (rollout, vehicle),
            CHECK ((outcome IS NULL) = (settled IS NULL))
        ) STRICT;
        CREATE INDEX intents_by_execution ON intents (rollout, vehicle, id);

        CREATE TABLE events (
            run INTEGER NOT NULL REFERENCES runs (number),
            number INTEGER NOT NULL,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            vehicle TEXT,
            json TEXT NOT NULL,
            PRIMARY KEY (run, number)
        ) STRICT, WITHOUT ROWID;
        """,
        // What an update needs after a restart of the program, and the right to touch a module.
        """
        ALTER TABLE executions ADD COLUMN stage TEXT NOT NULL DEFAULT 'none';
        ALTER TABLE executions ADD COLUMN part INTEGER NOT NULL DEFAULT 0 CHECK (part >= 0);
        ALTER TABLE executions ADD COLUMN target_seen INTEGER NOT NULL DEFAULT 0
            CHECK (target_seen IN (0, 1));
        UPDATE executions SET stage = 'settling'
            WHERE settle_deadline IS NOT NULL AND outcome IS NULL;
        UPDATE executions SET stage = 'transferring'
            WHERE stage = 'none' AND in_bootloader = 1;
        CREATE TABLE leases (
            serial TEXT PRIMARY KEY,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            run INTEGER REFERENCES runs (number),
            vehicle TEXT,
            CHECK ((run IS NULL) = (vehicle IS NULL))
        ) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE rollouts (
            name TEXT PRIMARY KEY,
            plan TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'aborted', 'finished')),
            reason TEXT NOT NULL,
            wave INTEGER NOT NULL CHECK (wave >= 0),
            wave_ended INTEGER,
            began INTEGER NOT NULL,
            gate_since INTEGER NOT NULL,
            updated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            rollout TEXT,
            vehicles TEXT NOT NULL,
            reason TEXT NOT NULL,
            made INTEGER NOT NULL,
            answer TEXT,
            answered INTEGER,
            CHECK ((answer IS NULL) = (answered IS NULL))
        ) STRICT;

        CREATE TABLE inhibits (
            vehicle TEXT PRIMARY KEY,
            reason TEXT NOT NULL,
            expires INTEGER,
            made INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE failures (
            vehicle TEXT NOT NULL,
            release TEXT NOT NULL,
            count INTEGER NOT NULL CHECK (count > 0),
            message TEXT NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY (vehicle, release)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE measures (
            vehicle TEXT PRIMARY KEY,
            model TEXT NOT NULL,
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            airtime INTEGER NOT NULL CHECK (airtime >= 0),
            made INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """,
        // A bootloader without a name is found again by its handle.
        "ALTER TABLE executions ADD COLUMN bootloader_place TEXT",
        Schema.numbered,
        // A verdict stays valid until the vehicle has another one, or a step acts on it.
        """
        ALTER TABLE executions ADD COLUMN linked INTEGER NOT NULL DEFAULT 0
            CHECK (linked IN (0, 1));
        UPDATE executions SET linked = 1 WHERE acted = 1 OR version_before IS NOT NULL;
        CREATE TABLE verdicts (
            execution INTEGER PRIMARY KEY REFERENCES executions (number) ON DELETE CASCADE,
            run INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            interruptions INTEGER NOT NULL,
            version_before TEXT,
            version_after TEXT,
            outcome TEXT NOT NULL,
            failure TEXT,
            message TEXT,
            updated INTEGER NOT NULL,
            ended INTEGER NOT NULL
        ) STRICT;
        """,
        // Executions that a gate has counted stay marked after their verdict was removed.
        """
        ALTER TABLE executions ADD COLUMN counted INTEGER NOT NULL DEFAULT 0
            CHECK (counted IN (0, 1));
        UPDATE executions SET counted = 1 WHERE forgiven = 1 OR outcome IN (
            'succeeded', 'failed', 'rolled-back', 'timed-out', 'in-doubt', 'rejected'
        ) OR number IN (
            SELECT execution FROM verdicts WHERE outcome IN (
                'succeeded', 'failed', 'rolled-back', 'timed-out', 'in-doubt', 'rejected'
            )
        );
        CREATE TRIGGER verdict_counted AFTER UPDATE OF outcome ON executions
        WHEN NEW.counted = 0 AND NEW.outcome IN (
            'succeeded', 'failed', 'rolled-back', 'timed-out', 'in-doubt', 'rejected'
        ) BEGIN
            UPDATE executions SET counted = 1 WHERE number = NEW.number;
        END;
        """,
        // Modules in the yard, whether a run ever worked on them or not.
        """
        CREATE TABLE inventory (
            serial TEXT NOT NULL,
            family TEXT NOT NULL,
            profile TEXT NOT NULL,
            vehicle TEXT,
            name TEXT,
            signal INTEGER,
            adapter TEXT,
            bond TEXT,
            in_bootloader INTEGER NOT NULL CHECK (in_bootloader IN (0, 1)),
            heard INTEGER,
            read INTEGER,
            looked INTEGER NOT NULL,
            problem TEXT,
            PRIMARY KEY (serial, family)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE inventory_facts (
            serial TEXT NOT NULL,
            family TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            unit TEXT,
            PRIMARY KEY (serial, family, kind, name),
            FOREIGN KEY (serial, family) REFERENCES inventory (serial, family) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE enrolments (
            serial TEXT NOT NULL,
            family TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            stage TEXT NOT NULL CHECK (stage IN ('begun', 'enrolled', 'leaving', 'undone')),
            time INTEGER NOT NULL,
            PRIMARY KEY (serial, family)
        ) STRICT, WITHOUT ROWID;
        """,
        Schema.outbox,
        // Grants of the fleet's database: one that went back in time would grant the same ones
        // again.
        """
        CREATE TABLE fleet_epochs (
            serial TEXT PRIMARY KEY,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            generation INTEGER NOT NULL CHECK (generation > 0)
        ) STRICT, WITHOUT ROWID;
        """,
        Schema.fleetWords,
        Schema.said,
        Schema.fleetHistory,
        Schema.fleetRuns,
    ]

    static var version: Int { migrations.count }

    /// Prepares a connection that writes: settings, identity and the newest tables.
    static func prepare(_ database: JournalDatabase) throws(JournalError) {
        // Checked before anything is changed, so that a foreign file stays unchanged.
        let found = try identify(database)
        let mode = try database.text("PRAGMA journal_mode = WAL")
        guard ["wal", "memory"].contains(mode) else {
            throw JournalError(
                .cannotCreate,
                "open",
                words: "no write-ahead log here, only \(mode)"
            )
        }
        try database.execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        try upgrade(database, from: found)
    }

    private static func upgrade(
        _ database: JournalDatabase,
        from found: Int
    ) throws(JournalError) {
        guard found < version else { return }
        try database.transaction(.durable) { () throws(JournalError) in
            for script in migrations[found...] { try database.execute(script) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
        }
    }

    /// The same journal with the newest tables, for reading only.
    ///
    /// It is the connection itself, or a copy in memory when an earlier version has written the
    /// file. Throws when the file is no journal.
    static func readable(
        _ database: JournalDatabase
    ) throws(JournalError) -> JournalDatabase {
        let found = try identify(database)
        guard found > 0 else {
            throw JournalError(.missing, "open", words: "the file is empty")
        }
        guard found < version else { return database }
        let copy = try JournalDatabase(path: ":memory:", mode: .write)
        try copy.copy(database)
        try copy.execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF")
        try upgrade(copy, from: found)
        return copy
    }

    /// The version of one of our journals; 0 for an empty file.
    private static func identify(_ database: JournalDatabase) throws(JournalError) -> Int {
        let application = try database.integer("PRAGMA application_id")
        let found = try database.integer("PRAGMA user_version")
        if application == 0, found == 0,
            try database.integer("SELECT count(*) FROM sqlite_schema") == 0
        {
            return 0
        }
        guard application == applicationID, found > 0 else {
            throw JournalError(.foreign, "open", words: "application id \(application)")
        }
        guard found <= version else { throw other(found) }
        return found
    }

    /// The file was cut off, or was never ours: a new journal could not replace its content.
    static var empty: JournalError {
        JournalError(.corrupt, "open", words: "the file is empty")
    }

    private static func other(_ found: Int) -> JournalError {
        JournalError(
            .schema(found: found, known: version),
            "open",
            words: "its schema is version \(found), ours is \(version)"
        )
    }
}
