import Digests
import Domain
import Families
import Journal
import Manifest
import Modules
import Protocols
import Radio
import Reports
import Rollout
import Sessions
import Simulation
import Synchronization
import Testing
import Wire

/// Commands as steps of a rollout: what the journal says and what the vehicles did.
@Suite struct CommandStepTests {
    /// A depot of vehicles with GO devices, some of them with a module to update besides.
    private final class Yard: Sendable {
        let simulation: Simulation
        let count: Int
        let lossChance: Int
        let modules: Bool
        let events = Mutex<[Event]>([])
        let stop = StopSignal()
        private let clock: Mutex<any Timekeeper>

        init(seed: UInt64, count: Int, lossChance: Int = 0, modules: Bool = false) {
            simulation = Simulation(seed: seed)
            clock = Mutex(simulation.time)
            self.count = count
            self.lossChance = lossChance
            self.modules = modules
        }

        /// The run is asked to stop as it looks at the clock for this time.
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
            return plan
        }

        /// A tenth of the modules, by chance, lose a link in the middle of their image.
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
                steps: steps,
                always: always
            )
        }

        struct Night: Sendable {
            var counts: [Outcome: Int] = [:]
            var records: [ExecutionRecord] = []
            var intents: [IntentRecord] = []
            /// Commands that each vehicle carried out.
            var executed: [[CarShareCommands]] = []
            /// What each module runs.
            var versions: [FirmwareVersion] = []
        }

        /// Runs the same jobs so often; `before` may write into the journal.
        func nights(
            _ steps: [JobStep],
            always: [JobStep] = [],
            times: Int = 1,
            schedule: Schedule? = nil,
            before: @escaping @Sendable (Int, Journal) async throws -> Void = { _, _ in }
        ) throws -> [Night] {
            let jobs = try (1...count).map { try job($0, steps, always: always) }
            let result = try simulation.run { [self] () async -> Result<[Night], any Error> in
                do {
                    return .success(try await run(jobs, times, schedule, before))
                } catch { return .failure(error) }
            }
            return try result.get()
        }

        private func run(
            _ jobs: [VehicleJob],
            _ times: Int,
            _ schedule: Schedule?,
            _ before: @Sendable (Int, Journal) async throws -> Void
        ) async throws -> [Night] {
            await simulation.air.addAdapter("hci0")
            let plans = try (1...count).map { try plan($0) }
            let modules = modules ? try (1...count).map { try module($0) } : []
            await simulation.air.arrange { world in
                for plan in plans { _ = world.add(plan) }
                for module in modules { world.addComodule(module) }
            }
            let journal = try await Journal.inMemory(executor: simulation.worldLane)
            var nights: [Night] = []
            for night in 1...times {
                try await before(night, journal)
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
                    schedule: schedule ?? Schedule(vehicles: jobs.count)
                ).run()
                nights.append(
                    Night(
                        counts: result.counts,
                        records: try await journal.executions(rollout: "batch"),
                        intents: try await journal.intents(rollout: "batch", vehicle: nil),
                        executed: await simulation.air.arrange { world in
                            world.visitors.compactMap { ($0 as? GODevice)?.executed }
                        },
                        versions: await simulation.air.arrange { world in
                            world.comoduleModules.map(\.runningVersion)
                        }
                    )
                )
            }
            return nights
        }
    }

    /// Shows a later time at each look, and asks for the end of the run at one of them.
    private final class InterruptingClock: Timekeeper {
        private let time: any Timekeeper
        private let stop: StopSignal
        private let look: Int
        private let looks = Mutex<(count: Int, asked: WallTime?)>((0, nil))

        init(_ time: any Timekeeper, _ stop: StopSignal, at look: Int) {
            self.time = time
            self.stop = stop
            self.look = look
        }

        /// What it showed as it asked.
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

    private let lock = JobStep.command(CarShareCommands(.lock))
    private let unlock = JobStep.command(CarShareCommands(.unlockAll))

    /// Three runs over two waves: those of the first wave are looked at again in each of them.
    @Test func `a rollout that goes on commands nobody a second time`() throws {
        let yard = Yard(seed: 1, count: 3)
        var schedule = Schedule(vehicles: 3)
        schedule.plan = SHA256.digest(of: [1])
        schedule.waves = [[0], [1], [2]]
        schedule.rules.between.asks = true
        let nights = try yard.nights(
            [unlock, lock],
            always: [lock],
            times: 4,
            schedule: schedule
        ) { night, journal in
            _ = try await journal.resume("batch")
        }
        let each: [CarShareCommands] = [.init(.unlockAll), .init(.lock), .init(.lock)]
        #expect(nights[0].executed == [each, [], []])
        #expect(nights[1].executed == [each, each, []])
        #expect(nights[2].executed == [each, each, each])
        #expect(nights[2].counts == [.succeeded: 3])
        // It is finished, and stays so until somebody says that it begins again.
        #expect(nights[3].executed == [each, each, each])
        #expect(nights[3].counts == [.succeeded: 3])
    }

    @Test func `a command is carried out, told and kept in the journal`() throws {
        let yard = Yard(seed: 1, count: 2)
        let night = try yard.nights([unlock, .wait(.seconds(60)), lock])[0]
        #expect(night.counts == [.succeeded: 2])
        #expect(
            night.executed
                == [[.init(.unlockAll), .init(.lock)], [.init(.unlockAll), .init(.lock)]]
        )
        #expect(night.intents.map { $0.settlement?.outcome } == ["done", "done", "done", "done"])
        #expect(
            night.intents.map { $0.intent.effect } == [.once, .once, .converge, .converge],
            "what locks may be sent again, what unlocks may not"
        )
        let told = yard.events.withLock { list in
            list.compactMap { event -> String? in
                guard case .stepEnded(let id, let step) = event.body else { return nil }
                return "\(id) \(step.number) \(step.action) \(step.fate.rawValue)"
            }
        }
        #expect(told.contains("v1 3 command lock done"))
    }

    @Test func `a command that was intended as the run was told to stop is not sent`() throws {
        var met = 0
        for look in 1... {
            let yard = Yard(seed: 1, count: 1)
            let clock = yard.interrupts(at: look)
            let night = try yard.nights([unlock])[0]
            guard let asked = clock.asked else { break }
            guard let intent = night.intents.first else {
                #expect(night.executed == [[]], "look \(look)")
                continue
            }
            guard intent.intent.begun == asked else { continue }
            met += 1
            #expect(night.executed == [[]])
            #expect(intent.settlement?.outcome == IntentRecord.failed)
            #expect(night.counts.isEmpty)
        }
        #expect(met == 1, "one of the looks was that of the intent")
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `of fifty unlocks over bad links each has one fate that the vehicles confirm`(
        seed: UInt64
    ) throws {
        let yard = Yard(seed: seed, count: 50, lossChance: 1_000)
        let night = try yard.nights([unlock])[0]
        #expect(night.records.count == 50)
        #expect(night.records.allSatisfy { $0.end != nil })
        let done = night.counts[.succeeded] ?? 0
        let doubtful = night.counts[.inDoubt] ?? 0
        let executed = night.executed.reduce(0) { $0 + $1.count }
        #expect(night.executed.allSatisfy { $0.count <= 1 }, "nothing is done twice")
        #expect((done...(done + doubtful)).contains(executed), "\(done) \(doubtful) \(executed)")
        #expect(night.intents.allSatisfy { $0.settlement != nil })
        #expect(night.intents.count { $0.settlement?.outcome == "done" } == done)
        #expect(night.intents.count { $0.settlement?.outcome == "in-doubt" } == doubtful)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `of twenty mixed jobs over bad links no command is done twice`(seed: UInt64) throws {
        let yard = Yard(seed: seed, count: 20, lossChance: 1_000, modules: true)
        let tests = [
            try #require(ProfileLibrary.shipped.profile(Profile.generic, of: .comodule))
                .test("state_of_charge", .atLeast, "40")
        ]
        let night = try yard.nights(
            [
                .require(tests.map(Precondition.property), otherwise: .defer), unlock,
                .read(["state_of_charge"]),
            ],
            always: [lock]
        )[0]
        #expect(night.records.allSatisfy { $0.end != nil } && night.records.count == 20)
        for list in night.executed {
            #expect(list.count { $0 == CarShareCommands(.unlockAll) } <= 1)
            // What locks is sent until it is answered.
            #expect(list.isEmpty || list.last == CarShareCommands(.lock))
        }
        let unlocks = night.intents.filter { $0.intent.effect == .once }
        let done = unlocks.count { $0.settlement?.outcome == "done" }
        let doubtful = unlocks.count { $0.settlement?.outcome == "in-doubt" }
        let executed = night.executed.joined().count { $0 == CarShareCommands(.unlockAll) }
        #expect((done...(done + doubtful)).contains(executed))
        #expect(night.counts[.succeeded] ?? 0 > 5)
    }

    /// An image of 8 KiB that a module without a signature check takes.
    private var update: UpdateJob {
        let firmware = (0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let version = FirmwareVersion(4, 12)
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(firmware.count),
            digest: SHA256.digest(of: firmware),
            firmwareVersion: version.packed
        )
        return UpdateJob(
            name: "city",
            digest: SHA256.digest(of: firmware),
            version: version,
            family: .comodule,
            type: 17,
            variant: 0,
            allowsDowngrade: false,
            parts: [FirmwarePart(initPacket: packet.serialized, firmware: firmware)]
        )
    }

    @Test(arguments: Array(1...10) as [UInt64])
    func `twenty vehicles are unlocked, updated and locked over bad links, nothing twice`(
        seed: UInt64
    ) throws {
        let yard = Yard(seed: seed, count: 20, lossChance: 1_000, modules: true)
        let night = try yard.nights([unlock, .update(update)], always: [lock])[0]
        #expect(night.records.count == 20 && night.records.allSatisfy { $0.end != nil })
        for (index, version) in night.versions.enumerated() {
            let record = try #require(
                night.records.first { $0.vehicle.text == "v\(index + 1)" }
            )
            let isDone = record.end?.outcome == .succeeded
            let isNew = version == FirmwareVersion(4, 12)
            #expect(!isDone || isNew, "\(record.vehicle) is reported as done and runs \(version)")
        }
        let commands = CarShareCommands.self
        for list in night.executed {
            #expect(list.count { $0 == commands.init(.unlockAll) } <= 1)
            // What locks is sent until it is answered.
            #expect(list.isEmpty || list.last == commands.init(.lock))
        }
        let orders = night.intents.filter { $0.intent.description.hasPrefix("command") }
        #expect(orders.count >= 20 && orders.allSatisfy { $0.settlement != nil })
        let unlocks = orders.filter { $0.intent.effect == .once }
        let done = unlocks.count { $0.settlement?.outcome == "done" }
        let doubtful = unlocks.count { $0.settlement?.outcome == "in-doubt" }
        let executed = night.executed.joined().count { $0 == commands.init(.unlockAll) }
        #expect((done...(done + doubtful)).contains(executed), "\(done) \(doubtful) \(executed)")
        // Anyone who was not unlocked for certain is not updated either, and locked all the same.
        #expect(night.counts[.succeeded] ?? 0 > 8, "\(night.counts)")
    }

    @Test(arguments: [60, 600], [true, false])
    func `an adapter that is off for a while costs commands time, and defers what owes nothing`(
        seconds: Int,
        isOwed: Bool
    ) throws {
        let yard = Yard(seed: 1, count: 2)
        let (time, air) = (yard.simulation.time, yard.simulation.air)
        let night = try yard.nights([lock], always: isOwed ? [lock] : []) { _, _ in
            await air.setPower("hci0", on: false)
            time.schedule(at: time.now.advanced(by: .seconds(seconds))) {
                air.assumeIsolated { $0.setPower("hci0", on: true) }
            }
        }[0]
        let isBack = seconds < 120
        let (done, ends) = (isOwed ? 2 : 1, night.records.map { $0.end?.message ?? "" })
        // What always follows is owed from the first intent on, and who owes a step has failed.
        let late: Outcome = isOwed ? .failed : .deferred
        #expect(night.counts == (isBack ? [.succeeded: 2] : [late: 2]))
        #expect(night.executed.map(\.count) == (isBack ? [done, done] : [0, 0]))
        #expect(ends.allSatisfy { $0.contains("switched off") != isBack })
        #expect(ends.allSatisfy { $0.contains("still owes `") == (isOwed && !isBack) }, "\(ends)")
    }

    @Test func `what runs always runs after a failure, and the failure stays`() throws {
        let yard = Yard(seed: 3, count: 1, modules: true)
        let never = try #require(
            ProfileLibrary.shipped.profile(Profile.generic, of: .comodule)
        ).test("state_of_charge", .atLeast, "99")
        let night = try yard.nights(
            [.require([.property(never)], otherwise: .fail)],
            always: [lock]
        )[0]
        #expect(night.counts == [.failed: 1])
        #expect(night.executed == [[CarShareCommands(.lock)]])
    }

    @Test func `a command that was cut by our death is in doubt until a person has looked`() throws
    {
        let yard = Yard(seed: 4, count: 1)
        let vehicle = try #require(VehicleID("v1"))
        let serial = try yard.plan(1).serial
        let nights = try yard.nights([lock], times: 3) { night, journal in
            switch night {
            case 1:
                // What a killed run leaves behind: the intent, and nothing after it.
                let now = yard.simulation.time.wallTime
                let run = try await journal.beginRun(
                    rollout: "batch",
                    plan: SHA256.digest(of: []),
                    at: now
                )
                let fresh = ExecutionRecord(
                    rollout: "batch",
                    vehicle: vehicle,
                    serial: serial,
                    run: run,
                    started: now
                )
                let executions = try await journal.begin(Beginning(nil, fresh: [fresh]))
                _ = try await journal.intend(
                    Intent(
                        of: try #require(executions.first),
                        step: StepKey(SHA256.digest(of: [])),
                        place: 0,
                        effect: .once,
                        description: "command lock",
                        begun: now
                    )
                )
            default: break
            }
        }
        #expect(nights.map(\.counts) == [[.inDoubt: 1], [.inDoubt: 1], [.inDoubt: 1]])
        #expect(nights[2].executed == [[]], "nothing is sent by itself")
        let message = try #require(nights[2].records.first?.end?.message)
        #expect(message.contains("whether the doors are locked"))
    }
}
