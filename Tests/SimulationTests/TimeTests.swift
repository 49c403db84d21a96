import Base
import Synchronization
import Testing

@testable import Simulation

/// Virtual time, the order of jobs, and the report of a run that is stuck.
@Suite struct TimeTests {
    @Test func `a year of sleep takes no time and ends on the moment`() throws {
        let simulation = Simulation(seed: 1)
        let time = simulation.time
        let woke = try simulation.run { () async -> Moment in
            await time.sleep(for: .seconds(365 * 86_400), "the year to pass")
            return time.now
        }
        #expect(woke == Moment(nanoseconds: 0).advanced(by: .seconds(365 * 86_400)))
    }

    private func order(_ seed: UInt64) throws -> [Int] {
        let simulation = Simulation(seed: seed)
        let order = Order()
        try simulation.run { [time = simulation.time] () async in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for round in 1...3 {
                            order.numbers.withLock { $0.append(number) }
                            await time.sleep(for: .milliseconds(round), "a round")
                        }
                    }
                }
            }
        }
        return order.numbers.withLock { $0 }
    }

    private final class Order: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    @Test func `one seed gives one order, many seeds give many`() throws {
        let first = try order(7)
        for _ in 0..<50 { #expect(try order(7) == first) }
        let orders = try (1...40).map { try order(UInt64($0)) }
        #expect(Set(orders).count > 30)
    }

    /// A third of the entries is cancelled, or four fifths: then the heap drops their keys.
    @Test(arguments: [3, -5])
    func `what was taken back does not happen, whatever else is set for its moment`(share: Int) {
        var random = SplitMix64(seed: 4)
        var agenda = Agenda<Int>()
        var tickets: [(ticket: SlotTicket, number: Int, moment: Moment)] = []
        for number in 0..<300 {
            let moment = Moment(nanoseconds: Int64(random.below(40)))
            tickets.append((agenda.add(number, at: moment), number, moment))
        }
        let kept = tickets.filter { _ in (random.below(abs(share)) > 0) == (share > 0) }
        let names = Set(kept.map(\.number))
        for entry in tickets where !names.contains(entry.number) { agenda.cancel(entry.ticket) }
        let order = kept.sorted { ($0.moment, $0.number) < ($1.moment, $1.number) }
        var taken: [Int] = []
        while let next = agenda.nextMoment, let first = agenda.takeFirst() {
            #expect(next == first.moment)
            taken.append(first.entry)
        }
        #expect(taken == order.map(\.number))
        // A ticket whose place was given to another entry does not cancel that entry.
        let other = agenda.add(1_000, at: Moment(nanoseconds: 50))
        for entry in tickets { agenda.cancel(entry.ticket) }
        #expect(agenda.takeFirst()?.entry == 1_000)
        agenda.cancel(other)
        #expect(agenda.nextMoment == nil)
    }

    /// Sorting keeps the order of jobs for the same moment, even when many are added and removed.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `what is set for one moment happens in the order in which it was set`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let time = VirtualTime(beginning: WallTime(milliseconds: 0))
        let done = Order()
        var expected: [(moment: Moment, number: Int)] = []
        for number in 0..<500 {
            let moment = time.now.advanced(by: .seconds(random.below(20)))
            expected.append((moment, number))
            time.schedule(at: moment) { done.numbers.withLock { $0.append(number) } }
            if random.below(3) == 0 { _ = time.advance() }
        }
        for _ in 0..<500 where time.nextDeadline != nil { _ = time.advance() }
        #expect(time.nextDeadline == nil)
        let order = done.numbers.withLock { $0 }
        #expect(order.count == 500)
        let moments = order.map { number in expected[number].moment }
        #expect(moments == moments.sorted())
        for (earlier, later) in zip(order, order.dropFirst())
        where expected[earlier].moment == expected[later].moment {
            #expect(earlier < later)
        }
    }

    @Test func `a cancelled sleep ends at once`() throws {
        let simulation = Simulation(seed: 3)
        let time = simulation.time
        let woke = try simulation.run { () async -> Moment in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await time.sleep(for: .seconds(1_000), "forever") }
                await time.sleep(for: .seconds(1), "a moment")
                group.cancelAll()
                await group.waitForAll()
            }
            return time.now
        }
        #expect(woke == Moment(nanoseconds: 1_000_000_000))
    }

    @Test func `a run that is stuck says who waits for what, and its seed`() throws {
        let simulation = Simulation(seed: 42)
        let stuck = #expect(throws: Simulation.Deadlock.self) {
            try simulation.run { () async in
                await simulation.waiting(for: "a key from", "the porter") {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
        }
        #expect(stuck?.seed == 42)
        #expect(stuck?.waits == ["a key from the porter"])
        #expect(stuck?.description.contains("seed 42") == true)
    }

    @Test func `a run that goes on past its bounds is ended`() throws {
        let simulation = Simulation(seed: 42)
        let time = simulation.time
        var bounds = Simulation.Bounds()
        bounds.passed = { now in
            now > Moment(nanoseconds: 3_600_000_000_000) ? "an hour has passed" : nil
        }
        let endless = #expect(throws: Simulation.Deadlock.self) {
            try simulation.run(within: bounds) { () async in
                while !Task.isCancelled { await time.sleep(for: .seconds(1), "the next look") }
            }
        }
        #expect(endless?.description.contains("does not end, an hour has passed") == true)
        #expect(time.now == Moment(nanoseconds: 3_601_000_000_000))
    }

    @Test func `a run in which no time passes is ended, too`() throws {
        let simulation = Simulation(seed: 42)
        var bounds = Simulation.Bounds()
        bounds.jobs = 1_000
        let endless = #expect(throws: Simulation.Deadlock.self) {
            try simulation.run(within: bounds) { () async in
                repeat {
                    await Task.yield()
                } while !Task.isCancelled
            }
        }
        #expect(endless?.passed == "1000 jobs without time passing")
    }

    @Test(arguments: [
        (PHY.oneMegabit, 27, 676), (.twoMegabit, 27, 496), (.oneMegabit, 251, 2_468),
        (.twoMegabit, 251, 1_392),
    ])
    func `a packet pair takes the published time`(phy: PHY, payload: Int, microseconds: Int) {
        var link = LinkParameters()
        link.phy = phy
        #expect(link.pairTime(payload: payload) == .microseconds(microseconds))
    }
}
