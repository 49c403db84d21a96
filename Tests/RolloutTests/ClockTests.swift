import Base
import Families
import Foundation
import Manifest
import Rollout
import Show
import Simulation
import Store
import Testing

/// Whole nights in which the wall clock changes: summer time, and wrong jumps.
@Suite struct ClockTests {
    private let image = DepotBench.image(bytes: 20_000)

    private func at(_ text: String) throws -> WallTime {
        let seconds = try Date(text + "Z", strategy: .iso8601).timeIntervalSince1970
        return WallTime(milliseconds: Int64(seconds) * 1_000)
    }

    private func modules(_ count: Int) -> [ModulePlan] {
        (1...count).map { number in
            DepotBench.module(number) { $0.link.interval = .milliseconds(60) }
        }
    }

    /// The nights of both clock changes in Tallinn, each with the night before and the night after
    /// it.
    @Test(
        arguments: [
            // The window opens at 02:30: before the hour that is skipped on the 29th.
            (
                "2026-03-27T12:00:00",
                ["2026-03-28T00:30:00", "2026-03-29T00:30:00", "2026-03-29T23:30:00"]
            ),
            // The window opens before the hour that is repeated on the 25th.
            (
                "2026-10-23T12:00:00",
                ["2026-10-23T23:30:00", "2026-10-24T23:30:00", "2026-10-26T00:30:00"]
            ),
        ]
    ) func `over a change of the clocks each night works in its window and not beyond`(
        beginning: String,
        openings: [String]
    ) throws {
        let bench = DepotBench(seed: 4, modules(9), beginning: try at(beginning))
        let zone = try Zone(
            Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Tallinn")))
        )
        let length = Duration.seconds(90)
        let window = Window(
            [Opening(from: try #require(TimeOfDay("02:30")), .after(length))],
            zone: "Europe/Tallinn",
            close: .finish
        )
        let schedule = DepotBench.schedule([Array(0..<9)]) {
            $0.limits.window = RunWindow(window, zone: zone)
        }
        let nights = try bench.nights([.update(image)], [schedule, schedule, schedule])
        for (night, opens) in zip(nights.dropLast(), openings.dropFirst()) {
            guard case .workLeft(let why) = night.result.ending else {
                Issue.record("\(night.result)")
                continue
            }
            #expect(try why == "the window has closed; it opens again at \(at(opens))")
        }
        let starts = bench.events.compactMap { event -> WallTime? in
            guard case .attemptStarted = event.body else { return nil }
            return event.time
        }
        let open = try openings.map { try at($0) }
        for start in starts {
            #expect(
                open.contains { $0 <= start && start < $0.advanced(by: length) },
                "\(start) is in no window"
            )
        }
        // Each night had its window, as long as any other.
        let shares = open.map { opening in
            starts.count { $0 >= opening && $0 < opening.advanced(by: length) }
        }
        #expect(shares.allSatisfy { $0 > 0 }, "\(shares)")
        #expect(nights[0].result.counts[.succeeded] == shares[0])
    }

    /// A wall clock that jumps forward or back; the monotonic clock continues unchanged.
    private struct JumpingTime: Timekeeper {
        let base: VirtualTime
        let jump: Duration
        let from: Moment

        var now: Moment { base.now }
        var wallTime: WallTime {
            base.now >= from ? base.wallTime.advanced(by: jump) : base.wallTime
        }

        func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
            await base.sleep(until: deadline, for: purpose())
        }
    }

    @Test(arguments: [3_600, -3_600], [1, 9, 16, 25, 40])
    func `a clock that jumps by an hour at any time changes no outcome and no duration`(
        jump: Int,
        second: Int
    ) throws {
        func night(_ jump: Duration) throws -> (DepotBench.Night, Moment) {
            let bench = DepotBench(seed: 4, modules(3))
            let clock = JumpingTime(
                base: bench.simulation.time,
                jump: jump,
                from: bench.simulation.time.now.advanced(by: .seconds(second))
            )
            let night = try bench.nights(
                [.update(image)],
                [DepotBench.schedule([Array(0..<3)])],
                clock: clock
            )[0]
            return (night, bench.simulation.time.now)
        }
        let (straight, took) = try night(.zero)
        let (jumped, same) = try night(.seconds(jump))
        #expect(jumped.result == straight.result)
        #expect(jumped.result.counts == [.succeeded: 3])
        #expect(same == took)
    }

    /// Between two processes, the settle deadline is kept as wall time.
    ///
    /// A clock that was set in between must not turn a module that is well into a failure.
    @Test(arguments: [3_600, -3_600])
    func `a settling that goes on after a jump of the clock is judged by the module`(
        jump: Int
    ) throws {
        let bench = DepotBench(seed: 4, modules(1))
        let time = bench.simulation.time
        let clock = JumpingTime(
            base: time,
            jump: .seconds(jump),
            from: time.now.advanced(by: .seconds(300))
        )
        let stop = bench.stop
        let schedule = DepotBench.schedule([[0]])
        let nights = try bench.nights([.update(image)], [schedule, schedule], clock: clock) {
            night,
            _ in
            guard night == 0 else {
                stop.reset()
                await time.sleep(until: clock.from.advanced(by: .seconds(5)), for: "the jump")
                return
            }
            // In the middle of the settling.
            time.schedule(at: time.now.advanced(by: .seconds(30))) { stop.request() }
        }
        #expect(nights[0].records.first?.state == .interrupted)
        #expect(nights[0].records.first?.settleDeadline != nil, "it was settling")
        #expect(nights[1].result.counts == [.succeeded: 1], "\(nights[1].records)")
    }
}
