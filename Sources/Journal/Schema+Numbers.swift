extension Schema {
    /// Executions by number, steps by digest, debts by module, and people's commands as states.
    ///
    /// In older journals, each vehicle's one row becomes its execution, in the beginning that its
    /// run belonged to. Their intents have no digest, so they are identified by description and
    /// place. An update that was begun and not proven becomes the module's debt. A pause or an
    /// abort, in force or requested, becomes a hold.
    static let numbered = """
        ALTER TABLE runs ADD COLUMN is_order INTEGER NOT NULL DEFAULT 0
            CHECK (is_order IN (0, 1));
        UPDATE runs SET is_order = 1 WHERE rollout GLOB 'exec-[0-9]*T*Z';

        CREATE TABLE numbered (
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
            CHECK ((state = 'ended') = (outcome IS NOT NULL)),
            CHECK ((outcome IS NULL) = (ended IS NULL)),
            CHECK ((next_label IS NULL) = (next_time IS NULL))
        ) STRICT;
        INSERT INTO numbered (
            rollout, vehicle, serial, plan, beginning, state, attempt, run, acted, forgiven, image,
            total_bytes, acknowledged, restarts, interruptions, settle_deadline, in_bootloader,
            bootloader_place, stage, part, target_seen, version_before, version_after, outcome,
            failure, message, started, updated, ended, next_label, next_time
        ) SELECT
            e.rollout, e.vehicle, e.serial, runs.plan,
            CASE WHEN e.run >= rollouts.began THEN rollouts.began ELSE e.run END,
            e.state, e.attempt, e.run, e.image IS NOT NULL,
            coalesce(e.outcome IS NOT NULL AND e.run < rollouts.gate_since, 0),
            e.image, e.total_bytes, e.acknowledged, e.restarts, e.interruptions,
            e.settle_deadline, e.in_bootloader, e.bootloader_place, e.stage, e.part,
            e.target_seen, e.version_before, e.version_after, e.outcome, e.failure, e.message,
            e.started, e.updated, e.ended, e.next_label, e.next_time
        FROM executions AS e
        JOIN runs ON runs.number = e.run
        LEFT JOIN rollouts ON rollouts.name = e.rollout
            AND EXISTS (SELECT 1 FROM runs AS r WHERE r.number = rollouts.began)
        ORDER BY e.rollout, e.vehicle;

        CREATE TABLE stepped (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            execution INTEGER NOT NULL REFERENCES numbered (number),
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
            CHECK ((outcome IS NULL) = (settled IS NULL))
        ) STRICT;
        INSERT INTO stepped (
            id, execution, run, rollout, vehicle, digest, ordinal, place, effect, description,
            image, begun, outcome, settled
        ) SELECT
            i.id, n.number, n.run, i.rollout, i.vehicle, '', 0, i.step, i.effect, i.description,
            i.image, i.begun, i.outcome, i.settled
        FROM intents AS i
        JOIN numbered AS n ON n.rollout = i.rollout AND n.vehicle = i.vehicle
        JOIN runs AS r ON r.number = n.beginning
        WHERE i.begun >= r.started OR i.outcome IS NULL OR i.outcome = 'in-doubt'
        ORDER BY i.id;
        UPDATE numbered SET acted = 1
            WHERE number IN (SELECT execution FROM stepped WHERE effect <> 'observe');
        DROP TABLE intents;
        DROP TABLE executions;
        ALTER TABLE numbered RENAME TO executions;
        ALTER TABLE stepped RENAME TO intents;
        CREATE INDEX executions_by_vehicle ON executions (rollout, vehicle, number);
        CREATE INDEX intents_by_execution ON intents (execution, id);
        CREATE INDEX intents_by_vehicle ON intents (vehicle, id);

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
            seen_run INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT OR REPLACE INTO debts SELECT
            e.serial, e.vehicle, e.rollout, e.number, e.run, e.updated, e.image,
            coalesce((
                SELECT CASE WHEN instr(substr(i.description, 11), ' ') > 0
                    THEN substr(i.description, 11, instr(substr(i.description, 11), ' ') - 1)
                    ELSE substr(i.description, 11) END
                FROM intents AS i
                WHERE i.execution = e.number AND i.image = e.image ORDER BY i.id DESC LIMIT 1
            ), ''),
            NULL, '', coalesce(e.total_bytes, 0),
            CASE WHEN e.stage = 'none' THEN
                CASE WHEN e.in_bootloader = 1 THEN 'transferring' ELSE 'settling' END
                ELSE e.stage END,
            e.part, coalesce(e.acknowledged, 0), e.interruptions, e.restarts, e.settle_deadline,
            e.target_seen, e.in_bootloader, e.bootloader_place, e.run
        FROM executions AS e
        WHERE e.image IS NOT NULL
            AND (e.stage <> 'none' OR e.in_bootloader = 1 OR e.failure = 'no-return')
        ORDER BY e.run, e.number;

        CREATE TABLE owed (
            execution INTEGER NOT NULL,
            digest TEXT NOT NULL,
            ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
            rollout TEXT NOT NULL,
            vehicle TEXT NOT NULL,
            run INTEGER NOT NULL,
            action TEXT NOT NULL,
            PRIMARY KEY (execution, digest, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX owed_by_vehicle ON owed (vehicle);

        CREATE TABLE holds (
            rollout TEXT PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('paused', 'aborted')),
            reason TEXT NOT NULL,
            author TEXT NOT NULL,
            made INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO holds
            SELECT name, state, reason, '', updated FROM rollouts
            WHERE state IN ('paused', 'aborted');
        DELETE FROM holds WHERE kind = 'paused' AND EXISTS (
            SELECT 1 FROM requests
            WHERE answered IS NULL AND kind = 'resume'
                AND (requests.rollout IS NULL OR requests.rollout = holds.rollout)
        );
        INSERT OR IGNORE INTO holds
            SELECT rollouts.name, 'paused', 'paused by request', '', made
            FROM requests AS q JOIN rollouts
                ON q.rollout IS NULL OR q.rollout = rollouts.name
            WHERE answered IS NULL AND kind = 'pause' AND rollouts.state <> 'finished'
                AND NOT EXISTS (
                    SELECT 1 FROM requests AS l
                    WHERE l.answered IS NULL AND l.kind = 'resume' AND l.id > q.id
                )
            GROUP BY rollouts.name;
        INSERT OR REPLACE INTO holds
            SELECT rollouts.name, 'aborted', 'aborted by request', '', made
            FROM requests AS q JOIN rollouts
                ON q.rollout IS NULL OR q.rollout = rollouts.name
            WHERE answered IS NULL AND kind = 'abort' AND rollouts.state <> 'finished'
            GROUP BY rollouts.name;
        UPDATE rollouts SET state = 'running' WHERE state IN ('paused', 'aborted');
        ALTER TABLE rollouts DROP COLUMN reason;
        ALTER TABLE rollouts DROP COLUMN gate_since;
        UPDATE requests SET answered = made, answer = 'taken over as a state'
            WHERE answered IS NULL;

        ALTER TABLE inhibits ADD COLUMN author TEXT NOT NULL DEFAULT '';
        """
}
