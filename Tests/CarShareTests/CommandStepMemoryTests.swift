import Base
import Families
import Rollout
import Simulation
import Store
import Synchronization
import Testing

/// Commands over several runs of a rollout, judged by what the vehicles have carried out.
@Suite struct CommandStepMemoryTests {
    private static let unlocked = CarShareCommands(.unlockAll)
    private static let located = CarShareCommands(.locate)
    private let unlock = JobStep.command(Self.unlocked)

    /// A schedule of the whole rollout, or of its first vehicles only.
    private static func schedule(
        of vehicles: Int,
        plan: UInt8 = 1,
        isPartial: Bool = false,
        again: Bool = false
    ) -> Schedule {
        var schedule = Schedule(vehicles: vehicles)
        schedule.plan = SHA256.digest(of: [plan])
        schedule.isPartial = isPartial
        schedule.again = again
        return schedule
    }

    /// E4: a part that begins again does not continue what an earlier part has begun.
    @Test func `a part that begins again does its steps again, and the others nothing`() throws {
        let yard = CommandYard(seed: 1, count: 2)
        let nights = try yard.nights(
            [unlock],
            times: 3,
            schedules: [
                Self.schedule(of: 2), Self.schedule(of: 1, isPartial: true, again: true),
                Self.schedule(of: 1, isPartial: true),
            ]
        )
        let once = [Self.unlocked]
        #expect(
            nights.map(\.executed) == [[once, once], [once + once, once], [once + once, once]]
        )
        #expect(nights.allSatisfy { $0.counts[.succeeded] == $0.counts.values.reduce(0, +) })
    }

    /// E2: the last beginning of the whole rollout stays in force, with its own plan.
    @Test func `a part by another plan takes nothing away from the rollout that was begun`() throws
    {
        let yard = CommandYard(seed: 1, count: 2)
        let begun = Mutex<[RolloutRecord?]>([])
        let nights = try yard.nights(
            [unlock],
            times: 3,
            schedules: [
                Self.schedule(of: 2), Self.schedule(of: 1, plan: 2, isPartial: true),
                Self.schedule(of: 2),
            ]
        ) { _, journal in
            let record = try await journal.rollout("batch")
            begun.withLock { $0.append(record) }
        }
        let once = [Self.unlocked]
        #expect(nights[1].executed == [once + once, once], "the other plan has its own steps")
        #expect(nights[2].executed == nights[1].executed, "the first plan was done, and stays so")
        let records = begun.withLock { $0 }
        #expect(records[1]?.plan == SHA256.digest(of: [1]) && records[1]?.state == .finished)
        #expect(records[2]?.plan == records[1]?.plan && records[2]?.began == records[1]?.began)
    }

    /// E2: a later beginning of the same plan continues what a part has begun.
    @Test func `what a part has carried out a later beginning does not repeat`() throws {
        let yard = CommandYard(seed: 1, count: 2)
        let nights = try yard.nights(
            [unlock],
            times: 2,
            schedules: [Self.schedule(of: 1, isPartial: true), Self.schedule(of: 2)]
        )
        let once = [Self.unlocked]
        #expect(nights.map(\.executed) == [[once, []], [once, once]])
    }

    /// E2: the part is taken over by its plan, although another one was begun in between.
    @Test func `what a part has carried out is not repeated, whatever lay between`() throws {
        let yard = CommandYard(seed: 1, count: 2)
        let part = Self.schedule(of: 1, plan: 2, isPartial: true)
        let whole = Self.schedule(of: 2, plan: 2)
        let again = Self.schedule(of: 2, plan: 2, again: true)
        let nights = try yard.nights(
            [unlock],
            times: 7,
            schedules: [
                part, Self.schedule(of: 2), part, whole, Self.schedule(of: 2), whole, again,
            ]
        )
        let counts = nights.map { $0.executed.map(\.count) }
        #expect(counts == [[1, 0], [2, 1], [2, 1], [2, 2], [3, 3], [4, 4], [5, 5]])
        #expect(nights.allSatisfy { $0.counts[.succeeded] == $0.counts.values.reduce(0, +) })
    }

    /// N2: equal steps are distinguished by their order.
    @Test func `of two equal steps each is carried out`() throws {
        let yard = CommandYard(seed: 1, count: 1)
        let night = try yard.nights([unlock, unlock])[0]
        #expect(night.counts == [.succeeded: 1], "\(night.records)")
        #expect(night.executed == [[Self.unlocked, Self.unlocked]])
        #expect(Set(night.intents.map(\.intent.step)).count == 2)
    }

    /// N2: the owed step is not in the list of steps of the execution.
    @Test func `a step that is owed is not taken for the one at the first place`() throws {
        let yard = CommandYard(seed: 1, count: 1)
        let time = yard.simulation.time
        let nights = try yard.nights(
            [unlock, .wait(.seconds(120))],
            always: [.command(Self.located)],
            times: 2,
            schedules: [Self.schedule(of: 1), Self.schedule(of: 1, again: true)]
        ) { night, _ in
            guard night == 1 else { return yard.stop.reset() }
            time.schedule(at: time.now.advanced(by: .seconds(60))) { yard.stop.request() }
        }
        #expect(nights[0].executed == [[Self.unlocked]], "it was cut in its wait")
        let both = [Self.unlocked, Self.located]
        #expect(nights[1].executed == [both + both], "what was owed, and then all of it again")
        #expect(nights[1].counts == [.succeeded: 1])
    }

    /// C1, C2: the disk refuses one write of the run; each write is tried in turn.
    @Test func `a command whose outcome could not be written is in doubt and not sent again`()
        throws
    {
        let whole = Self.schedule(of: 1)
        var met = 0
        for write in 0... {
            let yard = CommandYard(seed: 1, count: 1)
            let left = Mutex<[IntentRecord]>([])
            let nights = try yard.nights([unlock], times: 2, schedules: [whole, whole]) {
                night,
                journal in
                try await journal.refuse(after: night == 1 ? write : nil)
                let intents = try await journal.intents(rollout: "batch", vehicle: nil)
                left.withLock { $0 = intents }
            }
            guard nights.count == 1, let next = nights.first else { break }
            #expect(next.executed[0].count <= 1, "write \(write)")
            // When the intent or an earlier write was refused, the command was not sent, and the
            // next run sends it.
            guard let intent = left.withLock({ $0.first }), intent.settlement == nil else {
                continue
            }
            #expect(next.counts == [.inDoubt: 1], "write \(write)")
            #expect(next.intents.count == 1, "write \(write)")
            if next.executed == [[Self.unlocked]] { met += 1 }
        }
        #expect(met == 1, "one of the writes was that of the outcome, with the command carried out")
    }

    /// C2, C5: the owed steps of a vehicle in doubt are done, except the step that may already have
    /// been done.
    ///
    /// The disk refuses one write of the run; each write is tried in turn.
    @Test func `a step of always that may have been done is not done again`() throws {
        let lock = JobStep.command(CarShareCommands(.lock))
        let whole = Self.schedule(of: 1)
        var met = 0
        for write in 0... {
            let yard = CommandYard(seed: 1, count: 1)
            let left = Mutex<[IntentRecord]>([])
            let nights = try yard.nights(
                [lock],
                always: [.command(Self.located)],
                times: 2,
                schedules: [whole, whole]
            ) { night, journal in
                try await journal.refuse(after: night == 1 ? write : nil)
                let intents = try await journal.intents(rollout: "batch", vehicle: nil)
                left.withLock { $0 = intents }
            }
            guard nights.count == 1, let next = nights.first else { break }
            let located = next.executed[0].count { $0 == Self.located }
            #expect(located <= 1, "write \(write)")
            let isOpen = left.withLock { intents in
                intents.contains { $0.intent.effect == .once && $0.settlement == nil }
            }
            guard isOpen else { continue }
            #expect(next.counts == [.inDoubt: 1], "write \(write)")
            if located == 1 { met += 1 }
        }
        #expect(met == 1, "one of the writes was that of the outcome, with the command carried out")
    }

    /// A1: a step that was done since then may have undone the effect of `always`.
    @Test func `what runs always runs again after a step that was done again`() throws {
        let lock = CarShareCommands(.lock)
        let yard = CommandYard(seed: 1, count: 1, faults: [.init(.nack(2))], isBonded: true)
        let nights = try yard.nights(
            [unlock],
            always: [.command(lock)],
            times: 2,
            schedules: [Self.schedule(of: 1), Self.schedule(of: 1)]
        )
        #expect(nights.map(\.counts) == [[.rejected: 1], [.succeeded: 1]])
        #expect(nights.map(\.executed) == [[[lock]], [[lock, Self.unlocked, lock]]])
    }

    /// A4: the vehicle is still unlocked, whatever the reason why no run worked on it.
    @Test func `a vehicle that owes a step and is left alone has failed`() throws {
        let yard = CommandYard(seed: 1, count: 1)
        let time = yard.simulation.time
        let nights = try yard.nights(
            [unlock, .wait(.seconds(120))],
            always: [.command(CarShareCommands(.lock))],
            times: 2,
            schedules: [Self.schedule(of: 1), Self.schedule(of: 1)]
        ) { night, journal in
            guard night == 1 else {
                yard.stop.reset()
                let vehicle = VehicleID("v1")
                return try await journal.inhibit(
                    Inhibit(vehicle, reason: "workshop", expires: nil, at: time.wallTime)
                )
            }
            time.schedule(at: time.now.advanced(by: .seconds(60))) { yard.stop.request() }
        }
        #expect(nights[0].executed == [[Self.unlocked]], "it was cut in its wait")
        #expect(nights[1].executed == nights[0].executed)
        #expect(nights[1].counts == [.failed: 1])
        let end = try #require(nights[1].records.first?.end)
        #expect(end.failure == .unreachable, "\(end)")
        #expect(end.message.contains("it still owes `command lock`"), "\(end)")
    }

    /// Of several commands some may have been carried out, so nobody sends them again without a look.
    @Test func `several commands that are reported as failed are in doubt, and one has failed`()
        throws
    {
        let several = try #require(CarShareCommands([.checkIn, .unlockDriver]))
        for (step, isOne) in [(JobStep.command(several), false), (unlock, true)] {
            let yard = CommandYard(
                seed: 1,
                count: 1,
                faults: [GOPlan.Fault(.failsSilently)],
                isBonded: true
            )
            let nights = try yard.nights([step], times: 2)
            let counts: [Outcome: Int] = isOne ? [.failed: 1] : [.inDoubt: 1]
            #expect(nights[0].counts == counts, "\(nights[0].records)")
            let outcome = isOne ? IntentRecord.failed : IntentRecord.doubtful
            #expect(nights[0].intents.map { $0.settlement?.outcome } == [outcome])
            // The vehicle would have done them the second time.
            if !isOne { #expect(nights[1].executed == [[]]) }
        }
    }

    /// The fault is used up by the first command: the vehicle would accept a second one.
    @Test func `a command that a vehicle refuses is sent once and tried no more`() throws {
        let unknownKey: UInt8 = 2
        let faults = [GOPlan.Fault(.nack(unknownKey))]
        let yard = CommandYard(seed: 1, count: 1, faults: faults, isBonded: true)
        let night = try yard.nights([unlock])[0]
        #expect(night.counts == [.rejected: 1], "\(night.records)")
        #expect(night.intents.map { $0.settlement?.outcome } == [IntentRecord.failed])
        #expect(night.records.first?.attempt == 1)
        #expect(night.executed == [[]])
    }
}
