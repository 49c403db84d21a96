import Base
import Families
import Images
import Manifest
import Radio
import Rollout
import Samples
import Show
import Simulation
import Store
import Synchronization
import Testing

/// Updates that one rollout begins and another one finds, with conditions or with a denied image.
///
/// What is said of a module is read from the module itself.
@Suite struct TermsTests {
    /// One depot with one module, for several rollouts over one journal.
    private final class Stage: Sendable {
        let simulation: Simulation
        let journal: Journal
        private let vehicle: VehicleJob
        private let told = Mutex<(verdict: Verdict?, asked: Int)>((nil, 0))

        init(_ simulation: Simulation, _ vehicle: VehicleJob) async throws {
            self.simulation = simulation
            self.vehicle = vehicle
            journal = try await Journal.inMemory(executor: simulation.worldLane)
        }

        /// How often the operator's program was asked.
        var asked: Int { told.withLock { $0.asked } }

        /// What other rollouts know of a debt.
        struct Known: Sendable {
            var image: UpdateJob?
            var terms: UpdateTerms?
            var denied: Set<SHA256Digest> = []
            var judgement = Judgement.Verdict.well
        }

        /// Runs the steps as a rollout of this name; it is stopped this long after the module has
        /// first come into a state.
        @discardableResult
        func run(
            _ rollout: String,
            _ steps: [JobStep],
            cut: (state: ExecutionState, after: Duration)? = nil,
            _ known: Known = Known()
        ) async throws -> Verdict? {
            told.withLock { $0.verdict = nil }
            let (time, stop) = (simulation.time, StopSignal())
            let run = try await journal.beginRun(
                rollout: rollout,
                plan: SHA256.digest(of: Array(rollout.utf8)),
                at: time.wallTime
            )
            let isDue = Mutex(cut != nil)
            let events = EventStream(run: run, time: time) { [self] event in
                switch event.body {
                case .vehicleEnded(_, let verdict): told.withLock { $0.verdict = verdict }
                case .stateChanged(_, let state, _, _) where state == cut?.state:
                    guard let cut,
                        isDue.withLock({ due in
                            defer { due = false }; return due
                        })
                    else { return }
                    time.schedule(at: time.now.advanced(by: cut.after)) { stop.request() }
                default: break
                }
            }
            let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
            let depot = Depot(
                rollout: rollout,
                run: run,
                air: SoleAirtime(radio),
                time: time,
                journal: journal,
                events: events,
                stop: stop,
                rules: try DepotBench.rules(),
                image: { debt in known.image?.digest == debt.image ? known.image : nil },
                terms: { debt in known.terms?.digest == debt.terms ? known.terms : nil },
                denied: known.denied,
                judge: { [self] _ in
                    told.withLock { $0.asked += 1 }
                    return known.judgement
                }
            )
            let job = VehicleJob(
                vehicle: vehicle.vehicle,
                serial: vehicle.serial,
                driver: vehicle.driver,
                steps: steps
            )
            _ = try await RolloutRun([job], in: depot).run()
            try await journal.endRun(run, exitCode: 0, reason: "", at: time.wallTime)
            return told.withLock { $0.verdict }
        }
    }

    private func play(
        _ vehicle: VehicleJob,
        _ add: @escaping @Sendable (World) -> Void,
        _ body: @escaping @Sendable (Stage) async throws -> Void
    ) throws {
        let simulation = Simulation(seed: 5)
        let result = try simulation.run { () async -> Result<Void, any Error> in
            do {
                await simulation.air.addAdapter("hci0")
                await simulation.air.arrange { add($0) }
                return .success(try await body(try await Stage(simulation, vehicle)))
            } catch { return .failure(error) }
        }
        try result.get()
    }

    private let wait: [JobStep] = [.wait(.seconds(1))]

    // MARK: A module whose bootloader receives the image

    private let image = DepotBench.image(bytes: 100_000)

    private func bike(_ body: @escaping @Sendable (Stage) async throws -> Void) throws {
        let module = DepotBench.module(1) { $0.link.interval = .milliseconds(200) }
        let bench = DepotBench(seed: 5, [module])
        let vehicle = try #require(bench.jobs(wait).first)
        try play(vehicle, { $0.add(module) }, body)
    }

    /// What a module shows of itself.
    private struct Seen: Equatable {
        var received = 0
        var isInBootloader = false
        var isConfirmed = true
        var runs: FirmwareVersion?
    }

    private func module(_ stage: Stage) async -> Seen {
        await stage.simulation.air.arrange { world in
            let module = world.modules(ComoduleModule.self)[0]
            return Seen(
                received: module.packetBytes,
                isInBootloader: module.isInBootloader,
                runs: module.runningVersion
            )
        }
    }

    @Test func `the rest of an image is sent under the conditions of its update, by whichever run`()
        throws
    {
        let near = Precondition.signal(
            try #require(Condition(.atLeast, Literal("-70")))
        )
        let steps: [JobStep] = [.require([near], otherwise: .fail), .update(image)]
        let terms = steps.terms(of: image, at: 1)
        #expect(terms.digest != nil)
        try bike { [self] stage in
            try await stage.run("first", steps, cut: (.transferring, .seconds(4)))
            let begun = await module(stage)
            #expect(
                begun.isInBootloader && begun.received > 0 && begun.received < 100_000,
                "\(begun)"
            )
            await stage.simulation.air.arrange { $0.modules(ComoduleModule.self)[0].signal = -90 }
            var known = Stage.Known(image: image)
            let blind = try await stage.run("order", wait, known)
            #expect(blind?.outcome == .failed && blind?.message.contains("first") == true)
            known.terms = terms
            let far = try await stage.run("order", wait, known)
            #expect(far?.outcome == .failed, "\(far as Any)")
            #expect(far?.message.contains("signal is -90 dBm") == true, "\(far as Any)")
            #expect(try await stage.run("first", steps)?.outcome == .failed)
            let left = await module(stage)
            #expect(left == begun, "not one further byte")
            await stage.simulation.air.arrange { $0.modules(ComoduleModule.self)[0].signal = -50 }
            #expect(try await stage.run("order", wait, known)?.outcome == .succeeded)
            #expect(await module(stage).runs == image.version)
            #expect(try await stage.journal.debts().isEmpty)
        }
    }

    @Test func `a module gets no further byte of an image that is denied`() throws {
        let other = DepotBench.image(bytes: 30_000, version: FirmwareVersion(4, 13))
        try bike { [self] stage in
            try await stage.run("first", [.update(image)], cut: (.transferring, .seconds(4)))
            let begun = await module(stage)
            #expect(
                begun.isInBootloader && begun.received > 0 && begun.received < 100_000,
                "\(begun)"
            )
            let known = Stage.Known(image: image, denied: [image.digest])
            let left = try await stage.run("order", wait, known)
            #expect(left?.outcome == .failed && left?.message.contains("denies its image") == true)
            #expect(await module(stage) == begun)
            let end = try await stage.run("second", [.update(other)], known)
            #expect(end?.outcome == .succeeded, "\(end as Any)")
            let now = await module(stage)
            #expect(now.runs == other.version)
            #expect(now.received - begun.received < other.size + 1_000, "\(now), \(begun)")
        }
    }

    // MARK: A module that runs an image on trial

    private func light(
        _ body: @escaping @Sendable (Stage, SMPModulePlan) async throws -> Void
    ) throws {
        let plan = try SMPBench().plan
        let vehicle = VehicleJob(
            vehicle: try #require(VehicleID("v1")),
            serial: plan.serial,
            driver: SMPModuleUpdate(),
            steps: wait
        )
        try play(vehicle, { $0.add(plan, imageCapacity: 1 << 20) }) { stage in
            try await body(stage, plan)
        }
    }

    private func judged(_ version: FirmwareVersion) throws -> UpdateJob {
        let file = try MCUbootFile.sample(size: 4_000, version: version)
        let part = try #require(FirmwarePart(image: 0, variants: [.init(firmware: file.bytes)]))
        return UpdateJob(
            name: "light",
            digest: file.digest,
            version: version,
            family: .mcumgr,
            type: nil,
            variant: nil,
            allowsDowngrade: false,
            parts: [part],
            judge: ["ask", "the workshop"],
            healthyWithin: .seconds(10)
        )
    }

    private func light(_ stage: Stage) async -> Seen {
        await stage.simulation.air.arrange { world in
            let module = world.modules(SMPModule.self)[0]
            return Seen(isConfirmed: module.isConfirmed, runs: module.running[0].version)
        }
    }

    private let onTrial = Seen(isConfirmed: false, runs: FirmwareVersion(2, 0))

    @Test(arguments: [true, false])
    func `an image on trial is kept as its own rollout's judge says, or left on trial`(
        isWell: Bool
    ) throws {
        let update = try judged(FirmwareVersion(2, 0))
        let steps: [JobStep] = [.update(update)]
        try light { [self] stage, _ in
            try await stage.run("first", steps, cut: (.settling, .seconds(12)))
            #expect(await light(stage) == onTrial)
            #expect(stage.asked == 0, "it was stopped before")
            var known = Stage.Known(image: update)
            let left = try await stage.run("order", wait, known)
            #expect(left?.outcome == .failed && left?.message.contains("first") == true)
            #expect(await light(stage) == onTrial)
            known.terms = steps.terms(of: update, at: 0)
            known.judgement = isWell ? .well : .unwell("it creaks")
            #expect(try await stage.run("order", wait, known)?.outcome == .succeeded)
            #expect(stage.asked > 0)
            let version = isWell ? FirmwareVersion(2, 0) : FirmwareVersion(1, 0)
            #expect(await light(stage) == Seen(runs: version))
            #expect(try await stage.journal.debts().isEmpty)
        }
    }

    @Test func `an image that is denied goes back from its trial`() throws {
        let update = try judged(FirmwareVersion(2, 0))
        try light { [self] stage, _ in
            try await stage.run("first", [.update(update)], cut: (.settling, .seconds(12)))
            #expect(await light(stage) == onTrial)
            let known = Stage.Known(image: update, denied: [update.digest])
            let end = try await stage.run("order", wait, known)
            #expect(end?.outcome == .succeeded, "\(end as Any)")
            #expect(stage.asked == 0)
            #expect(await light(stage) == Seen(runs: FirmwareVersion(1, 0)))
            #expect(try await stage.journal.debts().isEmpty)
        }
    }
}
