extension Schema {
    /// Version 1: all tables, as a new journal gets them.
    static let tables = """
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY,
            rollout TEXT NOT NULL,
            plan TEXT NOT NULL,
            started INTEGER NOT NULL,
            ended INTEGER,
            exit_code INTEGER,
            reason TEXT,
            seed TEXT,
            is_order INTEGER NOT NULL DEFAULT 0 CHECK (is_order IN (0, 1)),
            fleet_instance TEXT,
            fleet_gateway TEXT,
            fleet_beginning INTEGER,
            counts TEXT,
            told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1, 2)),
            CHECK ((ended IS NULL) = (reason IS NULL))
        ) STRICT;
        CREATE INDEX runs_by_rollout ON runs (rollout, number);
        CREATE INDEX runs_untold ON runs (number) WHERE fleet_instance IS NOT NULL AND told < 2;

        CREATE TABLE events (
            run INTEGER NOT NULL REFERENCES runs (number),
            number INTEGER NOT NULL,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            vehicle TEXT,
            json TEXT NOT NULL,
            PRIMARY KEY (run, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE rollouts (
            name TEXT PRIMARY KEY,
            plan TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'aborted', 'finished')),
            wave INTEGER NOT NULL CHECK (wave >= 0),
            wave_ended INTEGER,
            began INTEGER NOT NULL,
            updated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE executions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            serial TEXT NOT NULL,
            plan TEXT,
            beginning INTEGER NOT NULL REFERENCES runs (number),
            state TEXT NOT NULL,
            attempt INTEGER NOT NULL CHECK (attempt >= 0),
            run INTEGER NOT NULL REFERENCES runs (number),
            acted INTEGER NOT NULL CHECK (acted IN (0, 1)),
            forgiven INTEGER NOT NULL CHECK (forgiven IN (0, 1)),
            image TEXT,
            total_bytes INTEGER CHECK (total_bytes >= 0),
            acknowledged INTEGER CHECK (acknowledged >= 0),
            restarts INTEGER NOT NULL CHECK (restarts >= 0),
            interruptions INTEGER NOT NULL CHECK (interruptions >= 0),
            settle_deadline INTEGER,
            in_bootloader INTEGER NOT NULL CHECK (in_bootloader IN (0, 1)),
            bootloader_place TEXT,
            stage TEXT NOT NULL,
            part INTEGER NOT NULL CHECK (part >= 0),
            target_seen INTEGER NOT NULL CHECK (target_seen IN (0, 1)),
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
            linked INTEGER NOT NULL DEFAULT 0 CHECK (linked IN (0, 1)),
            apart INTEGER NOT NULL DEFAULT 0 CHECK (apart IN (0, 1)),
            counted INTEGER NOT NULL DEFAULT 0 CHECK (counted IN (0, 1)),
            CHECK ((state = 'ended') = (outcome IS NOT NULL)),
            CHECK ((outcome IS NULL) = (ended IS NULL)),
            CHECK ((next_label IS NULL) = (next_time IS NULL))
        ) STRICT;
        CREATE INDEX executions_by_vehicle ON executions (rollout, vehicle, number);
        -- Executions that a gate has counted stay marked after their verdict was removed.
        CREATE TRIGGER verdict_counted AFTER UPDATE OF outcome ON executions
        WHEN NEW.counted = 0 AND NEW.outcome IN (
            'succeeded', 'failed', 'rolled-back', 'timed-out', 'in-doubt', 'rejected'
        ) BEGIN
            UPDATE executions SET counted = 1 WHERE number = NEW.number;
        END;

        -- A verdict stays valid until the vehicle has another one, or a step acts on it.
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

        CREATE TABLE intents (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            execution INTEGER NOT NULL REFERENCES executions (number),
            run INTEGER NOT NULL REFERENCES runs (number),
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            digest TEXT NOT NULL,
            ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
            place INTEGER NOT NULL,
            effect TEXT NOT NULL,
            description TEXT NOT NULL,
            image TEXT,
            begun INTEGER NOT NULL,
            outcome TEXT,
            settled INTEGER,
            author TEXT,
            fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1)),
            CHECK ((outcome IS NULL) = (settled IS NULL))
        ) STRICT;
        CREATE INDEX intents_by_execution ON intents (execution, id);
        CREATE INDEX intents_by_vehicle ON intents (vehicle, id);

        -- Which vehicle each module is in, by the list of this run; null when it was taken out.
        CREATE TABLE modules (
            serial TEXT PRIMARY KEY,
            vehicle TEXT,
            run INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE debts (
            serial TEXT PRIMARY KEY,
            vehicle TEXT NOT NULL,
            rollout TEXT NOT NULL,
            execution INTEGER NOT NULL,
            run INTEGER NOT NULL,
            begun INTEGER NOT NULL,
            image TEXT NOT NULL,
            name TEXT NOT NULL,
            version TEXT,
            target TEXT NOT NULL,
            total INTEGER NOT NULL CHECK (total >= 0),
            stage TEXT NOT NULL,
            part INTEGER NOT NULL CHECK (part >= 0),
            acknowledged INTEGER NOT NULL CHECK (acknowledged >= 0),
            interruptions INTEGER NOT NULL CHECK (interruptions >= 0),
            restarts INTEGER NOT NULL CHECK (restarts >= 0),
            settle_deadline INTEGER,
            target_seen INTEGER NOT NULL CHECK (target_seen IN (0, 1)),
            in_bootloader INTEGER NOT NULL CHECK (in_bootloader IN (0, 1)),
            bootloader_place TEXT,
            seen_run INTEGER NOT NULL,
            terms TEXT,
            fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1))
        ) STRICT, WITHOUT ROWID;

        -- What each module ran before a rollout sent it an image, and whether it was proven with that.
        CREATE TABLE transfers (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            serial TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            rollout TEXT NOT NULL,
            image TEXT NOT NULL,
            name TEXT NOT NULL,
            version TEXT,
            target TEXT NOT NULL,
            before TEXT,
            proven INTEGER NOT NULL DEFAULT 0 CHECK (proven IN (0, 1)),
            UNIQUE (serial, rollout, image)
        ) STRICT;

        CREATE TABLE owed (
            execution INTEGER NOT NULL,
            digest TEXT NOT NULL,
            ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            run INTEGER NOT NULL,
            action TEXT NOT NULL,
            place INTEGER NOT NULL DEFAULT 0,
            fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1)),
            PRIMARY KEY (execution, digest, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX owed_by_vehicle ON owed (vehicle);

        -- The right to touch a module.
        CREATE TABLE leases (
            serial TEXT PRIMARY KEY,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            run INTEGER REFERENCES runs (number),
            vehicle TEXT,
            CHECK ((run IS NULL) = (vehicle IS NULL))
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

        -- How many links of an adapter paid for modules of a family.
        CREATE TABLE links (
            adapter TEXT NOT NULL,
            family TEXT NOT NULL,
            links INTEGER NOT NULL CHECK (links > 0),
            PRIMARY KEY (adapter, family)
        ) STRICT, WITHOUT ROWID;
        """

    /// Version 1: what people set and ask for, modules in the yard, and notices.
    static let people = """
        CREATE TABLE holds (
            rollout TEXT PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('paused', 'aborted', 'recalled')),
            reason TEXT NOT NULL,
            author TEXT NOT NULL,
            made INTEGER NOT NULL,
            -- The wave that it was set after: its `resume` begins the next one.
            after_wave INTEGER CHECK (after_wave >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE inhibits (
            vehicle TEXT PRIMARY KEY,
            reason TEXT NOT NULL,
            expires INTEGER,
            made INTEGER NOT NULL,
            author TEXT NOT NULL DEFAULT ''
        ) STRICT, WITHOUT ROWID;

        -- Images of which no transfer begins.
        CREATE TABLE recalls (
            image TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            reason TEXT NOT NULL,
            author TEXT NOT NULL,
            made INTEGER NOT NULL
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

        CREATE TABLE said (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            verb TEXT NOT NULL,
            rollout TEXT,
            vehicles TEXT NOT NULL,
            reason TEXT NOT NULL,
            author TEXT NOT NULL,
            made INTEGER NOT NULL,
            run INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE replies (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            author TEXT NOT NULL,
            key TEXT NOT NULL,
            body TEXT NOT NULL,
            status INTEGER NOT NULL,
            document TEXT NOT NULL,
            UNIQUE (author, key)
        ) STRICT;

        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL,
            target TEXT NOT NULL,
            kind TEXT NOT NULL,
            rollout TEXT,
            run INTEGER,
            made INTEGER NOT NULL,
            body TEXT,
            attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            next INTEGER,
            delivered INTEGER,
            failure TEXT,
            UNIQUE (key, target),
            CHECK (next IS NULL OR delivered IS NULL)
        ) STRICT;
        CREATE INDEX outbox_due ON outbox (next) WHERE next IS NOT NULL;

        -- Actions of update servers; a rollout sends an image for one only while it is open.
        CREATE TABLE server_actions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            server TEXT NOT NULL,
            controller TEXT NOT NULL,
            action TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            serial TEXT NOT NULL,
            rollout TEXT NOT NULL,
            demand TEXT NOT NULL,
            image TEXT,
            version TEXT,
            terms TEXT NOT NULL,
            after INTEGER NOT NULL CHECK (after >= 0),
            taken INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('open', 'closing', 'cancelled', 'over')),
            wanted INTEGER NOT NULL CHECK (wanted IN (0, 1)),
            verdict TEXT CHECK (verdict IN ('success', 'failure', 'downloaded')),
            details TEXT,
            sent INTEGER NOT NULL DEFAULT 0 CHECK (sent IN (0, 1)),
            CHECK (state <> 'closing' OR verdict IS NOT NULL)
        ) STRICT;
        CREATE UNIQUE INDEX server_actions_open ON server_actions (server, controller, action)
            WHERE state <> 'over';
        CREATE INDEX server_actions_sent ON server_actions (rollout, serial, image);

        -- Modules in the yard, whether a run ever worked on them or not.
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
        """

    /// Version 1: what this machine knows of a fleet's database, and what it still has to report.
    static let fleet = """
        CREATE TABLE fleet_rollouts (
            name TEXT PRIMARY KEY,
            beginning INTEGER NOT NULL CHECK (beginning > 0),
            resumed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- Reports that were sent are kept: the fleet's database may lose them.
        CREATE TABLE fleet_words (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            instance TEXT NOT NULL,
            gateway TEXT NOT NULL,
            serial TEXT NOT NULL,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            rollout TEXT NOT NULL,
            beginning INTEGER NOT NULL,
            vehicle TEXT NOT NULL,
            run INTEGER NOT NULL,
            digest TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            failure TEXT,
            sentence TEXT NOT NULL,
            version TEXT,
            release TEXT,
            attempted INTEGER NOT NULL CHECK (attempted IN (0, 1)),
            failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
            told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1))
        ) STRICT;
        CREATE INDEX fleet_words_untold ON fleet_words (id) WHERE told = 0;

        CREATE TABLE fleet_history (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            mark TEXT NOT NULL
        ) STRICT;

        -- Grants of the fleet's database: one that went back in time would grant the same ones
        -- again.
        CREATE TABLE fleet_epochs (
            serial TEXT PRIMARY KEY,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            generation INTEGER NOT NULL CHECK (generation > 0)
        ) STRICT, WITHOUT ROWID;
        """
}
