/// A journal as written by the last release without numbered executions.
///
/// One run was killed while a car was sent the command to unlock, and another one while `v2` came
/// to rest with its image. Then a person requested a pause, and inhibited `v4`.
let versionFour = """
    PRAGMA application_id = 1497453124;
    PRAGMA foreign_keys=OFF;
    BEGIN TRANSACTION;
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
    INSERT INTO runs VALUES(
    1,'cars','ed7904b2df3778b3262afd46b66569fa4587617f3b71cbc5d347ce327de4e15c',1767650400000,
    1767650400000,NULL,'interrupted','4');
    INSERT INTO runs VALUES(
    2,'steered','9c8a79aab708b88f45de9e429a979267c8ec9a16f949f086a2d41f5a14a8f08f',
    1767650400000,NULL,NULL,NULL,'4');
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
        next_time INTEGER, stage TEXT NOT NULL DEFAULT 'none',
        part INTEGER NOT NULL DEFAULT 0 CHECK (part >= 0),
        target_seen INTEGER NOT NULL DEFAULT 0
        CHECK (target_seen IN (0, 1)), bootloader_place TEXT,
        PRIMARY KEY (rollout, vehicle),
        CHECK ((state = 'ended') = (outcome IS NOT NULL)),
        CHECK ((outcome IS NULL) = (ended IS NULL)),
        CHECK ((next_label IS NULL) = (next_time IS NULL))
    ) STRICT, WITHOUT ROWID;
    INSERT INTO executions VALUES(
    'cars','car','g9-0001','acting',1,1,NULL,NULL,NULL,0,0,NULL,0,NULL,NULL,NULL,NULL,NULL,
    1767650400000,1767650400000,NULL,NULL,NULL,'none',0,0,NULL);
    INSERT INTO executions VALUES(
    'steered','v1','00f0000000000001','ended',1,2,
    '7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf',98304,98304,0,0,NULL,0,
    '4.11.3','4.12.0','succeeded',NULL,'runs 4.12.0, read twice after its restart',
    1767650401290,1767650446833,1767650446833,NULL,NULL,'none',0,0,'C0:00:00:00:00:03');
    INSERT INTO executions VALUES(
    'steered','v2','00f0000000000002','settling',1,2,
    '7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf',98304,98304,0,0,
    1767651023044,0,'4.11.3','4.11.3',NULL,NULL,NULL,1767650413236,1767650423045,NULL,
    'settle',1767651023044,'settling',0,0,'C0:00:00:00:00:05');
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
    INSERT INTO intents VALUES(
    1,'cars','car',0,'once','command unlock-all',NULL,1767650400000,NULL,NULL);
    INSERT INTO intents VALUES(
    2,'steered','v1',0,'transfer','update to city 4.12.0',
    '7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf',1767650402741,
    'confirmed 4.12.0',1767650446833);
    INSERT INTO intents VALUES(
    3,'steered','v2',0,'transfer','update to city 4.12.0',
    '7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf',1767650414568,NULL,
    NULL);
    CREATE TABLE events (
        run INTEGER NOT NULL REFERENCES runs (number),
        number INTEGER NOT NULL,
        time INTEGER NOT NULL,
        kind TEXT NOT NULL,
        vehicle TEXT,
        json TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE leases (
        serial TEXT PRIMARY KEY,
        epoch INTEGER NOT NULL CHECK (epoch > 0),
        run INTEGER REFERENCES runs (number),
        vehicle TEXT,
        CHECK ((run IS NULL) = (vehicle IS NULL))
    ) STRICT, WITHOUT ROWID;
    INSERT INTO leases VALUES('00f0000000000001',1,NULL,NULL);
    INSERT INTO leases VALUES('00f0000000000002',1,2,'v2');
    INSERT INTO leases VALUES('g9-0001',1,1,'car');
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
    INSERT INTO rollouts VALUES(
    'cars','ed7904b2df3778b3262afd46b66569fa4587617f3b71cbc5d347ce327de4e15c','running','',0,
    NULL,1,1,1767650400000);
    INSERT INTO rollouts VALUES(
    'steered','9c8a79aab708b88f45de9e429a979267c8ec9a16f949f086a2d41f5a14a8f08f','running','',
    0,NULL,2,2,1767650400000);
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
    INSERT INTO requests VALUES(1,'pause','steered','','brakes',1795343971688,NULL,NULL);
    CREATE TABLE inhibits (
        vehicle TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        expires INTEGER,
        made INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO inhibits VALUES('v4','workshop',NULL,1795343972190);
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
    INSERT INTO measures VALUES('v1','comodule/generic',98304,33733,1767650446833);
    DELETE FROM sqlite_sequence;
    INSERT INTO sqlite_sequence VALUES('intents',3);
    INSERT INTO sqlite_sequence VALUES('requests',1);
    CREATE INDEX runs_by_rollout ON runs (rollout, number);
    CREATE INDEX intents_by_execution ON intents (rollout, vehicle, id);
    COMMIT;
    PRAGMA user_version = 4;
    """
