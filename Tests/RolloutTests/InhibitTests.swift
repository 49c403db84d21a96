import Base
import Families
import Manifest
import Radio
import Rollout
import Show
import Simulation
import Store
import Testing

/// Vehicles that people have inhibited, before a run and while it works on them.
@Suite struct InhibitTests {
    private let image = DepotBench.image(bytes: 20_000)

    private func inhibit(_ vehicle: String, _ reason: String, in bench: DepotBench) -> Inhibit {
        Inhibit(
            VehicleID(vehicle),
            reason: reason,
            expires: nil,
            at: bench.simulation.time.wallTime
        )
    }

    /// Runs `body` in the journal this many seconds from now.
    private func say(
        after seconds: Int,
        in bench: DepotBench,
        _ journal: Journal,
        _ body: @escaping @Sendable (isolated Journal) throws -> Void
    ) {
        let time = bench.simulation.time
        time.schedule(at: time.now.advanced(by: .seconds(seconds))) {
            journal.assumeIsolated { journal in
                do { try body(journal) } catch { Issue.record(error) }
            }
        }
    }

    @Test func `an inhibited vehicle that is away has its verdict before anything is begun`() throws
    {
        let bench = DepotBench(
            seed: 3,
            [DepotBench.module(1), DepotBench.module(2) { $0.signal = nil }]
        )
        let schedule = DepotBench.schedule([[0, 1]])
        let night = try bench.nights([.update(image)], [schedule]) { _, journal in
            try await journal.inhibit(inhibit("v2", "in the workshop", in: bench))
        }[0]
        #expect(night.result.counts == [.succeeded: 1, .deferred: 1], "\(night.records)")
        let kinds = bench.events.compactMap { event -> String? in
            switch event.body {
            case .attemptStarted(let id, _, _, _): "begun \(id)"
            case .vehicleEnded(let id, let verdict): "ended \(id) \(verdict.outcome.rawValue)"
            default: nil
            }
        }
        #expect(kinds == ["ended v2 deferred", "begun v1", "ended v1 succeeded"])
    }

    /// Takes the inhibit back after this many seconds, and asks for the vehicle again.
    private func retries(
        _ vehicle: String,
        after seconds: Int,
        in bench: DepotBench,
        _ journal: Journal
    ) throws {
        let id = try #require(VehicleID(vehicle))
        let time = bench.simulation.time
        say(after: seconds, in: bench, journal) { journal in
            _ = try journal.uninhibit(id)
            let again = try journal.retry(
                "test",
                [id],
                quarantined: [],
                tellingRun: true,
                by: "test",
                at: time.wallTime
            )
            #expect(again.vehicles == [id])
        }
    }

    @Test func `a vehicle that is asked for before the window opens is begun when it opens`() throws
    {
        let bench = DepotBench(seed: 3, [DepotBench.module(1), DepotBench.module(2)])
        // The simulation begins at 22:00 UTC.
        let opens = try #require(TimeOfDay("23:00"))
        let window = Window(
            [Opening(from: opens, .after(.seconds(3_600)))],
            zone: "UTC",
            close: .finish
        )
        let schedule = DepotBench.schedule([[0, 1]]) {
            $0.limits.window = RunWindow(window, zone: .utc)
        }
        let night = try bench.nights([.update(image)], [schedule]) { _, journal in
            try await journal.inhibit(inhibit("v2", "in the workshop", in: bench))
            try retries("v2", after: 600, in: bench, journal)
        }[0]
        let put = bench.events.contains { event in
            guard case .vehicleEnded(let id, let verdict) = event.body else { return false }
            return id.text == "v2" && verdict.outcome == .deferred
        }
        #expect(put, "it was put off at the beginning")
        #expect(night.result.counts == [.succeeded: 2], "\(night.records)")
        #expect(night.result.ending == .complete)
        #expect(night.versions == [image.version, image.version])
    }

    @Test func `a vehicle of a later wave that is asked for waits for its wave`() throws {
        let bench = DepotBench(seed: 3, (1...3).map { DepotBench.module($0) })
        let schedule = DepotBench.schedule([[0], [1, 2]]) { $0.rules.between.soak = .seconds(600) }
        let night = try bench.nights([.update(image)], [schedule]) { _, journal in
            try await journal.inhibit(inhibit("v3", "in the workshop", in: bench))
            // While the canary is under way.
            try retries("v3", after: 20, in: bench, journal)
        }[0]
        #expect(night.result.counts == [.succeeded: 3], "\(night.records)")
        func time(_ name: String, _ matches: (Event.Body) -> Bool) throws -> WallTime {
            try #require(bench.events.first { matches($0.body) }?.time, "\(name)")
        }
        let asked = try time("asked") {
            if case .notice(let notice) = $0 { notice.kind == .request } else { false }
        }
        let ended = try time("v1 ended") {
            if case .vehicleEnded(let id, _) = $0 { id.text == "v1" } else { false }
        }
        let begun = try time("v3 begun") {
            if case .attemptStarted(let id, _, _, _) = $0 { id.text == "v3" } else { false }
        }
        #expect(asked < ended, "the canary was under way")
        #expect(ended.duration(to: begun) >= .seconds(600), "begun before its wave")
    }

    /// S4: this check is the only one before an update, because its intent is recorded as a debt.
    @Test func `an update is not begun on a vehicle that was inhibited in the step before`() throws
    {
        let bench = DepotBench(seed: 3, [DepotBench.module(1)])
        let steps: [JobStep] = [.wait(.seconds(120)), .update(image)]
        let night = try bench.nights(steps, [DepotBench.schedule([[0]])]) { _, journal in
            let brakes = inhibit("v1", "brakes", in: bench)
            say(after: 60, in: bench, journal) { try $0.inhibit(brakes) }
        }[0]
        let waited = bench.events.contains { event in
            guard case .stateChanged(_, .acting, _, let detail) = event.body else { return false }
            return detail == "wait"
        }
        #expect(waited, "it was at work when it was inhibited")
        #expect(night.result.counts == [.deferred: 1], "\(night.records)")
        #expect(night.records.first?.end?.message == "inhibited: brakes")
        #expect(night.versions == [FirmwareVersion(4, 11, 3)])
        #expect(night.records.first?.acted == false)
    }

    /// G4: both vehicles owe a step of `always`, so being unreachable is a failure that counts.
    @Test func `of those given up together nobody is after the one who trips the gate`() throws {
        let bench = DepotBench(
            seed: 3,
            (1...3).map { number in DepotBench.module(number) { if number == 3 { $0.signal = nil } }
            }
        )
        func lights(_ state: String) -> JobStep { .set([PropertyOrder("lights", .state(state))]) }
        let (time, air) = (bench.simulation.time, bench.simulation.air)
        let schedule = DepotBench.schedule([[0, 1, 2]]) {
            $0.rules.pause = PauseRule(failed: .count(0), atLeast: 1)
            $0.limits.patience = .seconds(900)
        }
        let (first, second) = (try #require(VehicleID("v1")), try #require(VehicleID("v2")))
        let night = try bench.nights(
            [lights("enabled"), .wait(.seconds(120)), lights("blinking")],
            [schedule],
            always: [lights("disabled")]
        ) { _, journal in
            // Each vehicle is inhibited during its wait: it then owes a step, and is not counted.
            let (one, two) = (inhibit("v1", "", in: bench), inhibit("v2", "", in: bench))
            say(after: 60, in: bench, journal) { try $0.inhibit(one) }
            say(after: 200, in: bench, journal) { try $0.inhibit(two) }
            // Both vehicles are to be tried again, and are gone.
            say(after: 400, in: bench, journal) { journal in
                for vehicle in [first, second] { _ = try journal.uninhibit(vehicle) }
                let again = try journal.retry(
                    "test",
                    [first, second],
                    quarantined: [],
                    tellingRun: true,
                    by: "test",
                    at: time.wallTime
                )
                #expect(again.vehicles == [first, second])
            }
            time.schedule(at: time.now.advanced(by: .seconds(400))) {
                air.atOnce { air in
                    for module in air.world.modules(ComoduleModule.self) { module.signal = nil }
                }
            }
        }[0]
        #expect(bench.notices(.request).map(\.message) == ["retry: 2 vehicles are taken again"])
        #expect(night.records.map(\.acted) == [true, true, false])
        guard case .paused = night.result.ending else {
            Issue.record("\(night.result), \(night.records)")
            return
        }
        #expect(night.result.counts == [.failed: 1], "\(night.records)")
        #expect(night.records.map { $0.end?.outcome } == [.failed, nil, nil])
    }
}
