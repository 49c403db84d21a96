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
                "INSERT, UPDATE, DELETE ON yardmaster.awaited",
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
                "INSERT, UPDATE, DELETE ON yardmaster.awaited",
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
