import Base
import Families
import Rollout
import Simulation
import Store
import Testing

/// Runs whose adapters find out how many links pay.
@Suite struct LinkTrialTests {
    private let image = DepotBench.image(bytes: 120_000)

    private struct Found {
        let took: Duration
        let counts: [Outcome: Int]
        let attempts: Int
    }

    /// The last of some nights with as many links as pay, `most` at most.
    private func run(
        _ count: Int,
        most: Int,
        adapters: Int = 1,
        linkLimit: Int = 7,
        steadyLinks: Int? = nil,
        learned: Int? = nil,
        seed: UInt64 = 5
    ) throws -> Found {
        let bench = DepotBench(
            seed: seed,
            (1...count).map { number in
                DepotBench.module(number) { plan in
                    plan.restartTime = .milliseconds(1_000 + number * 137 % 9_000)
                    plan.link.interval = .milliseconds(15 * (1 + number * 5 % 4))
                }
            }
        )
        let night = try bench.nights(
            [.update(image)],
            [DepotBench.schedule([Array(0..<count)]) { $0.linksPerAdapter = most }],
            adapters: adapters,
            linkLimit: linkLimit,
            steadyLinks: steadyLinks
        ) { _, journal in
            guard let learned else { return }
            for number in 0..<adapters {
                try await journal.learn(learned, on: "hci\(number)", for: [.comodule])
            }
        }[0]
        let ends = night.records.compactMap(\.end?.time)
        return Found(
            took: Simulation.firstEvening.duration(to: ends.max() ?? Simulation.firstEvening),
            counts: night.result.counts,
            attempts: night.records.reduce(0) { $0 + $1.attempt }
        )
    }

    @Test func `a fleet is done much sooner with as many links as pay`() throws {
        let one = try run(40, most: 1)
        let more = try run(40, most: 7)
        #expect(one.counts == [.succeeded: 40])
        #expect(more.counts == [.succeeded: 40])
        #expect(more.took * 5 < one.took * 2, "\(more.took.brief) and \(one.took.brief)")
    }

    @Test func `an adapter that drops its third link does what two links do`() throws {
        let two = try run(30, most: 2, learned: 2)
        let more = try run(30, most: 7, steadyLinks: 2)
        #expect(more.counts == [.succeeded: 30])
        #expect(more.attempts == 30, "what an adapter drops is no attempt of the vehicle")
        #expect(more.took < two.took * 1.2, "\(more.took.brief) and \(two.took.brief)")
    }

    @Test func `an adapter that refuses its fourth link costs no attempt`() throws {
        let three = try run(30, most: 3, learned: 3)
        let more = try run(30, most: 7, linkLimit: 3)
        #expect(more.counts == [.succeeded: 30])
        #expect(more.attempts == 30)
        #expect(more.took < three.took * 1.25, "\(more.took.brief) and \(three.took.brief)")
    }

    @Test(arguments: 5...8 as ClosedRange<UInt64>)
    func `what was learned too high is unlearned, and no vehicle fails for it`(
        seed: UInt64
    ) throws {
        let more = try run(20, most: 7, steadyLinks: 2, learned: 7, seed: seed)
        #expect(more.counts == [.succeeded: 20])
    }
}
