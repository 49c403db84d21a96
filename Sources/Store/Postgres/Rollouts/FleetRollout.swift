package import Base

/// A rollout in the fleet's database.
package struct FleetRollout: Sendable, Equatable {
    package let name: String
    /// Counts how often it was begun, from 1.
    package let beginning: Int
    /// The digest of the plan, as text.
    package let plan: String
    package let isFinished: Bool
    package let begun: WallTime
    /// The server's time of this answer: the day of a beginning is by one clock for all gateways.
    package let asked: WallTime
    /// How often it was resumed.
    package let resumed: Int
    /// The active wave, from 0, and how many waves there are.
    package let wave: Int
    package let waves: Int
    /// The gate's rule, without the classes that it counts, and its numbers over all gateways.
    let rule: PauseRule?
    let count: GateCount
    /// How many vehicles may be under way, which follows from these; nil for any number.
    let room: Int?
    package let hold: Hold?
    package let updated: WallTime
    /// When the last vehicle of the current wave had ended.
    package let waveEnded: WallTime?
    /// How many vehicles may fail; empty without a gate.
    package var most: String { rule.map { "\($0.failed)" } ?? "" }

    package var attempted: Int { count.attempted }
    package var failed: Int { count.failed }

    static let columns = """
        name, beginning, plan, state = 'finished', (extract(epoch FROM begun) * 1000)::bigint,
        resumed, hold, hold_reason, hold_author, (extract(epoch FROM hold_made) * 1000)::bigint,
        wave, waves, attempted, failed, (extract(epoch FROM updated) * 1000)::bigint,
        (extract(epoch FROM wave_ended) * 1000)::bigint, most_failed, most_share, at_least, gate_action,
        room, (extract(epoch FROM yardmaster.clock()) * 1000)::bigint
        """
    static let columnCount = 22
    /// The source of `columns` after a function that answers with the row as it has changed it.
    static let answered = "LATERAL (SELECT (o_rollout).*) AS r"

    /// How many vehicles may be under way by the gate's rule and numbers; nil for any number.
    var headroom: Int? { rule.map { count.headroom($0) } }

    init?(_ row: DatabaseRow) {
        guard let name = row.text(0), let beginning = row.integer(1), let plan = row.text(2),
            let begun = row.integer(4)
        else { return nil }
        self.name = name
        self.beginning = Int(beginning)
        self.plan = plan
        isFinished = row.isTrue(3)
        self.begun = WallTime(milliseconds: begun)
        asked = WallTime(milliseconds: row.integer(21) ?? begun)
        resumed = Int(row.integer(5) ?? 0)
        hold = Hold(row, from: 6, of: name)
        wave = Int(row.integer(10) ?? 0)
        waves = Int(row.integer(11) ?? 1)
        count = GateCount(
            attempted: Int(row.integer(12) ?? 0),
            failed: Int(row.integer(13) ?? 0)
        )
        updated = WallTime(milliseconds: row.integer(14) ?? begun)
        waveEnded = row.time(15)
        let failed =
            row.integer(16).map { Amount.count(Int($0)) }
            ?? row.integer(17).flatMap { Percent(hundredths: Int($0)) }.map(Amount.percent)
        rule = failed.map {
            PauseRule(
                failed: $0,
                atLeast: Int(row.integer(18) ?? 0),
                action: row.text(19).flatMap { PauseRule.Action(rawValue: $0) } ?? .pause
            )
        }
        room = row.integer(20).map { Int($0) }
    }
}

/// A vehicle that has failed too often on one release.
package struct FleetQuarantine: Sendable, Equatable {
    package let vehicle: VehicleID
    package let count: Int
    /// The last failure's sentence.
    package let message: String
}

extension FleetDatabase {
    package func rollout(_ name: String) throws(FleetError) -> FleetRollout? {
        try rows(
            "read the rollout",
            "SELECT \(FleetRollout.columns) FROM yardmaster.rollout WHERE name = $1",
            [name]
        ).first.flatMap { FleetRollout($0) }
    }

    /// The rollout that any gateway worked on last.
    package func lastRollout() throws(FleetError) -> FleetRollout? {
        try rows(
            "look for the last rollout",
            """
            SELECT \(FleetRollout.columns) FROM yardmaster.rollout
            ORDER BY name ~ '^(exec|update)-[0-9].*Z$', updated DESC LIMIT 1
            """
        ).first.flatMap { FleetRollout($0) }
    }

    /// The names of the rollouts that are no orders, the one that was worked on last first.
    package func latestRollouts() throws(FleetError) -> [String] {
        try rows(
            "look for the rollouts",
            """
            SELECT name FROM yardmaster.rollout WHERE name !~ '^(exec|update)-[0-9].*Z$'
            ORDER BY updated DESC, name LIMIT 20
            """
        ).compactMap { $0.text(0) }
    }

    /// Begins a rollout, or continues an existing one; returns its beginning and its plan.
    ///
    /// `seen` is the beginning, and `held` the hold, that the caller knew when it decided to begin the rollout again: of
    /// two callers at the same time only one does, and none over a hold that was set since, or over a pause. `hold`
    /// recalls another rollout, in the same transaction.
    package func enter(
        _ rollout: String,
        plan: SHA256Digest,
        begins: Bool,
        seen: Int,
        under held: Hold.Kind? = nil,
        as holder: FleetHolder,
        recalling hold: Hold? = nil
    ) throws(FleetError) -> (beginning: Int, plan: String) {
        let found = try rows(
            "enter the rollout",
            """
            SELECT * FROM yardmaster.enter($1, $2, $3::boolean, $4::bigint, $5::uuid, $6, $7, $8, $9)
            """,
            [
                rollout, plan.description, "\(begins)", "\(seen)", holder.instance,
                hold?.rollout, hold?.reason, hold?.author, held?.rawValue,
            ]
        )
        guard let row = found.first, let beginning = row.integer(0), let plan = row.text(1) else {
            throw FleetError(.refused, "enter the rollout", "the function answers nothing")
        }
        return (Int(beginning), plan)
    }
}
