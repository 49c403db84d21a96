/// The tables of a fleet, as a list of migrations, each from one version to the next.
///
/// A migration only adds what older programs can work without, or names the oldest version of a
/// program that may still work with it. Only `fleet init` and `fleet upgrade` change the tables.
package struct FleetSchema: Sendable {
    /// The upgrade of the tables to one version.
    package struct Migration: Sendable {
        package let version: Int
        /// A program whose newest known version is older than this must not use the tables.
        package let oldestReader: Int
        package let statements: String

        package init(version: Int, oldestReader: Int, statements: String) {
            self.version = version
            self.oldestReader = oldestReader
            self.statements = statements
        }
    }

    package let migrations: [Migration]

    package init(_ migrations: [Migration]) {
        precondition(migrations.map(\.version) == Array(1...max(1, migrations.count)))
        self.migrations = migrations
    }

    /// The version that this program needs.
    package static let current = FleetSchema([
        first, verdicts, rollouts, gates, listed, lost, retold, doubted, left, views,
        placed,
    ])

    package var version: Int { migrations.count }

    /// The version of a database's tables, compared with this program's.
    package enum Standing: Sendable, Equatable {
        case absent
        /// This program needs a later version.
        case older(Int)
        case same
        /// A later version that this program can still work with.
        case ahead(Int)
        /// A later version that needs a newer program.
        case newer(Int)
    }

    package func standing(version found: Int, oldestReader: Int) -> Standing {
        if found == version { return .same }
        if found < version { return .older(found) }
        return oldestReader <= version ? .ahead(found) : .newer(found)
    }

    /// The statements that upgrade the tables from one version (0 for none) to this one, all or
    /// none.
    ///
    /// The lock keeps two programs from upgrading at the same time: the second one finds another
    /// version, and changes nothing.
    package func statements(from found: Int, by program: String) -> String {
        var parts = ["SELECT pg_advisory_xact_lock(\(Self.lock));"]
        for migration in migrations where migration.version > found {
            if migration.version > 1 {
                parts.append(
                    """
                    DO $yardmaster$ BEGIN
                      IF (SELECT version FROM yardmaster.schema) <> \(migration.version - 1) THEN
                        RAISE EXCEPTION 'somebody else has upgraded the tables meanwhile';
                      END IF;
                    END $yardmaster$;
                    """
                )
            }
            parts.append(migration.statements)
            parts.append(
                """
                UPDATE yardmaster.schema
                SET version = \(migration.version), oldest_reader = \(migration.oldestReader);
                INSERT INTO yardmaster.migration (version, program)
                VALUES (\(migration.version), \(Self.quoted(program)));
                """
            )
        }
        return parts.joined(separator: "\n") + "\n"
    }

    /// An arbitrary number that only this program uses.
    private static let lock: Int64 = 0x5941_5244

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "''").replacing("\\", with: "") + "'"
    }
}

extension FleetSchema {
    /// Rights on modules, the gateways, and the facts that identify the database.
    private static let first = Migration(
        version: 1,
        oldestReader: 1,
        statements: """
            CREATE SCHEMA yardmaster;

            CREATE TABLE yardmaster.schema (
              one boolean PRIMARY KEY DEFAULT true CHECK (one),
              version integer NOT NULL,
              oldest_reader integer NOT NULL
            );
            INSERT INTO yardmaster.schema (version, oldest_reader) VALUES (0, 0);

            CREATE TABLE yardmaster.migration (
              version integer PRIMARY KEY,
              program text NOT NULL,
              at timestamptz NOT NULL DEFAULT now()
            );

            -- Gateways; an instance is one process of the program.
            CREATE TABLE yardmaster.gateway (
              instance uuid PRIMARY KEY,
              name text NOT NULL CHECK (name <> ''),
              program text NOT NULL,
              since timestamptz NOT NULL DEFAULT clock_timestamp(),
              heard timestamptz NOT NULL DEFAULT clock_timestamp(),
              clock_offset_ms bigint,
              gone timestamptz
            );
            CREATE INDEX gateway_name ON yardmaster.gateway (name);

            -- The right to touch a module. The epoch counts its grants, and is kept after they end.
            CREATE TABLE yardmaster.module (
              serial text PRIMARY KEY CHECK (serial <> ''),
              epoch bigint NOT NULL CHECK (epoch > 0),
              holder uuid,
              rollout text,
              vehicle text,
              expires timestamptz,
              CHECK ((holder IS NULL) = (expires IS NULL))
            ) WITH (fillfactor = 60, autovacuum_vacuum_threshold = 1000,
                    autovacuum_vacuum_scale_factor = 0);

            CREATE FUNCTION yardmaster.keep_epoch() RETURNS trigger
            LANGUAGE plpgsql AS $yardmaster$ BEGIN
              IF TG_OP = 'DELETE' OR NEW.epoch < OLD.epoch OR NEW.serial <> OLD.serial THEN
                RAISE EXCEPTION 'the epoch of a module never goes back'
                  USING ERRCODE = 'check_violation';
              END IF;
              RETURN NEW;
            END $yardmaster$;
            CREATE TRIGGER keep_epoch BEFORE UPDATE OR DELETE ON yardmaster.module
            FOR EACH ROW EXECUTE FUNCTION yardmaster.keep_epoch();

            -- The identity of the database when rights were last granted: another database, or an
            -- older state of this one, must not continue to grant rights.
            CREATE TABLE yardmaster.history (
              one boolean PRIMARY KEY DEFAULT true CHECK (one),
              system_identifier text NOT NULL,
              timeline text NOT NULL,
              module_table oid NOT NULL,
              generation bigint NOT NULL DEFAULT 1,
              claims_after timestamptz NOT NULL DEFAULT clock_timestamp()
            );
            INSERT INTO yardmaster.history (system_identifier, timeline, module_table)
            SELECT system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
              'yardmaster.module'::regclass::oid
            FROM pg_control_system();
            """
    )
}

extension FleetSchema {
    /// The verdicts of work under a right; older programs write none.
    private static let verdicts = Migration(
        version: 2,
        oldestReader: 1,
        statements: """
            CREATE TABLE yardmaster.verdict (
              number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              instance uuid NOT NULL,
              serial text NOT NULL,
              epoch bigint NOT NULL,
              rollout text NOT NULL,
              vehicle text NOT NULL,
              gateway text NOT NULL,
              run bigint NOT NULL,
              outcome text NOT NULL,
              failure text,
              sentence text NOT NULL,
              version text,
              -- False for a verdict that arrived after another gateway had the right: an
              -- observation.
              counts boolean NOT NULL,
              at timestamptz NOT NULL DEFAULT clock_timestamp(),
              UNIQUE (instance, serial, epoch)
            );
            CREATE INDEX verdict_vehicle ON yardmaster.verdict (rollout, vehicle, number);
            """
    )
}

/// The roles of a fleet's database: every user is a member of one of them.
package enum FleetRole: String, CaseIterable, Sendable {
    case gateway = "yardmaster_gateway"
    case `operator` = "yardmaster_operator"
    case reader = "yardmaster_reader"

    package var purpose: String {
        switch self {
        case .gateway: "takes rights on modules and renews them"
        case .operator: "reads all, and confirms that a restored database may be used"
        case .reader: "reads all"
        }
    }

    /// Its rights besides reading.
    private var rights: [String] {
        switch self {
        case .gateway:
            [
                "INSERT, UPDATE ON yardmaster.gateway",
                "INSERT, UPDATE ON yardmaster.module",
                "INSERT ON yardmaster.verdict",
                "INSERT, UPDATE ON yardmaster.rollout",
                "INSERT, UPDATE ON yardmaster.step",
                "INSERT, UPDATE, DELETE ON yardmaster.debt",
                "INSERT, UPDATE, DELETE ON yardmaster.owed",
                "INSERT, UPDATE ON yardmaster.failure",
                "INSERT, UPDATE ON yardmaster.execution",
                "INSERT, UPDATE ON yardmaster.missed",
                "INSERT, UPDATE ON yardmaster.run",
                "INSERT, UPDATE ON yardmaster.plan",
                "INSERT, UPDATE ON yardmaster.hearing",
                "INSERT, DELETE ON yardmaster.awaited",
                "UPDATE (timeline, claims_after) ON yardmaster.history",
            ]
        case .operator:
            [
                "UPDATE ON yardmaster.history",
                "UPDATE ON yardmaster.rollout",
                "UPDATE ON yardmaster.step",
                "UPDATE ON yardmaster.execution",
                "UPDATE (drain) ON yardmaster.gateway",
                "DELETE ON yardmaster.missed",
                "INSERT, DELETE ON yardmaster.awaited",
                "DELETE ON yardmaster.debt, yardmaster.owed, yardmaster.failure",
                "INSERT, UPDATE, DELETE ON yardmaster.inhibit",
                "INSERT ON yardmaster.said",
            ]
        case .reader: []
        }
    }

    /// Statements that create the roles that the user may create, and give each existing role its
    /// rights.
    ///
    /// Safe to repeat.
    package static var statements: String {
        let blocks = allCases.map { role in
            let name = role.rawValue
            let grants =
                ["USAGE ON SCHEMA yardmaster", "SELECT ON ALL TABLES IN SCHEMA yardmaster"]
                + role.rights
            return """
                DO $yardmaster$ BEGIN
                  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(name)') THEN
                    BEGIN
                      CREATE ROLE \(name) NOLOGIN;
                    EXCEPTION WHEN insufficient_privilege OR duplicate_object
                        OR unique_violation THEN NULL;
                    END;
                  END IF;
                  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '\(name)') THEN
                \(grants.map { "    GRANT \($0) TO \(name);" }.joined(separator: "\n"))
                  END IF;
                END $yardmaster$;
                """
        }
        return blocks.joined(separator: "\n") + "\n"
    }
}
