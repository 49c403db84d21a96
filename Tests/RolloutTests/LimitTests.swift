import Base
import Families
import Manifest
import Rollout
import Show
import Simulation
import Store
import Testing

/// The limits that keep one vehicle from taking a whole night, and the vehicles that `retry` takes.
@Suite struct LimitTests {
    private let image = DepotBench.image(bytes: 20_000)
    private var update: [JobStep] { [.update(image)] }

    /// A module that restarts at the same byte each time, and forgets what it has received.
    private var hopeless: ModulePlan {
        DepotBench.module(1) {
            $0.keepsProgress = false
            $0.faults = [.init(.restart(at: 9_000), times: 500)]
        }
    }

    @Test(arguments: [1, 2, 4]) func `a transfer that gets no further is given up after so many`(
        limit: Int
    ) throws {
        let bench = DepotBench(seed: 3, [hopeless, DepotBench.module(2)])
        var rules = try DepotBench.rules()
        rules.fruitlessTransfers = limit
        rules.transientRetries = 0
        let night = try bench.nights(update, [DepotBench.schedule([[0, 1]])], rules: rules)[0]
        #expect(night.result.counts == [.failed: 1, .succeeded: 1])
        let record = try #require(night.records.first)
        #expect(record.end?.failure == .transient)
        #expect(record.end?.message.contains("without a byte more") == true, "\(record)")
        #expect(record.inBootloader)
        // The transfer before the first break had made progress.
        #expect(record.interruptions == limit + 1)
    }

    @Test func `attempts after a transfer that got no further are bounded too`() throws {
        let bench = DepotBench(seed: 3, [hopeless])
        var rules = try DepotBench.rules()
        rules.transientRetries = 2
        let night = try bench.nights(update, [DepotBench.schedule([[0]])], rules: rules)[0]
        #expect(night.result.counts == [.failed: 1])
        #expect(night.records.first?.attempt == 3)
    }

    @Test func `who has used up its airtime ends there, and goes on in the next run`() throws {
        let bench = DepotBench(
            seed: 3,
            [
                DepotBench.module(1) { $0.link.interval = .milliseconds(400) },
                DepotBench.module(2),
            ]
        )
        let image = DepotBench.image(bytes: 120_000)
        let tight = DepotBench.schedule([[0, 1]]) { $0.limits.airtime.vehicle = .seconds(60) }
        let nights = try bench.nights(
            [.update(image)],
            [tight, DepotBench.schedule([[0, 1]])]
        )
        #expect(nights[0].result.counts == [.timedOut: 1, .succeeded: 1])
        let record = try #require(nights[0].records.first)
        #expect(
            record.end?.message.hasPrefix(
                "used up its airtime of 1m; the next run goes on where it stands"
            ) == true,
            "\(record)"
        )
        #expect(nights[1].versions.allSatisfy { $0 == image.version })
        let resumed = bench.events.contains { event in
            if case .progress(_, let progress) = event.body { return progress.resumedFrom > .zero }
            return false
        }
        #expect(resumed, "what the module had is not sent again")
    }

    @Test func `the airtime of a run ends it with work left`() throws {
        let bench = DepotBench(seed: 3, (1...8).map { DepotBench.module($0) })
        let tight = DepotBench.schedule([Array(0..<8)]) { $0.limits.airtime.total = .seconds(60) }
        let night = try bench.nights(update, [tight])[0]
        #expect(night.result.ending == .workLeft("the airtime of 1m is used up"))
        #expect(night.result.unfinished > 0)
        #expect(night.inBootloader.allSatisfy { !$0 }, "what was begun was finished")
    }

    // MARK: The verb

    /// What `retry` does: it removes verdicts in its own transaction, and names the vehicles to the
    /// run.
    private static func retry(
        _ named: [VehicleID],
        in journal: isolated Journal,
        at time: WallTime
    ) {
        #expect(throws: Never.self) {
            let rearmed = try journal.retry("test", named, quarantined: [], by: "test", at: time)
            #expect(rearmed.refused.isEmpty)
            try journal.leave(
                ControlRequest(.retry, rollout: "test", vehicles: rearmed.vehicles, at: time)
            )
        }
    }

    @Test func `retry takes who failed, in the run under way, and leaves the others alone`() throws
    {
        let bench = DepotBench(
            seed: 3,
            (1...6).map { number in
                DepotBench.module(number) {
                    if number == 1 { $0.faults = [.init(.returnUnchanged)] }
                    $0.link.interval = .milliseconds(60)
                }
            }
        )
        let time = bench.simulation.time
        let night = try bench.nights(update, [DepotBench.schedule([Array(0..<6)])]) { _, journal in
            time.schedule(at: time.now.advanced(by: .seconds(90))) {
                journal.assumeIsolated { Self.retry([], in: $0, at: time.wallTime) }
            }
        }[0]
        #expect(night.result.counts == [.succeeded: 6])
        #expect(bench.notices(.request).map(\.message) == ["retry: 1 vehicle is taken again"])
        let ends = bench.events.compactMap { event -> String? in
            guard case .vehicleEnded(let id, let verdict) = event.body else { return nil }
            return "\(id) \(verdict.outcome.rawValue)"
        }
        #expect(ends.count == 7)
        #expect(ends.contains("v1 failed") && ends.contains("v1 succeeded"))
        // One that is begun once more has its number from before: none counts past the vehicles.
        var numbers: [VehicleID: Set<Int>] = [:]
        for case .attemptStarted(let id, _, _, let number) in bench.events.map(\.body) {
            numbers[id, default: []].insert(number)
        }
        #expect(numbers.values.allSatisfy { $0.count == 1 })
        #expect(numbers.values.reduce([]) { $0 + $1 }.sorted() == Array(1...6))
    }

    @Test func `retry of named vehicles takes no others`() throws {
        let bench = DepotBench(
            seed: 3,
            (1...6).map { number in
                DepotBench.module(number) {
                    if number <= 2 { $0.faults = [.init(.returnUnchanged)] }
                    $0.link.interval = .milliseconds(60)
                }
            }
        )
        let time = bench.simulation.time
        let night = try bench.nights(update, [DepotBench.schedule([Array(0..<6)])]) { _, journal in
            let first = try #require(VehicleID("v1"))
            time.schedule(at: time.now.advanced(by: .seconds(90))) {
                journal.assumeIsolated { Self.retry([first], in: $0, at: time.wallTime) }
            }
        }[0]
        #expect(night.result.counts == [.failed: 1, .succeeded: 5])
        #expect(night.records.first { $0.vehicle.text == "v2" }?.end?.outcome == .failed)
    }
}
