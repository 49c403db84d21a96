import Base
import Families
import Manifest
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization
import Testing

/// Commands as steps of a rollout: the records of the journal, and what the vehicles did.
@Suite struct CommandStepTests {
    private let lock = JobStep.command(CarShareCommands(.lock))
    private let unlock = JobStep.command(CarShareCommands(.unlockAll))

    /// The runs wait for approval between the waves, so earlier vehicles are looked at again in
    /// each of them.
    @Test func `a rollout that goes on commands nobody a second time`() throws {
        let yard = CommandYard(seed: 1, count: 3)
        var schedule = Schedule(vehicles: 3)
        schedule.plan = SHA256.digest(of: [1])
        schedule.waves = [[0], [1], [2]]
        schedule.rules.between.asks = true
        let nights = try yard.nights(
            [unlock, lock],
            always: [lock],
            times: 4,
            schedules: [schedule, schedule, schedule, schedule]
        ) { _, journal in
            _ = try await journal.resume("batch")
        }
        let each: [CarShareCommands] = [.init(.unlockAll), .init(.lock), .init(.lock)]
        #expect(nights[0].executed == [each, [], []])
        #expect(nights[1].executed == [each, each, []])
        #expect(nights[2].executed == [each, each, each])
        #expect(nights[2].counts == [.succeeded: 3])
        // The rollout is finished, and stays finished until a person begins it again.
        #expect(nights[3].executed == [each, each, each])
        #expect(nights[3].counts == [.succeeded: 3])
    }

    @Test func `a command is carried out, told and kept in the journal`() throws {
        let yard = CommandYard(seed: 1, count: 2)
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
            let yard = CommandYard(seed: 1, count: 1)
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
        let yard = CommandYard(seed: seed, count: 50, lossChance: 1_000)
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
        let yard = CommandYard(seed: seed, count: 20, lossChance: 1_000, modules: true)
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
            // A command that locks is sent until it is answered.
            #expect(list.isEmpty || list.last == CarShareCommands(.lock))
        }
        let unlocks = night.intents.filter { $0.intent.effect == .once }
        let done = unlocks.count { $0.settlement?.outcome == "done" }
        let doubtful = unlocks.count { $0.settlement?.outcome == "in-doubt" }
        let executed = night.executed.joined().count { $0 == CarShareCommands(.unlockAll) }
        #expect((done...(done + doubtful)).contains(executed))
        #expect(night.counts[.succeeded] ?? 0 > 5)
    }

    /// An image of 8 KiB, for a module that checks no signature.
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
        let yard = CommandYard(seed: seed, count: 20, lossChance: 1_000, modules: true)
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
            // A command that locks is sent until it is answered.
            #expect(list.isEmpty || list.last == commands.init(.lock))
        }
        let orders = night.intents.filter { $0.intent.description.hasPrefix("command") }
        #expect(orders.count >= 20 && orders.allSatisfy { $0.settlement != nil })
        let unlocks = orders.filter { $0.intent.effect == .once }
        let done = unlocks.count { $0.settlement?.outcome == "done" }
        let doubtful = unlocks.count { $0.settlement?.outcome == "in-doubt" }
        let executed = night.executed.joined().count { $0 == commands.init(.unlockAll) }
        #expect((done...(done + doubtful)).contains(executed), "\(done) \(doubtful) \(executed)")
        // A vehicle that was not certainly unlocked is not updated, but it is locked.
        #expect(night.counts[.succeeded] ?? 0 > 8, "\(night.counts)")
    }

    @Test(arguments: [60, 600], [true, false])
    func `an adapter that is off for a while costs commands time, and defers what was not sent`(
        seconds: Int,
        isOwed: Bool
    ) throws {
        let yard = CommandYard(seed: 1, count: 2)
        let (time, air) = (yard.simulation.time, yard.simulation.air)
        let night = try yard.nights([lock], always: isOwed ? [lock] : []) { _, _ in
            await air.setPower("hci0", on: false)
            time.schedule(at: time.now.advanced(by: .seconds(seconds))) {
                air.atOnce { $0.setPower("hci0", on: true) }
            }
        }[0]
        let isBack = seconds < 120
        let (done, ends) = (isOwed ? 2 : 1, night.records.map { $0.end?.message ?? "" })
        // Nothing was sent, so nothing is owed, and no vehicle has failed.
        #expect(night.counts == (isBack ? [.succeeded: 2] : [.deferred: 2]))
        #expect(night.executed.map(\.count) == (isBack ? [done, done] : [0, 0]))
        #expect(ends.allSatisfy { $0.contains("switched off") != isBack })
        #expect(ends.allSatisfy { !$0.contains("still owes `") }, "\(ends)")
    }

    @Test func `what runs always runs after a failure, and the failure stays`() throws {
        let yard = CommandYard(seed: 3, count: 1, modules: true)
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
        let yard = CommandYard(seed: 4, count: 1)
        let vehicle = try #require(VehicleID("v1"))
        let serial = try yard.plan(1).serial
        let nights = try yard.nights([lock], times: 3) { night, journal in
            switch night {
            case 1:
                // A killed run leaves this behind: the intent, and nothing after it.
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
