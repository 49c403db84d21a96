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

    /// Functions with the rights of the owner that gateways call.
    static let gatewayFunctions = [
        "sign_in", "enter", "enlist", "come_back", "end_left", "end_wave", "claim", "intend",
        "settle", "wear",
        "move_on", "end_aborted",
    ]

    /// Its rights besides reading: of the tables by column, of the rows by `policies`.
    private var rights: [String] {
        switch self {
        case .gateway:
            [
                """
                UPDATE (heard, clock_offset_ms, gone, rollout, beginning, draining, adapters, links,
                  rights_lost, waited_ms, untold) ON yardmaster.gateway
                """,
                """
                UPDATE (holder, rollout, vehicle, expires, doing, acknowledged, total)
                  ON yardmaster.module
                """,
                """
                UPDATE (looked, wave, checker, state, updated, hold, hold_reason, hold_author, hold_made,
                  stopped_after, room) ON yardmaster.rollout
                """,
                "INSERT, UPDATE (outcome, settled, epoch, instance, gateway) ON yardmaster.step",
                """
                INSERT, DELETE, UPDATE (acknowledged, in_bootloader, seen_gateway, seen_run, seen_epoch)
                  ON yardmaster.debt
                """,
                "INSERT, DELETE ON yardmaster.owed",
                "UPDATE (proven) ON yardmaster.transfer",
                "UPDATE (state, outcome, failure, sentence, version) ON yardmaster.execution",
                "INSERT, UPDATE (gateway, outcome, failure, sentence) ON yardmaster.missed",
                "INSERT, UPDATE (ended, exit_code, reason, counts, closed) ON yardmaster.run",
                "INSERT, UPDATE (view, mark, quarantine_after, zone, brought) ON yardmaster.plan",
                "INSERT, UPDATE (beginning, signal, failures, at) ON yardmaster.hearing",
                "DELETE ON yardmaster.awaited",
                "INSERT, UPDATE (open, sentence) ON yardmaster.served",
            ] + Self.gatewayFunctions.map { "EXECUTE ON FUNCTION yardmaster.\($0)" }
        case .operator:
            [
                "UPDATE ON yardmaster.history",
                """
                UPDATE (hold, hold_reason, hold_author, hold_made, updated, resumed, attempted, failed,
                  room, stopped_after, wave, wave_ended, state, changes) ON yardmaster.rollout
                """,
                "UPDATE (outcome, settled, author) ON yardmaster.step",
                """
                UPDATE (state, outcome, failure, sentence, version, changed, forgiven, attempted,
                  failed) ON yardmaster.execution
                """,
                "UPDATE (drain, login) ON yardmaster.gateway",
                "DELETE ON yardmaster.missed",
                "DELETE ON yardmaster.awaited",
                "DELETE ON yardmaster.debt, yardmaster.owed, yardmaster.failure",
                "INSERT, UPDATE, DELETE ON yardmaster.inhibit",
                "INSERT, UPDATE, DELETE ON yardmaster.recall",
                "INSERT ON yardmaster.said",
            ]
        case .reader: []
        }
    }

    /// The rows that it may write, of tables whose rows belong to gateways.
    private var policies: [(table: String, verb: String, condition: String)] {
        func own(_ instance: String, _ name: String = "NULL") -> String {
            "NOT yardmaster.is_others(\(instance), \(name))"
        }
        switch self {
        case .gateway:
            let step = own("instance", "gateway")
            return [
                ("gateway", "UPDATE", "login = session_user"),
                ("module", "UPDATE", "holder IS NOT NULL AND " + own("holder")),
                ("step", "INSERT", step), ("step", "UPDATE", step + " OR " + Self.worked),
                ("debt", "INSERT", own("NULL", "gateway")),
                ("debt", "UPDATE", "true"),
                ("debt", "DELETE", own("NULL", "gateway") + " OR " + Self.worked),
                ("owed", "INSERT", own("NULL", "gateway")),
                (
                    "owed", "DELETE",
                    own("NULL", "gateway")
                        + """
                         OR EXISTS (SELECT FROM yardmaster.execution e
                          WHERE e.rollout = owed.rollout AND e.vehicle = owed.vehicle
                            AND e.epoch >= owed.epoch AND yardmaster.worked_on(e.serial, owed.epoch))
                        """
                ),
                ("execution", "UPDATE", "instance IS NOT NULL AND " + own("instance")),
                ("missed", "INSERT", step), ("missed", "UPDATE", step),
                ("run", "INSERT", step), ("run", "UPDATE", step),
                ("hearing", "INSERT", own("NULL", "gateway")),
                ("hearing", "UPDATE", own("NULL", "gateway")),
                ("awaited", "DELETE", own("instance", "gateway")),
            ]
        case .operator:
            return [
                ("gateway", "UPDATE", "true"), ("step", "UPDATE", "true"),
                ("execution", "UPDATE", "true"), ("missed", "DELETE", "true"),
                ("awaited", "DELETE", "true"), ("debt", "DELETE", "true"),
                ("owed", "DELETE", "true"),
            ]
        case .reader: return []
        }
    }

    private static let worked = "yardmaster.worked_on(serial, epoch)"

    /// Tables whose rows belong to gateways; everybody with a role reads all of them.
    private static let owned = [
        "gateway", "module", "step", "debt", "owed", "execution", "missed", "run", "hearing",
        "awaited",
    ]

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
            var lines = ["REVOKE ALL ON ALL TABLES IN SCHEMA yardmaster FROM \(name);"]
            lines += grants.map { "GRANT \($0) TO \(name);" }
            for (table, verb, condition) in role.policies {
                let policy = "\(name)_\(verb.lowercased())"
                // A right that is given back belongs to nobody.
                let clause =
                    switch verb {
                    case "INSERT": "WITH CHECK (\(condition))"
                    case "UPDATE" where table == "module":
                        "USING (\(condition)) WITH CHECK (holder IS NULL OR \(condition))"
                    default: "USING (\(condition))"
                    }
                lines.append("DROP POLICY IF EXISTS \(policy) ON yardmaster.\(table);")
                lines.append(
                    "CREATE POLICY \(policy) ON yardmaster.\(table) FOR \(verb) TO \(name) \(clause);"
                )
            }
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
                \(lines.map { "    \($0)" }.joined(separator: "\n"))
                  END IF;
                END $yardmaster$;
                """
        }
        let rows = owned.map { table in
            """
            ALTER TABLE yardmaster.\(table) ENABLE ROW LEVEL SECURITY;
            DROP POLICY IF EXISTS all_read ON yardmaster.\(table);
            CREATE POLICY all_read ON yardmaster.\(table) FOR SELECT USING (true);
            """
        }
        return (rows + blocks).joined(separator: "\n") + "\n"
    }
}
