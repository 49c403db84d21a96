import Base
import Manifest
import Operations
import Rollout
import Show
import Store
import Testing
import Workbench

/// A rollout in a store, with a vehicle in each state, as a run leaves it there; and people's verbs on it.
struct StoreYard {
    /// The states of the table of `docs/promises.md` §6.
    enum Standing: String, CaseIterable, Sendable {
        case withoutVerdict, atWork, atWorkOwing, done, failed, inDoubt, indebted, owing, inhibited
        case quarantined
    }

    enum Verb: String, CaseIterable, Sendable {
        case retry, retryVehicle, inhibit, uninhibit, clear
    }

    /// What a store has about a vehicle.
    struct Account: Equatable, CustomStringConvertible {
        var verdict: String?
        var doubts = 0
        var debts = 0
        var owed = 0
        var failures = 0
        var inhibits = 0

        var description: String {
            "\(verdict ?? "no verdict"), doubts \(doubts), debts \(debts), owed \(owed), failures \(failures), "
                + "inhibits \(inhibits)"
        }
    }

    static let quarantine = 3
    let rights: any Coordinator
    let journal: Journal
    let ground: Ground
    private let now = WallTime(milliseconds: 0)

    /// Lends a yard with these vehicles, each named after its state.
    ///
    /// With a `gate` the first failure pauses or aborts the rollout.
    static func with(
        _ store: Store,
        _ standings: [Standing] = Standing.allCases,
        gate: Hold.Kind? = nil,
        _ body: (StoreYard) async throws -> Void
    ) async throws {
        var plan = FleetPlan(
            try standings.map { FleetPlan.Vehicle(try id($0), try serial($0), wave: 0) },
            waves: 1
        )
        if let gate {
            plan.gate = PauseRule(
                failed: .count(0),
                atLeast: 1,
                action: gate == .aborted ? .abort : .pause
            )
        }
        try await store.withRights(plan: plan) { part in
            part.quarantineAfter = quarantine
            part.rules.pause = plan.gate
        } _: {
            let yard = StoreYard(rights: $0, journal: $1, ground: $2)
            if let fleet = yard.ground.fleet {
                try await fleet.bring(
                    plan: try yard.digest(7).description,
                    of: "city",
                    view: "{}",
                    mark: "",
                    quarantineAfter: quarantine
                )
            }
            for standing in standings { try await yard.put(standing) }
            try await body(yard)
        }
    }

    static func id(_ standing: Standing) throws -> VehicleID {
        try #require(VehicleID(standing.rawValue))
    }

    private static func serial(_ standing: Standing) throws -> Serial {
        let number = Standing.allCases.firstIndex(of: standing) ?? 0
        return try #require(Serial("a\(number)"))
    }

    private func digest(_ byte: UInt8) throws -> SHA256Digest {
        try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32)))
    }

    // MARK: What a run does

    private func put(_ standing: Standing) async throws {
        let (vehicle, serial) = (try Self.id(standing), try Self.serial(standing))
        let fresh = ExecutionRecord(
            rollout: "city",
            vehicle: vehicle,
            serial: serial,
            run: 1,
            started: now
        )
        let record = try #require(try await journal.begin(Beginning(nil, fresh: [fresh])).first)
        if standing == .withoutVerdict { return }
        let claim = try await rights.claim(
            serial,
            for: vehicle,
            paying: false,
            at: now,
            unless: StopSignal()
        )
        guard case .granted(let lease) = claim else {
            Issue.record("\(standing): \(claim)")
            return
        }
        let step = Intent(
            of: record,
            step: StepKey(try digest(1)),
            place: 0,
            effect: standing == .indebted ? .transfer : .once,
            description: "command horn",
            begun: now
        )
        let debt = Debt(
            serial: serial,
            image: try digest(2),
            name: "city",
            version: nil,
            target: "application",
            total: 9,
            stage: "transferring",
            of: record,
            begun: now
        )
        switch standing {
        case .atWork: return
        case .atWorkOwing, .owing:
            let always = OwedStep(StepKey(try digest(3)), "command lock", of: record)
            try await settle(step, try await intend(step, on: serial, owing: [always]), serial)
            if standing == .atWorkOwing { return }
        case .inDoubt:
            let id = try await intend(step, on: serial)
            try await settle(step, id, serial, IntentRecord.doubtful)
        case .indebted: _ = try await intend(step, on: serial, opening: debt)
        case .withoutVerdict, .done, .failed, .inhibited, .quarantined: break
        }
        let times = standing == .quarantined ? Self.quarantine : standing == .failed ? 1 : 0
        let outcome: Outcome =
            switch standing {
            case .done: .succeeded
            case .inDoubt: .inDoubt
            default: .failed
            }
        try await end(record, lease, outcome, failures: times)
        if standing == .inhibited { try await inhibit(vehicle, "workshop") }
    }

    private func intend(
        _ intent: Intent,
        on serial: Serial,
        opening debt: Debt? = nil,
        owing steps: [OwedStep] = []
    ) async throws -> IntentID {
        let id = try await journal.intend(
            intent,
            opening: debt,
            owing: steps,
            isFleets: rights.isShared
        )
        let act = Act(intent, opening: debt, owing: steps)
        let permit = try await rights.permit(act, on: serial, paying: false, unless: StopSignal())
        #expect(permit == .granted)
        return id
    }

    private func settle(
        _ intent: Intent,
        _ id: IntentID,
        _ serial: Serial,
        _ outcome: String = IntentRecord.done
    ) async throws {
        let word = rights.word(of: .settled(intent, outcome), on: serial)
        try await journal.settle(
            id,
            outcome: outcome,
            at: now,
            telling: word.map { [$0] } ?? []
        )
        try await rights.tell()
    }

    /// A vehicle that was at work fails, and so trips the gate.
    func trip(_ gate: Hold.Kind) async throws {
        let vehicle = try Self.id(.atWork)
        let record = try #require(try await journal.execution(rollout: "city", vehicle: vehicle))
        // The run has the right already.
        let claim = try await rights.claim(
            record.serial,
            for: vehicle,
            paying: true,
            at: now,
            unless: StopSignal()
        )
        guard case .granted(let lease) = claim else {
            Issue.record("\(claim)")
            return
        }
        let hold = Hold(
            gate,
            "city",
            reason: "the gate: 1 of 1 attempted have failed, at most 0 may",
            author: Hold.gate,
            at: now
        )
        try await end(
            record,
            lease,
            .failed,
            failures: 1,
            holding: GateHold(hold, isAfterAnother: false)
        )
    }

    /// Gives a verdict; a run counts the failure of a release once for each time that it fails.
    private func end(
        _ record: ExecutionRecord,
        _ lease: Lease,
        _ outcome: Outcome,
        failures: Int,
        holding hold: GateHold? = nil
    ) async throws {
        let verdict = Verdict.given(outcome)
        var ended = try #require(try await journal.execution(record.number))
        ended.state = .ended
        ended.end = ExecutionRecord.End(
            outcome,
            failure: verdict.failure,
            message: verdict.message,
            at: now
        )
        let release = try digest(9)
        try await journal.record(
            ended,
            durably: true,
            with: VerdictBaggage(
                // In a fleet the database counts.
                holding: ground.fleet == nil ? hold : nil,
                telling: rights.word(
                    of: .ended(record.vehicle, verdict, touched: failures > 0, release: release),
                    on: record.serial
                ),
                releasing: rights.record(of: lease)
            )
        )
        if rights.record(of: lease) == nil { try await rights.release(lease, with: verdict) }
        try await rights.tell()
        if ground.fleet == nil {
            for _ in 0..<failures {
                _ = try await journal.countFailure(
                    record.vehicle,
                    release: release,
                    message: verdict.message,
                    at: now
                )
            }
        } else if failures > 1 {
            try ground.ask(
                "UPDATE yardmaster.failure SET count = \(failures) WHERE vehicle = '\(record.vehicle)'"
            )
        }
    }

    // MARK: What people say

    /// Inhibits a vehicle, or with nil the depot.
    func inhibit(
        _ vehicle: VehicleID?,
        _ reason: String,
        for length: Duration? = nil
    ) async throws {
        guard let fleet = ground.fleet else {
            return try await journal.inhibit(
                Inhibit(
                    vehicle,
                    reason: reason,
                    expires: length.map { now.advanced(by: $0) },
                    author: "mia",
                    at: now
                )
            )
        }
        try await fleet.inhibit([vehicle], reason: reason, for: length, by: "mia")
    }

    /// The reasons that are in force after so much time: first the depot's, then those of vehicles by name.
    func inhibits(after time: Duration = .zero) async throws -> [String] {
        guard let fleet = ground.fleet else {
            return try await journal.inhibits(at: now.advanced(by: time)).map(\.reason)
        }
        let passed = "expires = expires - interval '\(time.nanoseconds / 1_000) us'"
        try ground.ask("UPDATE yardmaster.inhibit SET \(passed)")
        let found = try await fleet.inhibits().map(\.reason)
        try ground.ask("UPDATE yardmaster.inhibit SET \(passed.replacing(" - ", with: " + "))")
        return found
    }

    /// Whether there was an inhibition.
    func uninhibit(_ vehicle: VehicleID?) async throws -> Bool {
        guard let fleet = ground.fleet else { return try await journal.uninhibit(vehicle) }
        return try await fleet.uninhibit([vehicle], by: "mia") > 0
    }

    func retry(_ vehicle: VehicleID?) async throws -> Rearmed {
        if let fleet = ground.fleet {
            return try #require(
                try await fleet.retry(
                    vehicle == nil ? "city" : nil,
                    among: vehicle.map { [$0] },
                    named: vehicle.map { [$0] } ?? [],
                    by: "mia"
                )
            )
        }
        let worn = Set(try await journal.failures(atLeast: Self.quarantine).map(\.vehicle))
        return try await journal.retry(
            "city",
            vehicle.map { [$0] } ?? [],
            whileHeld: { true },
            quarantined: worn,
            by: "mia",
            at: now
        )
    }

    func clear(_ vehicle: VehicleID, isNamed: Bool = true) async throws -> Cleared {
        let named: Set<VehicleID> = isNamed ? [vehicle] : []
        if let fleet = ground.fleet {
            return try await fleet.clear([vehicle], named: named, by: "mia")
        }
        return try await journal.clear(
            [vehicle],
            named: named,
            whileHeld: { true },
            by: "mia",
            at: now
        )
    }

    func hold(_ kind: Hold.Kind) async throws -> VerbAnswer {
        if let fleet = ground.fleet {
            return try #require(
                try await fleet.hold("city", kind, reason: "rain", by: "mia")
            )
        }
        let hold = Hold(kind, "city", reason: "rain", author: "mia", at: now)
        return try await journal.set(hold, isAtWork: false)
    }

    func resume() async throws -> VerbAnswer {
        guard let fleet = ground.fleet else { return try await journal.resume("city") }
        return try #require(try await fleet.resume("city", by: "mia"))
    }

    /// The first of two waves has ended.
    func endWave() async throws {
        if ground.fleet != nil {
            try ground.ask(
                "UPDATE yardmaster.rollout SET waves = 2, wave_ended = yardmaster.clock()"
            )
            return
        }
        var record = RolloutRecord(name: "city", plan: try digest(7), run: 1, at: now)
        record.waveEnded = now
        try await journal.save(record)
    }

    /// Its end pauses the rollout.
    func stopAfterWave() async throws {
        let why = "wave 1 has ended, and a person is to look at it"
        if let fleet = ground.fleet {
            return try await fleet.stop("city", beginning: 1, after: 0, reason: why)
        }
        let hold = Hold(.paused, "city", reason: why, author: Hold.gate, at: now, afterWave: 0)
        try await journal.trip(GateHold(hold, isAfterAnother: false))
    }

    /// All vehicles have ended.
    func finish() async throws {
        if ground.fleet != nil {
            try ground.ask("UPDATE yardmaster.rollout SET state = 'finished'")
            return
        }
        var record = RolloutRecord(name: "city", plan: try digest(7), run: 1, at: now)
        record.state = .finished
        try await journal.save(record)
    }

    // MARK: What the store has

    var hold: Hold? {
        get async throws {
            guard let fleet = ground.fleet else { return try await journal.hold(on: "city") }
            return try await fleet.rollout("city")?.hold
        }
    }

    /// The wave that is active, from 0, and whether it has ended.
    var wave: (number: Int, isOver: Bool) {
        get async throws {
            if let fleet = ground.fleet {
                let known = try #require(try await fleet.rollout("city"))
                return (known.wave, known.waveEnded != nil)
            }
            let known = try #require(try await journal.rollout("city"))
            return (known.wave, known.waveEnded != nil)
        }
    }

    func account(_ standing: Standing) async throws -> Account? {
        try await accounts()[standing]
    }

    func accounts() async throws -> [Standing: Account] {
        guard ground.fleet != nil else {
            var accounts: [Standing: Account] = [:]
            for record in try await journal.executions(rollout: "city") {
                let vehicle = record.vehicle
                var account = Account(verdict: record.end?.outcome.rawValue)
                account.doubts = try await journal.doubts(of: vehicle).count
                account.debts = try await journal.debts().count { $0.vehicle == vehicle }
                account.owed = try await journal.owed(by: vehicle).count
                let failures = try await journal.failures(atLeast: 1)
                account.failures = failures.count { $0.vehicle == vehicle }
                account.inhibits = try await journal.inhibits(at: now).count {
                    $0.vehicle == vehicle
                }
                accounts[try #require(Standing(rawValue: vehicle.text))] = account
            }
            return accounts
        }
        let rows = try ground.ask(
            """
            SELECT e.vehicle, coalesce(e.outcome, '-'),
              (SELECT count(*) FROM yardmaster.step s WHERE s.vehicle = e.vehicle
                AND (s.outcome IS NULL OR s.outcome = 'in-doubt')),
              (SELECT count(*) FROM yardmaster.debt WHERE vehicle = e.vehicle),
              (SELECT count(*) FROM yardmaster.owed WHERE vehicle = e.vehicle),
              (SELECT count(*) FROM yardmaster.failure WHERE vehicle = e.vehicle),
              (SELECT count(*) FROM yardmaster.inhibit WHERE vehicle = e.vehicle)
            FROM yardmaster.execution e
            """
        ).split(separator: "\n").map { $0.split(separator: "|").map(String.init) }
        return Dictionary(
            uniqueKeysWithValues: try rows.map { row in
                let numbers = row.dropFirst(2).map { Int($0) ?? -1 }
                let account = Account(
                    verdict: row[1] == "-" ? nil : row[1],
                    doubts: numbers[0],
                    debts: numbers[1],
                    owed: numbers[2],
                    failures: numbers[3],
                    inhibits: numbers[4]
                )
                return (try #require(Standing(rawValue: row[0])), account)
            }
        )
    }
}
