package import Base

/// What the database says of a user who is to become a gateway's, and of its server.
package struct FleetLogin: Sendable, Equatable {
    package enum Standing: Sendable, Equatable {
        case absent
        /// Invited, and not joined yet.
        case invited
        case joined
        /// The name belongs to somebody who is no gateway.
        case foreign
    }

    fileprivate let row: DatabaseRow

    package var standing: Standing {
        guard row.isTrue(3) else { return .absent }
        return !row.isTrue(4) ? .foreign : row.isTrue(5) ? .joined : .invited
    }
    /// The server's time.
    package var now: WallTime { WallTime(milliseconds: row.integer(0) ?? 0) }
    /// Where gateways reach the server, and its authority as Base64, as `fleet create` has noted them; or empty.
    package var hosts: String { row.text(1) ?? "" }
    package var authority: String { row.text(2) ?? "" }
}

extension FleetDatabase {
    /// Notes where the server is at the database itself, for all later sessions.
    package func note(hosts: String, authority: String) throws(FleetError) {
        let database = "ALTER DATABASE \(Self.name(settings.address.database)) SET yardmaster"
        try run(
            "\(database).hosts = \(FleetSchema.quoted(hosts)); "
                + "\(database).authority = \(FleetSchema.quoted(authority))",
            "note where the server is"
        )
    }

    package func login(_ name: String) throws(FleetError) -> FleetLogin {
        let row = try first(
            "look for the user \(name)",
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
              current_setting('yardmaster.hosts', true),
              current_setting('yardmaster.authority', true),
              r.oid IS NOT NULL, NOT r.rolsuper AND EXISTS (SELECT FROM pg_auth_members m
                WHERE m.member = r.oid AND m.roleid = 'yardmaster_gateway'::regrole),
              coalesce(r.rolvaliduntil, 'infinity') = 'infinity'
            FROM (SELECT 1) AS t LEFT JOIN pg_roles r ON r.rolname = $1
            """,
            name
        )
        return FleetLogin(row: row)
    }

    /// Makes the user of a gateway, or gives it a new password, which is valid until it joins or until `expires`.
    package func invite(
        _ name: String,
        verifier: String,
        until expires: WallTime,
        as roles: [FleetRole],
        isNew: Bool
    ) throws(FleetError) {
        let user = Self.name(name)
        try run(
            """
            \(isNew ? "CREATE ROLE \(user);" : "")
            GRANT \(roles.map(\.rawValue).joined(separator: ", ")) TO \(user);
            ALTER ROLE \(user) LOGIN PASSWORD \(FleetSchema.quoted(verifier))
              VALID UNTIL \(FleetSchema.quoted(expires.description));
            \(Self.joining)
            """,
            "invite \(name)"
        )
    }

    /// An ordinary user may change its password and not how long that is valid.
    ///
    /// Of two machines that have come in by one invitation, only the first one joins.
    private static let joining = """
        CREATE OR REPLACE FUNCTION yardmaster.join_fleet() RETURNS void LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $yardmaster$ BEGIN
          IF NOT EXISTS (SELECT FROM pg_roles
            WHERE rolname = session_user AND rolvaliduntil < 'infinity') THEN
            RAISE EXCEPTION 'the invitation of % was used already', session_user;
          END IF;
          EXECUTE format('ALTER ROLE %I VALID UNTIL ''infinity''', session_user);
        END $yardmaster$;
        REVOKE ALL ON FUNCTION yardmaster.join_fleet() FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION yardmaster.join_fleet() TO yardmaster_gateway;
        """

    /// Uses up the invitation of this session's user: its password is another one from now on.
    package func join(verifier: String) throws(FleetError) {
        try run(
            "SELECT yardmaster.join_fleet(); ALTER ROLE CURRENT_USER PASSWORD \(FleetSchema.quoted(verifier));",
            "join the fleet"
        )
    }

    // MARK: The server

    /// The server's own settings; only for a superuser.
    package func serverSettings(_ database: String) throws(FleetError) -> FleetServerSettings {
        let row = try first(
            "read the server's settings",
            """
            SELECT current_setting('data_directory'), current_setting('hba_file'),
              current_setting('listen_addresses'), current_setting('port'),
              CASE current_setting('ssl') WHEN 'on' THEN current_setting('ssl_cert_file') ELSE '' END,
              EXISTS (SELECT FROM pg_database WHERE datname = $1),
              EXISTS (SELECT FROM pg_roles WHERE rolname = 'yardmaster_owner'),
              (SELECT count(*) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
            """,
            database
        )
        return FleetServerSettings(row: row)
    }

    /// The database and its owner, as far as they are missing.
    package func make(_ database: String, _ found: FleetServerSettings) throws(FleetError) {
        let operation = "make the database"
        // It may take longer than what a run waits for.
        try run("SET statement_timeout = 0", operation)
        if !found.hasOwner { try run("CREATE ROLE yardmaster_owner NOLOGIN", operation) }
        guard !found.hasDatabase else { return }
        try run(
            "CREATE DATABASE \(Self.name(database)) OWNER yardmaster_owner",
            operation,
            within: .seconds(120)
        )
    }

    /// Sets values of the server's, each for itself, and lets it read its files again.
    package func configure(_ values: [(name: String, value: String)]) throws(FleetError) {
        for (name, value) in values {
            try run("ALTER SYSTEM SET \(name) = \(FleetSchema.quoted(value))", "set \(name)")
        }
        try run("SELECT pg_reload_conf()", "reload the server")
    }

    private func first(
        _ operation: String,
        _ text: String,
        _ value: String
    ) throws(FleetError) -> DatabaseRow {
        try rows(operation, text, [value]).first ?? DatabaseRow([])
    }

    private static func name(_ text: String) -> String {
        "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

}

/// What `fleet create` must know of a server.
package struct FleetServerSettings: Sendable, Equatable {
    fileprivate let row: DatabaseRow

    package var directory: String { row.text(0) ?? "" }
    /// `pg_hba.conf`.
    package var accessFile: String { row.text(1) ?? "" }
    private var listens: String { row.text(2) ?? "" }
    package var port: UInt16 { row.text(3).flatMap { UInt16($0) } ?? 5_432 }
    /// The file of its certificate; empty without TLS.
    package var certificate: String { row.text(4) ?? "" }
    package var hasDatabase: Bool { row.isTrue(5) }
    fileprivate var hasOwner: Bool { row.isTrue(6) }
    package var otherSessions: Int64 { row.integer(7) ?? 0 }

    /// Whether it can be reached from this machine alone.
    package var listensHere: Bool {
        listens.split { $0 == "," || $0 == " " }.allSatisfy {
            FleetAddress.Host(String($0)).isLocal
        }
    }

    /// Whether it has a certificate that somebody has chosen, which is kept.
    package var hasOwnCertificate: Bool {
        let name = certificate.split(separator: "/").last.map(String.init) ?? ""
        return !["", "server.crt", "ssl-cert-snakeoil.pem", Self.certificateName].contains(name)
    }

    package static let certificateName = "yardmaster.crt"
}

/// The rules of `pg_hba.conf`.
package enum AccessRules {
    package static func rule(for database: String) -> String {
        let users = FleetRole.allCases.map { "+" + $0.rawValue }.joined(separator: ",")
        return "hostssl \"\(database)\" \(users) all scram-sha-256"
    }

    /// The file with the rule for a fleet's members, before all others; nil when it has it.
    package static func adding(_ database: String, to text: String) -> String? {
        let rule = rule(for: database)
        guard !text.split(separator: "\n").contains(where: { $0 == rule }) else { return nil }
        return
            "# The fleet's members: by password, over TLS only (yardmaster fleet create).\n\(rule)\n"
            + text
    }
}
