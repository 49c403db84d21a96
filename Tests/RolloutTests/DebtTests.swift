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

/// Modules on which an update was begun and is not proven.
@Suite struct DebtTests {
    private let image = DepotBench.image(bytes: 20_000)
    private var update: [JobStep] { [.update(image)] }
    private let schedule = DepotBench.schedule([[0]]) {
        $0.rules.pause = PauseRule(failed: .count(0), atLeast: 1)
    }

    @Test func `what is known of an update outlives its run, every fact of it`() throws {
        let begun = WallTime(milliseconds: 1_000)
        let execution = ExecutionRecord(
            rollout: "other",
            vehicle: try #require(VehicleID("v1")),
            serial: try #require(Serial("00f0000000000001")),
            run: 1,
            started: begun
        )
        for stage in UpdateMemory.Stage.allCases where stage != .none {
            var debt = Debt(
                serial: execution.serial,
                image: image.digest,
                name: "city",
                version: image.version,
                target: image.target.rawValue,
                total: 20_000,
                stage: "",
                of: execution,
                begun: begun
            )
            var memory = UpdateMemory()
            memory.stage = stage
            (memory.part, memory.acknowledged, memory.interruptions, memory.restarts) = (1, 2, 3, 4)
            memory.settleDeadline = begun.advanced(by: .seconds(60))
            (memory.targetSeen, memory.inBootloader) = (true, true)
            debt.keep(memory)
            #expect(UpdateMemory(debt, of: image.digest, interruptions: 3) == memory)
            // For another image the memory is empty, except for the number of interruptions.
            let other = UpdateMemory(debt, of: SHA256.digest(of: [7]), interruptions: 3)
            var fresh = UpdateMemory()
            fresh.interruptions = 3
            #expect(other == fresh)
        }
    }

    /// Leaves the debt of a run of another rollout on the first vehicle.
    private func leave(
        _ image: UpdateJob,
        _ stage: UpdateMemory.Stage,
        on module: ModulePlan,
        in journal: Journal,
        at time: WallTime
    ) async throws {
        let plan = SHA256.digest(of: [9])
        let run = try await journal.beginRun(rollout: "other", plan: plan, at: time)
        let fresh = ExecutionRecord(
            rollout: "other",
            vehicle: try #require(VehicleID("v1")),
            serial: module.serial,
            run: run,
            started: time
        )
        let record = try #require(try await journal.begin(Beginning(nil, fresh: [fresh])).first)
        let debt = Debt(
            serial: module.serial,
            image: image.digest,
            name: "before",
            version: image.version,
            target: image.target.rawValue,
            total: 1_000,
            stage: stage.rawValue,
            of: record,
            begun: time
        )
        _ = try await journal.intend(
            Intent(
                of: record,
                step: StepKey(plan),
                place: 0,
                effect: .transfer,
                description: "update",
                image: image.digest,
                begun: time
            ),
            opening: debt
        )
        try await journal.endRun(run, exitCode: 143, reason: "", at: time)
    }

    private func settled(_ bench: DepotBench) -> Int {
        bench.events.count { event in
            guard case .stateChanged(_, .settling, _, _) = event.body else { return false }
            return true
        }
    }

    @Test func `what came of another rollout's update is no verdict on this one`() throws {
        let module = DepotBench.module(1)
        let bench = DepotBench(seed: 3, [module])
        let other = DepotBench.image(bytes: 9_000, version: FirmwareVersion(4, 11, 9))
        let night = try bench.nights(update, [schedule]) { [self] _, journal in
            // The module is back with its old version: the other rollout's update has failed.
            let time = bench.simulation.time.wallTime
            try await leave(other, .settling, on: module, in: journal, at: time)
        }[0]
        #expect(night.result.counts == [.succeeded: 1], "\(night.records)")
        #expect(night.versions == [FirmwareVersion(4, 12)])
        #expect(settled(bench) >= 2, "it was brought to rest first, and after the own update")
    }

    /// D5: the run was cut while the module settled, and the module is back with its old version.
    @Test func `a module that fell back from its own update is not sent it again`() throws {
        var met = 0
        for cut in 1... {
            let module = DepotBench.module(1) { $0.faults = [.init(.returnUnchanged)] }
            let bench = DepotBench(seed: 3, [module])
            let stage = Mutex("")
            let nights = try bench.nights(update, [schedule, schedule]) { index, journal in
                try await journal.cut(after: index == 0 ? cut : nil)
                let debts = try await journal.debts()
                stage.withLock { $0 = debts.first?.stage ?? "" }
            }
            guard nights.count == 1 else { break }
            guard stage.withLock({ $0 }) == UpdateMemory.Stage.settling.rawValue else { continue }
            met += 1
            #expect(nights[0].result.counts == [.failed: 1], "cut after \(cut)")
            #expect(nights[0].records.first?.end?.failure == .wrongVersion, "cut after \(cut)")
            #expect(nights[0].versions == [module.version], "cut after \(cut)")
        }
        #expect(met > 0, "it was cut in its settling")
    }

    /// D3: the next run finds nobody in the usual time, because the module restarts for longer.
    @Test func `a module that restarts for minutes is waited for after a kill`() throws {
        var met = 0
        for cut in 1... {
            let module = DepotBench.module(1) { $0.restartTime = .seconds(240) }
            let bench = DepotBench(seed: 3, [module])
            let stage = Mutex("")
            let nights = try bench.nights(update, [schedule, schedule]) { index, journal in
                try await journal.cut(after: index == 0 ? cut : nil)
                let debts = try await journal.debts()
                stage.withLock { $0 = debts.first?.stage ?? "" }
            }
            guard nights.count == 1 else { break }
            guard stage.withLock({ $0 }) == UpdateMemory.Stage.settling.rawValue else { continue }
            met += 1
            let end = nights[0].records.first?.end
            #expect(nights[0].result.counts == [.succeeded: 1], "cut after \(cut): \(end as Any)")
            #expect(nights[0].versions == [image.version], "cut after \(cut)")
        }
        #expect(met > 0, "it was cut in its settling")
    }

    /// The module was given a newer version by somebody else since then.
    ///
    /// One reading of the version shows that nothing is to be sent, but not that the module is at
    /// rest.
    @Test func `a module that is refused its image is watched to its rest all the same`() throws {
        let module = DepotBench.module(1) { $0.version = FirmwareVersion(4, 13) }
        let bench = DepotBench(seed: 3, [module])
        let left = Mutex(-1)
        let nights = try bench.nights(update, [schedule, schedule]) { [self] index, journal in
            if index == 0 {
                let time = bench.simulation.time.wallTime
                try await leave(image, .transferring, on: module, in: journal, at: time)
            } else {
                let count = try await journal.debts().count
                left.withLock { $0 = count }
            }
        }
        #expect(settled(bench) == 1)
        #expect(left.withLock { $0 } == 0, "it is paid")
        #expect(nights[0].result.counts == [.rejected: 1])
        #expect(nights[0].versions == [FirmwareVersion(4, 13)])
    }

    /// D3: the next run waits a whole deadline, longer than the last look that a cut settling gets.
    @Test func `a settle deadline that passed is followed by a whole one in the next run`() throws {
        let busy = Duration.seconds(330)
        let module = DepotBench.module(1) {
            $0.faults = [.init(.flap(total: busy, period: .seconds(6)))]
        }
        let settle = try #require(SettleRules(total: .seconds(200)))
        #expect(settle.total + settle.lastLook < busy, "a last look would be too short")
        let bench = DepotBench(seed: 3, [module])
        let each = DepotBench.schedule([[0]])
        let left = Mutex<[Debt]>([])
        let nights = try bench.nights(update, [each, each], rules: RolloutRules(settle: settle)) {
            index,
            journal in
            let debts = try await journal.debts()
            if index == 1 { left.withLock { $0 = debts } }
        }
        #expect(nights[0].result.counts == [.timedOut: 1], "\(nights[0].records)")
        let debt = try #require(left.withLock { $0.first })
        #expect(debt.stage == UpdateMemory.Stage.settling.rawValue)
        #expect(nights[1].result.counts == [.succeeded: 1], "\(nights[1].records)")
        #expect(nights[1].versions == [image.version])
    }

    /// A1: the step was done while the update was not proven, and somebody has changed it since.
    @Test func `an update that is gone on with owes again what is always done`() throws {
        let module = DepotBench.module(1) {
            $0.faults = [.init(.flap(total: .seconds(330), period: .seconds(6)))]
        }
        let settle = try #require(SettleRules(total: .seconds(200)))
        let bench = DepotBench(seed: 3, [module])
        let each = DepotBench.schedule([[0]])
        let left = Mutex<(debts: Int, owed: Int)>((0, 0))
        let air = bench.simulation.air
        let nights = try bench.nights(
            update,
            [each, each],
            always: [.set([PropertyOrder("lights", .state("disabled"))])],
            rules: RolloutRules(settle: settle)
        ) { index, journal in
            guard index == 1 else { return }
            let counts = (try await journal.debts().count, try await journal.owed(by: nil).count)
            left.withLock { $0 = counts }
            await air.arrange { $0.modules(ComoduleModule.self)[0].set { $0.lights = 1 } }
        }
        let (debts, owed) = left.withLock { $0 }
        #expect(debts == 1 && owed == 0, "it was done, and the update is not proven")
        let lights = try bench.simulation.run {
            await air.arrange { $0.modules(ComoduleModule.self)[0].settings.lights }
        }
        #expect(nights.map(\.result.counts) == [[.timedOut: 1], [.succeeded: 1]])
        #expect(lights == 0)
    }

    /// G1: no run worked on the vehicle, so nothing that was done to it has failed.
    @Test func `one that owes an update and is left alone trips no gate`() throws {
        let bench = DepotBench(seed: 3, [DepotBench.module(1)])
        let owed = Mutex(0)
        let nights = try bench.nights(update, [schedule, schedule]) { index, journal in
            // The run is cut during its transfer, and then the vehicle is inhibited.
            guard index == 1 else { return try await journal.cut(after: 12) }
            try await journal.cut(after: nil)
            let count = try await journal.debts().count
            owed.withLock { $0 = count }
            let time = bench.simulation.time.wallTime
            try await journal.inhibit(
                Inhibit(VehicleID("v1"), reason: "workshop", expires: nil, at: time)
            )
        }
        #expect(owed.withLock { $0 } == 1, "it was cut after its transfer had begun")
        let night = try #require(nights.last)
        #expect(nights.count == 1 && night.result.counts == [.failed: 1])
        #expect(night.records.first?.acted == true)
        #expect(night.records.first?.end?.failure == .unreachable)
        #expect(night.result.ending == .complete && night.rollout?.hold == nil)
    }
}
