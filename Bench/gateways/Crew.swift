import Base
import Glibc
import Store

/// One gateway of the benchmark: a start of the program with its own connection and thread.
struct BenchGateway: Sendable {
    let fleet: FleetDatabase
    let holder: FleetHolder
}

/// Gateways that work with one database.
struct Crew: Sendable {
    let all: [BenchGateway]

    /// Calls `body` with this many gateways, each of which has signed in on its own connection.
    static func with<R: Sendable>(
        _ count: Int,
        _ address: String,
        _ body: (Crew) async throws -> R
    ) async throws -> R {
        var lanes: [ThreadExecutor] = []
        defer { for lane in lanes { lane.stop() } }
        var all: [BenchGateway] = []
        for number in 1...count {
            let lane = try ThreadExecutor.start(name: "fleet-\(number)")
            lanes.append(lane)
            // The timeouts are those of a run.
            let settings = FleetSettings(try FleetAddress(address), name: "bench-\(number)")
            let fleet = FleetDatabase(settings, on: lane, now: Clock.now)
            let holder = FleetHolder(
                gateway: "gateway-\(number)",
                random: (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            )
            if number == 1 {
                let standing = try await fleet.standing()
                _ = try await fleet.upgrade(from: standing, by: "bench")
            }
            _ = try await fleet.signIn(holder, program: "bench", at: WallTime(milliseconds: 0))
            all.append(BenchGateway(fleet: fleet, holder: holder))
        }
        let result: Result<R, any Error>
        do { result = .success(try await body(Crew(all: all))) } catch { result = .failure(error) }
        for gateway in all { await gateway.fleet.close() }
        return try result.get()
    }

    /// Runs `body` for all gateways at the same time, and returns all results.
    func together<R: Sendable>(
        _ body: @escaping @Sendable (Int, BenchGateway) async throws -> R
    ) async throws -> [R] {
        try await withThrowingTaskGroup(of: R.self) { group in
            for (index, gateway) in all.enumerated() {
                group.addTask { try await body(index, gateway) }
            }
            var found: [R] = []
            for try await result in group { found.append(result) }
            return found
        }
    }
}

/// A rollout of the benchmark, with the rules of a gate that never trips.
struct BenchRollout: Sendable {
    let name: String
    let beginning: Int
    let vehicles: [FleetPlan.Vehicle]

    /// How well a gateway hears a vehicle that it claims, in dBm.
    private static let signal = -60

    /// Begins the rollout as a run does.
    ///
    /// Each vehicle is heard by up to four of the gateways at work, or by as many as `hearers` says; `waves` are the sizes
    /// of all waves but the last one.
    static func begin(
        _ name: String,
        _ count: Int,
        as gateway: BenchGateway,
        atWork: [BenchGateway],
        signal: Int = Self.signal,
        waves: [Int] = [],
        hearers: Int = 4
    ) async throws -> BenchRollout {
        let digest = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32))
        guard let digest else { throw BenchError.state("there is no digest") }
        var (wave, last) = (0, waves.first ?? count)
        let vehicles = (1...count).compactMap { number -> FleetPlan.Vehicle? in
            guard let vehicle = VehicleID("\(name)-\(number)"),
                let serial = Serial("\(name)-\(number)-module")
            else { return nil }
            if number > last {
                wave += 1
                last = wave < waves.count ? last + waves[wave] : count
            }
            return FleetPlan.Vehicle(vehicle, serial, wave: wave)
        }
        var plan = FleetPlan(vehicles, waves: waves.count + 1)
        plan.gate = PauseRule(failed: .count(1_000), atLeast: 0)
        var beginning = 0
        for gateway in [gateway] + atWork {
            (beginning, _) = try await gateway.fleet.enter(
                name,
                plan: digest,
                begins: false,
                seen: 0,
                as: gateway.holder
            )
        }
        _ = try await gateway.fleet.enlist(plan, in: name, beginning: beginning, as: gateway.holder)
        let rollout = BenchRollout(name: name, beginning: beginning, vehicles: vehicles)
        for (number, gateway) in atWork.enumerated() {
            let heard = vehicles.indices.filter {
                rollout.isHeard($0, by: number, of: atWork.count, hearers: hearers)
            }
            for first in stride(from: 0, to: heard.count, by: 1_000) {
                try await gateway.fleet.hear(
                    heard[first..<min(first + 1_000, heard.count)].map {
                        (vehicle: vehicles[$0].vehicle, signal: signal)
                    },
                    of: name,
                    beginning: beginning,
                    as: gateway.holder
                )
            }
        }
        return rollout
    }

    /// Whether one of the gateways at work hears the vehicle.
    func isHeard(_ index: Int, by number: Int, of count: Int, hearers: Int) -> Bool {
        let step = max(1, count / hearers)
        return index % step == number % step
    }

    /// A claim that is compared with what other gateways hear, and that none of them is to have first.
    func claim(
        _ index: Int,
        as gateway: BenchGateway,
        hasOthers: Bool = true
    ) async throws -> FleetLease {
        let answer = try await ask(index, as: gateway, hasOthers: hasOthers)
        guard case .granted(let lease, _) = answer else {
            throw BenchError.state("\(vehicles[index].vehicle): \(answer)")
        }
        return lease
    }

    func ask(
        _ index: Int,
        as gateway: BenchGateway,
        hasOthers: Bool = true
    ) async throws -> FleetClaim {
        let vehicle = vehicles[index]
        let wish = LeaseWish(
            vehicle.serial,
            rollout: name,
            vehicle: vehicle.vehicle,
            entry: LeaseWish.Entry(
                beginning: beginning,
                isPaying: false,
                hearing: LeaseWish.Hearing(signal: Self.signal, hasOthers: hasOthers)
            )
        )
        return try await gateway.fleet.claim(wish, by: gateway.holder, terms: .standard)
    }

    func settle(_ index: Int, _ lease: FleetLease, as gateway: BenchGateway) async throws {
        var verdict = FleetWord(
            .verdict,
            under: lease,
            of: gateway.holder,
            rollout: name,
            beginning: beginning,
            vehicle: vehicles[index].vehicle,
            run: 1
        )
        verdict.outcome = Outcome.succeeded.rawValue
        (verdict.sentence, verdict.version) = ("4.12.0, read twice at rest", "4.12.0")
        verdict.attempted = 1
        try await gateway.fleet.accept(verdict)
    }

    /// The other statements of a run for one vehicle: its debts and owed steps, and permission for
    /// its one act.
    func intend(_ index: Int, _ lease: FleetLease, as gateway: BenchGateway) async throws {
        let vehicle = vehicles[index]
        _ = try await gateway.fleet.accounts(of: vehicle.vehicle, on: vehicle.serial)
        let intent = Intent(
            execution: 0,
            run: 1,
            rollout: name,
            vehicle: vehicle.vehicle,
            step: StepKey(nil),
            place: 0,
            effect: .once,
            description: "feature",
            begun: WallTime(milliseconds: 0)
        )
        let act = FleetAct(Act(intent), under: lease, beginning: beginning, isPaying: false)
        guard try await gateway.fleet.intend(act, of: gateway.holder) == .granted else {
            throw BenchError.state("\(vehicle.vehicle): no permit")
        }
        var word = FleetWord(
            .step,
            under: lease,
            of: gateway.holder,
            rollout: name,
            beginning: beginning,
            vehicle: vehicle.vehicle,
            run: 1
        )
        (word.sentence, word.outcome) = ("feature", IntentRecord.done)
        try await gateway.fleet.accept(word)
    }
}

enum BenchError: Error {
    case state(String)
}

enum Clock {
    static let now: @Sendable () -> Moment = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func milliseconds(since began: Moment) -> Double {
        Double(began.duration(to: now()).nanoseconds) / 1_000_000
    }
}
