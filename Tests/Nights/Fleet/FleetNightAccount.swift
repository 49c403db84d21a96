import Base
import Rollout
import Show
import Store

/// All that is known of one night of a fleet when it is over, for anyone who judges it.
struct FleetNightAccount: Sendable {
    /// Counts from 1.
    let number: Int
    let night: FleetNightStory.Night
    var turns: [FleetNightTurn] = []
    /// What was said to modules, and when.
    var touches: [Touch] = []
    /// The modules' own words.
    var before: [NightScene.Vehicle] = []
    var after: [NightScene.Vehicle] = []
    /// What the fleet's tables had before.
    var tablesBefore = FleetNightTables()
    var tables = FleetNightTables()
    /// What gateways' journals have that nobody was told, and what they owe by their own journals.
    var untold = 0
    var debts: Set<String> = []
    /// The waves of which a gateway has asked whether the next one may begin.
    var checks: Set<Check> = []
    /// Doubts that a person has answered with `retry`, and with `clear`; vehicles that were cleared.
    var sentAgain: [Int] = []
    var seenTo: [Int] = []
    var cleared: [Int] = []
    /// What was said while gateways were at work.
    var said: [NightStory.Word] = []
    /// Of all nights up to this one.
    var beginnings: [FleetNightBeginning] = []
    var began = Moment(nanoseconds: 0)
    var ended = Moment(nanoseconds: 0)

    init(_ number: Int, _ night: FleetNightStory.Night) {
        (self.number, self.night) = (number, night)
    }

    struct Check: Sendable, Hashable {
        let rollout: String
        let beginning: Int
        let wave: Int
    }

    struct Touch: Sendable {
        let at: Moment
        let instance: String
        let vehicle: Int
    }
}

/// One start of the program on a gateway, from its signing in to its end.
struct FleetNightTurn: Sendable {
    let gateway: Int
    let instance: String
    let rollout: String
    let vehicles: [Int]
    let wish: NightWish
    let beginning: Int
    let always: [NightStory.Step]
    /// Nil where it was killed.
    var counts: VehicleCounts?
    var ending: RunEnding?
    var events: [(at: Moment, body: Event.Body)] = []
    var began: Moment
    var ended: Moment

    /// What is said of each vehicle in the end.
    var outcomes: [String: Outcome?] {
        var outcomes: [String: Outcome?] = [:]
        for event in events {
            switch event.body {
            case .vehicleEnded(let id, let verdict): outcomes[id.text] = verdict.outcome
            case .vehicleStands(let id, let standing):
                outcomes[id.text] = .some(standing.verdict?.outcome)
            default: break
            }
        }
        return outcomes
    }

    /// When it ended with its last vehicle; its beginning when it ended with none.
    var lastVerdict: Moment {
        let last = events.last { event in
            if case .vehicleEnded = event.body { true } else { false }
        }
        return last?.at ?? began
    }

    func sentence(_ name: String) -> String {
        var last = ""
        for event in events {
            if case .vehicleEnded(let id, let verdict) = event.body, id.text == name {
                last = verdict.message
            }
        }
        return last
    }
}

/// What the fleet's tables have, read by statements of the nights' own.
struct FleetNightTables: Sendable {
    /// A change of the right to a module.
    struct Right: Sendable {
        let at: Moment
        let serial: String
        let epoch: Int
        let holder: String?
        let expires: Moment?
        let vehicle: String?
        let isNew: Bool
        let hold: String?
        let owes: Bool
        let isEarly: Bool
    }

    struct Wave: Sendable {
        let rollout: String
        let beginning: Int
        let at: Moment
        let wave: Int
        let hold: String?
        /// How often people had resumed the rollout by then.
        let resumed: Int
        /// Seconds since the end of the wave before.
        let soaked: Int?
    }

    /// What a gate counts, and what the vehicles of its beginning add to it.
    struct Gate: Sendable, Equatable {
        let attempted: Int
        let failed: Int
    }

    struct Execution: Sendable {
        let rollout: String
        let beginning: Int
        let vehicle: String
        let state: String
        let outcome: Outcome?
        let isTouched: Bool
        let isForgiven: Bool
        let failure: String?
    }

    struct Verdict: Sendable {
        let instance: String
        let vehicle: String
        let outcome: String
    }

    var rights: [Right] = []
    var waves: [Wave] = []
    /// Of the present beginnings, and of all.
    var executions: [Execution] = []
    var allExecutions: [Execution] = []
    var gates: [String: (said: Gate, summed: Gate)] = [:]
    var verdicts: [Verdict] = []
    var debts: Set<String> = []
    /// The rollout that each of these debts is of.
    var debtors: [String: String] = [:]
    var owing: Set<String> = []
    var doubts: Set<String> = []
    var inhibited: Set<String> = []
    var beginnings: [String: Int] = [:]
    var holds: [String: String] = [:]

    var isDepotInhibited: Bool { inhibited.contains("") }
    func isInhibited(_ name: String) -> Bool { isDepotInhibited || inhibited.contains(name) }

    init() {}

    init(_ database: FleetDatabase, _ beginning: WallTime) async throws {
        func moment(_ microseconds: Int64) -> Moment {
            Moment(nanoseconds: (microseconds - beginning.milliseconds * 1_000) * 1_000)
        }
        func rows(_ text: String) async throws -> [DatabaseRow] {
            try await database.rows("look", text)
        }
        rights = try await rows(
            """
            SELECT (extract(epoch FROM at) * 1000000)::bigint, serial, epoch, holder,
              (extract(epoch FROM expires) * 1000000)::bigint, vehicle, is_new, hold, owes, early
            FROM night.touch ORDER BY number
            """
        ).map { row in
            Right(
                at: moment(row.integer(0) ?? 0),
                serial: row.text(1) ?? "",
                epoch: Int(row.integer(2) ?? 0),
                holder: row.text(3),
                expires: row.integer(4).map(moment),
                vehicle: row.text(5),
                isNew: row.isTrue(6),
                hold: row.text(7),
                owes: row.isTrue(8),
                isEarly: row.isTrue(9)
            )
        }
        waves = try await rows(
            """
            SELECT rollout, beginning, wave, hold, resumed, soaked,
              (extract(epoch FROM at) * 1000000)::bigint
            FROM night.wave ORDER BY number
            """
        ).map { row in
            Wave(
                rollout: row.text(0) ?? "",
                beginning: Int(row.integer(1) ?? 0),
                at: moment(row.integer(6) ?? 0),
                wave: Int(row.integer(2) ?? 0),
                hold: row.text(3),
                resumed: Int(row.integer(4) ?? 0),
                soaked: row.integer(5).map { Int($0) }
            )
        }
        allExecutions = try await rows(
            """
            SELECT e.rollout, e.beginning, e.vehicle, e.state, e.outcome, e.touched, e.forgiven,
              e.failure
            FROM yardmaster.execution e ORDER BY 1, 2, 3
            """
        ).map { row in
            Execution(
                rollout: row.text(0) ?? "",
                beginning: Int(row.integer(1) ?? 0),
                vehicle: row.text(2) ?? "",
                state: row.text(3) ?? "",
                outcome: row.text(3) == "ended"
                    ? row.text(4).flatMap { Outcome(rawValue: $0) } : nil,
                isTouched: row.isTrue(5),
                isForgiven: row.isTrue(6),
                failure: row.text(7)
            )
        }
        verdicts = try await rows(
            "SELECT instance, vehicle, outcome FROM yardmaster.verdict ORDER BY number"
        ).map { row in
            Verdict(
                instance: row.text(0) ?? "",
                vehicle: row.text(1) ?? "",
                outcome: row.text(2) ?? ""
            )
        }
        func names(_ text: String) async throws -> Set<String> {
            Set(try await rows(text).map { $0.text(0) ?? "" })
        }
        for row in try await rows("SELECT vehicle, rollout FROM yardmaster.debt") {
            debts.insert(row.text(0) ?? "")
            debtors[row.text(0) ?? ""] = row.text(1)
        }
        owing = try await names("SELECT vehicle FROM yardmaster.owed")
        doubts = try await names(
            """
            SELECT s.vehicle FROM yardmaster.step s
            WHERE s.outcome IS NULL OR s.outcome = 'in-doubt'
            """
        )
        inhibited = try await names("SELECT vehicle FROM yardmaster.inhibit")
        for row in try await rows("SELECT name, beginning, hold FROM yardmaster.rollout") {
            beginnings[row.text(0) ?? ""] = Int(row.integer(1) ?? 0)
            holds[row.text(0) ?? ""] = row.text(2)
        }
        executions = allExecutions.filter { beginnings[$0.rollout] == $0.beginning }
        for row in try await rows(
            """
            SELECT r.name, r.attempted, r.failed, coalesce(sum(e.attempted), 0),
              coalesce(sum(e.failed), 0)
            FROM yardmaster.rollout r LEFT JOIN yardmaster.execution e ON e.rollout = r.name
              AND e.beginning = r.beginning
            GROUP BY r.name, r.attempted, r.failed
            """
        ) {
            func number(_ column: Int) -> Int { Int(row.integer(column) ?? 0) }
            gates[row.text(0) ?? ""] = (
                Gate(attempted: number(1), failed: number(2)),
                Gate(attempted: number(3), failed: number(4))
            )
        }
    }
}
