import Base
import Families
import Manifest
import Rollout
import Simulation
import Store
import Testing

/// Whole nights by calendars: no vehicle is begun on a closed day, or outside the times of its
/// label.
@Suite struct CalendarNightTests {
    private struct Start {
        let vehicle: Int
        let time: WallTime
    }

    private func starts(_ bench: DepotBench) -> [Start] {
        bench.events.compactMap { event -> Start? in
            guard case .attemptStarted(let id, _, _, _) = event.body,
                let number = Int(id.text.dropFirst())
            else { return nil }
            return Start(vehicle: number - 1, time: event.time)
        }
    }

    private func clock(_ minutes: Int) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return two(minutes / 60 % 24) + ":" + two(minutes % 60)
    }

    // MARK: Calendars of chance

    /// Rules for days, each with the days of January 2026 that it closes among those of the runs.
    private static let freezes: [(rule: String, days: Set<Int64>)] = [
        ("tue", [6, 13, 20]), ("01-06..01-07", [6, 7]), ("first tue,2026-01-08", [6, 8]),
        ("12-20..01-05,last sat", [1, 2, 3, 4, 5, 31]),
    ]

    @Test(arguments: 1...4)
    func `no vehicle is begun on a closed day or outside the times of its label`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let freeze = Self.freezes[seed - 1]
        // The simulation begins on Monday 5 January at 22:00 UTC; some openings pass midnight.
        let labels = (0..<3).map { _ in
            (0..<2).map { _ in
                (from: (1_320 + random.below(48) * 5) % 1_440, minutes: 1 + random.below(20))
            }
        }
        let openings = try labels.map { list in
            try list.map { try Opening("\(clock($0.from))-\(clock($0.from + $0.minutes))") }
        }
        let closes: [Window.Close] = [.finish, .safePoint, .stop]
        let window = Window(
            openings[0],
            not: try DayRule.list(freeze.rule),
            zone: "UTC",
            close: closes[seed % 3]
        )
        let schedule = DepotBench.schedule([Array(0..<6)]) {
            $0.limits.window = RunWindow(
                window,
                zone: .utc,
                openings: (0..<6).map { openings[$0 % 3] }
            )
        }
        let modules = (1...6).map { number in
            DepotBench.module(number) { $0.link.interval = .milliseconds(60) }
        }
        let bench = DepotBench(seed: UInt64(seed), modules)
        let update = [JobStep.update(DepotBench.image(bytes: 20_000))]
        _ = try bench.nights(update, [schedule, schedule, schedule], adapters: 2)
        let starts = starts(bench)
        #expect(!starts.isEmpty)
        for start in starts {
            let isOpen = labels[start.vehicle % 3].contains { opening in
                let since = start.time.milliseconds / 60_000 - Int64(opening.from)
                // The day on which it began last; 1 January 2026 is the 20,454th day.
                let day = since / 1_440
                return since - day * 1_440 < opening.minutes && !freeze.days.contains(day - 20_453)
            }
            #expect(isOpen, "v\(start.vehicle + 1) at \(start.time): \(labels), \(freeze.rule)")
        }
    }

    // MARK: Times that open again

    @Test func `a vehicle that stopped when its times closed goes on when they open again`()
        throws
    {
        // The simulation begins at 22:00 UTC; the image takes most of a minute.
        let modules = (1...2).map { number in
            DepotBench.module(number) { $0.link.interval = .milliseconds(200) }
        }
        let bench = DepotBench(seed: 3, modules)
        let begin = bench.simulation.time.wallTime
        let first = try #require(TimeOfDay("22:00"))
        let later = try #require(TimeOfDay("22:30"))
        let short = Opening(from: first, .after(.seconds(30)))
        let openings = [
            [short, Opening(from: later, .after(.seconds(1_200)))], [try Opening("22:00-24:00")],
        ]
        let window = Window(openings[0], zone: "UTC", close: .safePoint)
        let schedule = DepotBench.schedule([[0, 1]]) {
            $0.limits.window = RunWindow(window, zone: .utc, openings: openings)
        }
        let image = DepotBench.image(bytes: 300_000)
        let night = try bench.nights([.update(image)], [schedule], adapters: 2)[0]
        #expect(night.result.ending == .complete, "\(night.result)")
        #expect(night.versions.allSatisfy { $0 == image.version })
        let mine = starts(bench).filter { $0.vehicle == 0 }.map { begin.duration(to: $0.time) }
        #expect(mine.first.map { $0 < .seconds(30) } == true, "\(mine)")
        #expect(mine.last.map { $0 >= .seconds(1_800) } == true, "\(mine)")
    }
}
