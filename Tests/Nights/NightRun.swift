import Base
import Commands
import Manifest
import Operations
import Radio
import Rollout
import Show
import Store
import Synchronization

/// One run of a plan, carried out with the program's own rollout.
struct NightRun: Sendable {
    let plan: FrozenPlan
    let jobs: [VehicleJob]
    private let depot: NightDepot
    private let builder: JobBuilder
    private let rules: RolloutRules
    private let watch: NightWatch
    /// The plans that the program keeps, and the images that the files deny.
    private let kept: [SHA256Digest: FrozenPlan]
    private let denied: Set<SHA256Digest>

    init(
        _ plan: FrozenPlan,
        of ids: [VehicleID],
        _ depot: NightDepot,
        called names: NightNames? = nil,
        watched watch: NightWatch,
        kept: [SHA256Digest: FrozenPlan] = [:],
        denying denied: Set<SHA256Digest> = []
    ) throws {
        let names = names ?? NightNames(depot.story.vehicles.count)
        (self.kept, self.denied) = (kept, denied.union(plan.trust.denied))
        self.plan = plan
        self.watch = watch
        self.depot = depot
        builder = JobBuilder(plan)
        guard let rules = builder.rules else {
            throw NightDepot.Mistake(description: "no rules")
        }
        self.rules = rules
        var access: [VehicleID: VehicleAccess] = [:]
        for id in ids {
            access[id] = try depot.access(names.number(id) ?? 0, in: plan)
        }
        var images: [String: [FirmwarePart]] = [:]
        for image in plan.images {
            for known in NightImage.all {
                for release in known.versions.indices
                where known.digest(release) == image.digest {
                    images[image.name] = known.parts(release)
                }
            }
        }
        jobs = builder.jobs(images: images, access: access)
    }

    /// Carries the run out under its number in the journal; without a coordinator the journal
    /// grants all rights.
    func carryOut(
        _ run: Int,
        again: Bool,
        recalling hold: Hold? = nil,
        over radios: [NightRadio],
        _ journal: Journal,
        _ clock: NightClock,
        _ stop: StopSignal,
        _ coordinator: (any Coordinator)? = nil,
        showing surfaces: NightSurfaces? = nil,
        hear: @escaping @Sendable (Event) -> Void
    ) async throws -> RunResult {
        let events = EventStream(run: run, time: clock) { event in
            surfaces?.hear(event)
            hear(event)
        }
        let began = clock.now
        if surfaces != nil { events.emit(.runStarted(start(run, radios))) }
        let chance = Mutex(SplitMix64(seed: depot.story.seed ^ UInt64(run) << 32))
        var schedule = ScheduleBuilder(plan).schedule(of: jobs.map(\.vehicle), zone: .utc)
        schedule.again = again
        schedule.recalling = hold
        let rollout = RolloutRun(
            jobs,
            in: Depot(
                rollout: plan.name,
                run: run,
                air: SoleAirtime(radios[0]),
                time: clock,
                journal: journal,
                events: events,
                stop: stop,
                rules: rules,
                coordinator: coordinator,
                peripherals: { name in radios.first { $0.adapter == name } },
                image: { NightImage.job($0.image, name: $0.name, target: $0.target) },
                terms: { [kept] debt in
                    guard let began = try? await journal.execution(debt.execution),
                        let plan = began.plan.flatMap({ kept[$0] })
                    else { return nil }
                    return JobBuilder(plan).terms(of: debt)
                },
                denied: denied,
                step: { builder.step($1, for: $0) },
                judge: { [bad = depot.story.policy.judge] question in
                    let release = NightImage.release(question.version, of: question.image)
                    return release == bad ? .unwell("it creaks") : .well
                },
                chance: { chance.withLock { $0.next() } }
            ),
            adapters: radios,
            schedule: schedule
        )
        let result = try await watch.watching("run \(run) of \(plan.name)", clock) {
            try await rollout.run()
        }
        let end = end(result, after: began.duration(to: clock.now))
        if surfaces != nil { events.emit(.runEnded(end)) }
        try await events.save(in: journal)
        try await journal.endRun(run, exitCode: 0, reason: "", at: clock.wallTime)
        try await surfaces?.compare(end, of: run, in: journal, at: clock.wallTime)
        try await journal.compact(keepingRuns: 2)
        return result
    }

    // MARK: What the run reports

    private func start(_ run: Int, _ radios: [NightRadio]) -> RunStart {
        RunStart(
            rollout: plan.name,
            plan: plan.digest,
            vehicles: jobs.count,
            adapters: radios.map(\.adapter),
            run: run,
            seed: nil
        )
    }

    private func end(_ result: RunResult, after took: Duration) -> RunEnd {
        let verdict = RunVerdict(plan.rollout.tolerance, vehicles: jobs.count)
        let code = verdict.code(of: result)
        var end = RunEnd(
            rollout: plan.name,
            counts: result.counts,
            unfinished: result.unfinished,
            exitCode: Int(code.rawValue),
            reason: verdict.reason(code, result, nil),
            took: took
        )
        end.adapters = result.adapters
        return end
    }
}
