/// The tables and functions of a fleet, and the upgrades of older tables to them.
///
/// An upgrade only adds what older programs can work without, or names the oldest version of a
/// program that may still work with it. Only `fleet create` and `fleet upgrade` change the tables.
package struct FleetSchema: Sendable {
    /// The upgrade of the tables to one version.
    ///
    /// Its statements change tables, and drop a function whose signature has changed. The functions
    /// themselves are defined once and after it: each of their definitions may be repeated.
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
        precondition(migrations.map(\.version) == Array(2..<(2 + migrations.count)))
        self.migrations = migrations
    }

    package static let current = FleetSchema([])

    private static let functions = [
        owners, gateways, places, rights, words, waves, triggered, closed,
    ]

    /// The version that this program needs.
    package var version: Int { 1 + migrations.count }

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

    /// The statements that make the tables (`found` is 0) or upgrade them to this version, all or
    /// none.
    ///
    /// The lock keeps two programs from doing so at the same time: the second one finds another
    /// version, and changes nothing.
    package func statements(from found: Int, by program: String) -> String {
        // The limit of a session is for statements of a run.
        var parts = [
            "SET LOCAL statement_timeout = 0;", "SELECT pg_advisory_xact_lock(\(Self.lock));",
            Self.asOwner,
        ]
        if found == 0 {
            parts.append(Self.tables)
            parts.append("INSERT INTO yardmaster.schema (version, oldest_reader) VALUES (0, 0);")
        } else {
            parts.append(
                """
                DO $yardmaster$ BEGIN
                  IF (SELECT version FROM yardmaster.schema) <> \(found) THEN
                    RAISE EXCEPTION 'somebody else has upgraded the tables meanwhile';
                  END IF;
                END $yardmaster$;
                """
            )
            parts += migrations.filter { $0.version > found }.map(\.statements)
        }
        parts += Self.functions
        if found == 0 { parts.append(Self.triggers) }
        parts.append(
            """
            UPDATE yardmaster.schema
            SET version = \(version), oldest_reader = \(migrations.last?.oldestReader ?? 1);
            INSERT INTO yardmaster.migration (version, program)
            VALUES (\(version), \(Self.quoted(program)));
            SET LOCAL ROLE NONE;
            """
        )
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// What an administrator makes belongs to the owner of the tables, first the database's: who can upgrade and
    /// prune it later.
    private static let asOwner = """
        SELECT set_config('role', pg_get_userbyid(o), true) FROM (
          SELECT coalesce((SELECT nspowner FROM pg_namespace WHERE nspname = 'yardmaster'), datdba) AS o
          FROM pg_database WHERE datname = current_database()) AS t
        WHERE pg_has_role(o, 'MEMBER');
        """

    /// An arbitrary number that only this program uses.
    private static let lock: Int64 = 0x5941_5244

    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "''").replacing("\\", with: "") + "'"
    }
}
