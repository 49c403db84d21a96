import Base
import Families
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization
import Testing

/// A depot of vehicles with GO devices, optionally each with a module to update.
final class CommandYard: Sendable {
    let simulation: Simulation
    let count: Int
    let lossChance: Int
    let modules: Bool
    /// The faults of each GO device.
    let faults: [GOPlan.Fault]
    /// What the impostor of each GO device answers.
    let impostor: GOPlan.Impostor?
    let pairing: Pairing
    let events = Mutex<[Event]>([])
    let stop = StopSignal()
    private let clock: Mutex<any Timekeeper>

    init(
        seed: UInt64,
        count: Int,
        lossChance: Int = 0,
        modules: Bool = false,
        faults: [GOPlan.Fault] = [],
        impostor: GOPlan.Impostor? = nil,
        isBonded: Bool = false
    ) {
        simulation = Simulation(seed: seed)
        clock = Mutex(simulation.time)
        self.count = count
        self.lossChance = lossChance
        self.modules = modules
        self.faults = faults
        self.impostor = impostor
        pairing = isBonded ? Passkey(123_456).map { .passkey($0) } ?? .none : .none
    }

    /// Asks the run to stop when it reads the clock for the `look`th time.
    func interrupts(at look: Int) -> InterruptingClock {
        let interrupting = InterruptingClock(simulation.time, stop, at: look)
        clock.withLock { $0 = interrupting }
        return interrupting
    }

    static let key = [UInt8](repeating: 7, count: 20)

    func plan(_ number: Int) throws -> GOPlan {
        let serial = try #require(Serial("G9-\(number)"))
        var plan = GOPlan(serial: serial, hardwareID: UInt32(1_000 + number))
        plan.tenants = [try #require(CarShareBench.issuer).modulus]
        plan.lossChance = lossChance
        plan.faults = faults
        plan.impostor = impostor
        return plan
    }

    /// A module; `lossChance` of 10,000 modules lose a link in the middle of their image.
    func module(_ number: Int) throws -> ModulePlan {
        var plan = ModulePlan(serial: try moduleSerial(number))
        plan.key = Self.key
        plan.firmwareType = 17
        plan.version = FirmwareVersion(4, 11, 3)
        var chance = SplitMix64(seed: simulation.seed << 8 | UInt64(number))
        if chance.below(10_000) < lossChance {
            plan.faults = [ModulePlan.Fault(.linkLost(at: 1 + chance.below(8_000)))]
        }
        return plan
    }

    func moduleSerial(_ number: Int) throws -> Serial {
        try #require(Serial(bytes: UInt64(0xA0_0000 + number).bigBytes))
    }

    func job(_ number: Int, _ steps: [JobStep], always: [JobStep]) throws -> VehicleJob {
        let issuer = try #require(CarShareBench.issuer)
        let plan = try plan(number)
        var reservation = issuer.reservation(
            hardwareID: plan.hardwareID,
            from: CarShareBench.start,
            until: CarShareBench.end
        )
        reservation.serial = plan.serial.text.uppercased()
        let token = try #require(issuer.token(reservation))
        let key = try ComoduleKey(Secret(Array(Hex.text(Self.key).utf8)))
        return VehicleJob(
            vehicle: try #require(VehicleID("v\(number)")),
            serial: modules ? try moduleSerial(number) : plan.serial,
            driver: modules ? ComoduleUpdate(key: key) : CarShareDriver(),
            carShare: TokenSupply(try CarShareCredentials(text: token)),
            bond: BondPolicy(pairing),
            steps: steps,
            always: always
        )
    }

    struct Night: Sendable {
        var counts: [Outcome: Int] = [:]
        var records: [ExecutionRecord] = []
        var intents: [IntentRecord] = []
        /// The commands that each vehicle carried out.
        var executed: [[CarShareCommands]] = []
        /// The number of signed commands that each impostor has collected so far.
        var collected: [Int] = []
        /// The version that each module runs.
        var versions: [FirmwareVersion] = []
    }

    /// Runs the same jobs `times` times; `before` may write into the journal.
    ///
    /// A schedule for fewer vehicles is for the first ones. A run that ends because the disk is
    /// full is left out.
    func nights(
        _ steps: [JobStep],
        always: [JobStep] = [],
        times: Int = 1,
        schedules: [Schedule] = [],
        before: @escaping @Sendable (Int, Journal) async throws -> Void = { _, _ in }
    ) throws -> [Night] {
        let jobs = try (1...count).map { try job($0, steps, always: always) }
        let result = try simulation.run { [self] () async -> Result<[Night], any Error> in
            do {
                return .success(try await run(jobs, times, schedules, before))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func run(
        _ jobs: [VehicleJob],
        _ times: Int,
        _ schedules: [Schedule],
        _ before: @Sendable (Int, Journal) async throws -> Void
    ) async throws -> [Night] {
        await simulation.air.addAdapter("hci0")
        let plans = try (1...count).map { try plan($0) }
        let modules = modules ? try (1...count).map { try module($0) } : []
        await simulation.air.arrange { world in
            for plan in plans { world.add(plan) }
            for module in modules { world.add(module) }
        }
        let journal = try await Journal.inMemory(executor: simulation.worldLane)
        var nights: [Night] = []
        for night in 1...times {
            try await before(night, journal)
            let schedule =
                schedules.isEmpty ? Schedule(vehicles: jobs.count) : schedules[night - 1]
            do {
                let jobs = Array(jobs.prefix(schedule.models.count))
                nights.append(try await run(jobs, schedule, journal))
            } catch let error as JournalError where error.kind == .full {
                // The disk refused a write, which ends the run.
            }
        }
        return nights
    }

    private func run(
        _ jobs: [VehicleJob],
        _ schedule: Schedule,
        _ journal: Journal
    ) async throws -> Night {
        let run = try await journal.beginRun(
            rollout: "batch",
            plan: SHA256.digest(of: []),
            at: simulation.time.wallTime
        )
        let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
        let time = clock.withLock { $0 }
        let depot = Depot(
            rollout: "batch",
            run: run,
            air: SoleAirtime(radio),
            time: time,
            journal: journal,
            events: EventStream(run: run, time: time) { [self] event in
                events.withLock { $0.append(event) }
            },
            stop: stop,
            rules: RolloutRules(settle: try #require(SettleRules())),
            peripherals: { _ in radio }
        )
        let result = try await RolloutRun(
            jobs,
            in: depot,
            adapters: [radio],
            schedule: schedule
        ).run()
        return Night(
            counts: result.counts,
            records: try await journal.executions(rollout: "batch"),
            intents: try await journal.intents(rollout: "batch", vehicle: nil),
            executed: await simulation.air.arrange { world in
                world.visitors.compactMap { ($0 as? GODevice)?.executed }
            },
            collected: await simulation.air.arrange { world in
                world.visitors.compactMap { ($0 as? GOImpostor)?.collected.count }
            },
            versions: await simulation.air.arrange { world in
                world.modules(ComoduleModule.self).map(\.runningVersion)
            }
        )
    }
}

/// Shows a later time at each reading, and asks the run to stop at one of the readings.
final class InterruptingClock: Timekeeper {
    private let time: any Timekeeper
    private let stop: StopSignal
    private let look: Int
    private let looks = Mutex<(count: Int, asked: WallTime?)>((0, nil))

    init(_ time: any Timekeeper, _ stop: StopSignal, at look: Int) {
        self.time = time
        self.stop = stop
        self.look = look
    }

    /// The time that was shown when the stop was requested.
    var asked: WallTime? { looks.withLock { $0.asked } }
    var now: Moment { time.now }
    var wallTime: WallTime {
        let base = time.wallTime
        return looks.withLock { looks in
            looks.count += 1
            let shown = base.advanced(by: .milliseconds(looks.count))
            if looks.count == look {
                looks.asked = shown
                stop.request()
            }
            return shown
        }
    }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        await time.sleep(until: deadline, for: purpose())
    }
}
