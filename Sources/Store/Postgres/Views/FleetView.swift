package import Base

/// One rollout as a fleet's tables have it.
package struct FleetView: Sendable {
    package let rollout: FleetRollout
    /// The vehicles of the present beginning, by wave and name.
    package var vehicles: [FleetVehicle] = []
    /// Those of them that are done and were not read in full.
    package var done: [Done] = []
    /// What failed repeatedly on vehicles that were read in full; of all vehicles where all are.
    package var failures: [FailureCount] = []
    /// The last run of each gateway that took part in this beginning, in the order in which they began.
    package var runs: [FleetRun] = []
    package var underWay = 0
    /// Whether one more vehicle under way could overshoot the gate.
    package var isFull: Bool { rollout.room.map { underWay >= $0 } ?? false }

    package init(_ rollout: FleetRollout, runs: [FleetRun] = []) {
        self.rollout = rollout
        self.runs = runs
    }

    /// Vehicles of a wave for which nothing is left to do: they have ended without a failure and owe nothing.
    package struct Done: Sendable, Equatable {
        /// From 0.
        package let wave: Int
        package let outcome: Outcome
        package let count: Int
        /// Those that have ended since the last run began.
        package let recent: Recent?
        /// A line each: most readers only count them.
        private let names: String

        package var vehicles: [VehicleID] {
            names.split(separator: "\n").compactMap { VehicleID(String($0)) }
        }

        package struct Recent: Sendable, Equatable {
            package let count: Int
            package let first: WallTime
            package let last: WallTime
        }

        init?(_ row: DatabaseRow) {
            guard let outcome = row.text(1).flatMap({ Outcome(rawValue: $0) }) else { return nil }
            wave = Int(row.integer(0) ?? 0)
            self.outcome = outcome
            count = Int(row.integer(2) ?? 0)
            names = row.text(3) ?? ""
            recent =
                if let first = row.time(5), let last = row.time(6) {
                    Recent(count: Int(row.integer(4) ?? 0), first: first, last: last)
                } else { nil }
        }
    }

    /// Which vehicles are read in full.
    package enum Scope: Sendable {
        case all
        case only(VehicleID)
        /// Those that are not done, and those that owe something.
        case open(Owing)
    }

    /// The vehicles and modules that owe something.
    package struct Owing: Sendable {
        let vehicles: [String]
        let modules: [String]

        package init(_ ground: FleetGround) {
            let named =
                ground.debts.map(\.vehicle) + ground.doubts.map(\.intent.vehicle)
                + ground.owed.map(\.vehicle)
            vehicles = Set(named.map(\.text)).sorted()
            modules = ground.debts.map(\.serial.text)
        }
    }
}

extension FleetView.Scope {
    /// The condition on an execution `e`, and its values from `$3` on.
    var condition: (text: String, values: [String?]) {
        switch self {
        case .all: ("true", [])
        case .only(let vehicle): ("e.vehicle = $3", [vehicle.text])
        case .open(let owing): ("(\(Self.done)) IS NOT TRUE", owing.values)
        }
    }

    /// The condition for an execution `e` of `FleetView.done`; `$3` and `$4` are the values of what owes something.
    static let done = """
        e.state = 'ended' AND e.outcome = ANY ('\(FleetDatabase.array(goodEnds))')
          AND e.vehicle <> ALL ($3::text[]) AND e.serial <> ALL ($4::text[])
          AND e.serial NOT IN (SELECT serial FROM yardmaster.module WHERE holder IS NOT NULL)
        """

    /// The outcomes after which nothing is left to do for a vehicle that owes nothing.
    private static let goodEnds = Outcome.allCases.filter { outcome in
        switch outcome.tally {
        case .ok, .current, .skipped, .aborted: true
        case .failed, .deferred, .unreachable: false
        }
    }.map(\.rawValue)
}

extension FleetView.Owing {
    var values: [String?] { [FleetDatabase.array(vehicles), FleetDatabase.array(modules)] }
}

/// A vehicle of a rollout, as a fleet's tables have it.
package struct FleetVehicle: Sendable, Equatable {
    package let vehicle: VehicleID
    package let serial: Serial
    /// From 0.
    package let wave: Int
    package let state: State
    /// Since when it is in this state, by the server's clock.
    package let since: WallTime?
    /// Its verdict, even while it is worked on once more; nil when it has none.
    package let end: FleetEnd?
    /// The run that gave the verdict; nil when no gateway did.
    package let run: Int?
    package let ended: WallTime?
    /// Whether a gateway has had the right to its module in this beginning.
    package let isBegun: Bool
    /// The gateway that has the right to its module, or had it and vanished.
    package let holder: Holder?
    /// Gateways at work that have listened for it for long enough.
    package let missedBy: [String]
    /// Why gateways have left it to the others, for people; nil when none has.
    package let leftBy: String?

    package enum State: String, Sendable { case queued, claimed, ended }

    /// The holder of the right to a module.
    package struct Holder: Sendable, Equatable {
        package let gateway: String
        package let rollout: String
        package let vehicle: String
        package let since: WallTime?
        /// How long the right still lasts; below zero once it is over.
        package let left: Duration
        /// A word of `ExecutionState`, as the gateway reported last.
        package let doing: String?
        package let acknowledged: Int?
        package let total: Int?
    }

    static let columns = """
        e.vehicle, e.serial, e.wave, CASE WHEN l.outcome IS NULL THEN e.state ELSE 'ended' END,
        (extract(epoch FROM e.since) * 1000)::bigint,
        coalesce(e.outcome, l.outcome), coalesce(e.failure, l.failure),
        coalesce(e.sentence, l.sentence), e.version, coalesce(l.gateway, e.gateway),
        v.run, (extract(epoch FROM v.at) * 1000)::bigint, e.epoch IS NOT NULL,
        CASE WHEN m.holder IS NOT NULL THEN coalesce(h.name, m.holder::text) END, m.rollout,
        m.vehicle, (extract(epoch FROM m.since) * 1000)::bigint,
        (extract(epoch FROM m.expires - yardmaster.clock()) * 1000000)::bigint,
        m.doing, m.acknowledged, m.total,
        (SELECT string_agg(g.name, E'\\n' ORDER BY g.name) FROM yardmaster.missed x
          JOIN yardmaster.gateway g ON g.instance = x.instance AND g.gone IS NULL
          WHERE x.rollout = e.rollout AND x.beginning = e.beginning AND x.vehicle = e.vehicle
            AND x.outcome IS NULL),
        (SELECT string_agg(x.gateway || ': ' || x.sentence, '; ' ORDER BY x.gateway)
          FROM yardmaster.missed x
          WHERE x.rollout = e.rollout AND x.beginning = e.beginning AND x.vehicle = e.vehicle
            AND x.outcome IS NOT NULL)
        """

    /// The tables of `columns`; `r` is the rollout, whose name is `$1`, and `$2` the time when it was begun.
    static func source(_ verdict: String) -> String {
        """
        yardmaster.rollout r
        JOIN yardmaster.execution e ON e.rollout = r.name AND e.beginning = r.beginning
        LEFT JOIN yardmaster.module m ON m.serial = e.serial
        LEFT JOIN yardmaster.gateway h ON h.instance = m.holder
        LEFT JOIN \(verdict) v ON v.vehicle = e.vehicle AND v.outcome = e.outcome
          AND v.gateway = e.gateway
        \(left(of: "e"))
        """
    }

    private static let begun = "to_timestamp($2::double precision / 1000)"

    /// The last verdict on each vehicle in this beginning: all of them together, by their time.
    static let verdicts = """
        (SELECT DISTINCT ON (t.vehicle) t.vehicle, t.run, t.at, t.outcome, t.gateway
          FROM yardmaster.verdict t WHERE t.rollout = $1 AND t.counts AND t.at >= \(begun)
          ORDER BY t.vehicle, t.number DESC)
        """

    /// The same for a few vehicles, each by key; earlier nights of one without a verdict are not read.
    static let verdict = """
        LATERAL (SELECT l.* FROM (
          SELECT t.vehicle, t.run, t.at, t.outcome, t.gateway FROM yardmaster.verdict t
          WHERE t.rollout = e.rollout AND t.vehicle = e.vehicle AND t.counts
          ORDER BY t.number DESC LIMIT 1) l WHERE l.at >= \(begun))
        """

    /// The join with the verdict `l` of a gateway that has left the vehicle of an execution: once no gateway is at work on
    /// the rollout, it is how the vehicle stands, as in the report of that gateway.
    static func left(of execution: String) -> String {
        """
        LEFT JOIN LATERAL (
          SELECT t.outcome, t.failure, t.sentence, t.gateway FROM yardmaster.missed t
          WHERE \(execution).state = 'queued' AND \(execution).outcome IS NULL
            AND t.rollout = \(execution).rollout AND t.beginning = \(execution).beginning
            AND t.vehicle = \(execution).vehicle AND t.outcome IS NOT NULL
            AND NOT EXISTS (SELECT FROM yardmaster.workers(t.rollout, t.beginning))
          ORDER BY array_position('\(FleetDatabase.array(LeftCase.order.map(\.rawValue)))'::text[],
            t.outcome), t.gateway LIMIT 1
        ) l ON true
        """
    }

    init?(_ row: DatabaseRow) {
        guard let vehicle = row.vehicle(0),
            let serial = row.text(1).flatMap({ Serial($0) }),
            let state = row.text(3).flatMap({ State(rawValue: $0) })
        else { return nil }
        self.vehicle = vehicle
        self.serial = serial
        wave = Int(row.integer(2) ?? 0)
        self.state = state
        since = row.time(4)
        end = FleetEnd(row, from: 5, of: vehicle)
        run = row.integer(10).map { Int($0) }
        ended = row.time(11)
        isBegun = row.isTrue(12)
        holder = row.text(13).map { gateway in
            Holder(
                gateway: gateway,
                rollout: row.text(14) ?? "",
                vehicle: row.text(15) ?? "",
                since: row.time(16),
                left: .microseconds(row.integer(17) ?? 0),
                doing: row.text(18),
                acknowledged: row.integer(19).map { Int($0) },
                total: row.integer(20).map { Int($0) }
            )
        }
        missedBy = (row.text(21) ?? "").split(separator: "\n").map(String.init)
        leftBy = row.text(22)
    }
}

/// What a fleet's tables have beyond single rollouts, at one moment.
package struct FleetGround: Sendable {
    /// The server's clock.
    package let time: WallTime
    /// Whether rights are granted.
    package let history: EpochGuard
    /// Whether the user who asks may give people's requests, such as `resume`.
    package var isOperator = false
    package var gateways: [FleetGateway] = []
    package var debts: [Debt] = []
    package var doubts: [IntentRecord] = []
    package var owed: [OwedStep] = []
    package var inhibits: [Inhibit] = []
    package var recalls: [RecallUse] = []
}

/// A rollout in short: its vehicles, counted by state.
package struct FleetBrief: Sendable, Equatable {
    package let rollout: FleetRollout
    package var groups: [Group] = []

    /// Vehicles in the same state.
    package struct Group: Sendable, Equatable {
        package let count: Int
        /// Nil for those without a verdict.
        package let outcome: Outcome?
        package let isDoubtful: Bool
        package let hasDebt: Bool
        package let owes: Bool
    }
}

/// A verdict that a gateway gave.
package struct FleetVerdictRecord: Sendable, Equatable {
    package let vehicle: VehicleID
    package let serial: Serial
    package let rollout: String
    package let gateway: String
    package let run: Int
    package let outcome: Outcome
    package let failure: FailureClass?
    package let sentence: String
    package let version: FirmwareVersion?
    package let at: WallTime
}
