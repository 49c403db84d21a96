import Base
import Commands
import Images
import Manifest
import Radio
import Rollout
import Show
import Store

/// What a run is carried out with: its jobs, images and rules, checked against each other and the journal.
struct PreparedRun {
    let journal: Journal
    let jobs: [VehicleJob]
    let rules: RolloutRules
    let builder: JobBuilder
    let checker: ImageChecker
    let images: [(image: PlannedImage, size: ByteCount)]
    /// How the list differs from what the journal knows.
    let differences: [String]
}

/// A run that the journal knows.
private struct BegunRun {
    /// Its part in the fleet's rollout, and where it reports.
    typealias Share = (seat: FleetSeat, part: FleetPart)

    let number: Int
    let prepared: PreparedRun
    /// Whether it begins its rollout again.
    let isAgain: Bool
    /// Nil when there is only one gateway.
    let share: Share?
    let events: EventStream
    let began: Moment

    var journal: Journal { prepared.journal }
}

/// A rollout from the record of its run to its verdict.
extension JobRun {
    func carryOut(_ prepared: PreparedRun, _ seat: FleetSeat?) async throws -> ExitCode {
        let run = try await begin(prepared, seat)
        announce(run)
        var schedule = ScheduleBuilder(job.plan)
            .schedule(of: prepared.jobs.map(\.vehicle), zone: job.zone)
        schedule.again = run.isAgain
        schedule.recalling = job.recalling
        schedule.check = check
        let centrals = site.adapters.map { site.central($0) }
        let coordinator = try await coordinator(of: run)
        let result = try await RolloutRun(
            prepared.jobs,
            in: depot(of: run, coordinator, air: SoleAirtime(centrals[0])),
            adapters: centrals,
            schedule: schedule
        ).run()
        return try await end(run, result)
    }

    // MARK: Its beginning

    private func begin(_ prepared: PreparedRun, _ seat: FleetSeat?) async throws -> BegunRun {
        let time = site.time
        let began = time.now
        let isAgain: Bool
        var share: BegunRun.Share?
        if let seat {
            let (part, isNew) = try await seat.enter(
                job.plan,
                prepared.jobs,
                again: job.isOrder || job.again && !job.isKept,
                starts: start,
                checking: listCheck,
                approval: job.approval,
                recalling: job.recalling,
                waiting: time
            )
            isAgain = isNew
            share = (seat, part)
        } else {
            isAgain = try await begins(prepared.journal, at: time.wallTime)
        }
        let number = try await prepared.journal.beginRun(
            rollout: job.plan.name,
            plan: job.plan.digest,
            listing: seat == nil ? job.plan.listed : [],
            at: time.wallTime,
            seed: site.seed,
            isOrder: job.isOrder,
            fleet: share.map { share in
                FleetStart(
                    instance: share.seat.holder.instance,
                    gateway: share.seat.holder.gateway,
                    beginning: share.part.beginning
                )
            }
        )
        job.output.follow(time)
        let output = job.output
        return BegunRun(
            number: number,
            prepared: prepared,
            isAgain: isAgain,
            share: share,
            events: EventStream(run: number, time: time, watcher: { output.look($0) }) {
                output.take($0, at: RealTime().now)
            },
            began: began
        )
    }

    private var start: RolloutStart {
        RolloutStart(
            job.plan,
            isWhole: job.vehicles.count == job.plan.vehicles.count,
            zone: job.zone
        )
    }

    /// Whether the run begins the rollout again, because of its flag or the manifest.
    private func begins(_ journal: Journal, at now: WallTime) async throws -> Bool {
        if job.isOrder { return true }
        if job.isKept { return false }
        if job.again { return true }
        let record = try await journal.rollout(job.plan.name)
        var begun: WallTime?
        if let record { begun = try await journal.run(record.began)?.started }
        do throws(RolloutStart.ClockBehind) {
            return try start.beginsAgain(record, begun: begun, at: now)
        } catch { throw CommandError(error) }
    }

    private func announce(_ run: BegunRun) {
        var start = RunStart(
            rollout: job.plan.name,
            plan: job.plan.digest,
            vehicles: job.vehicles.count,
            adapters: site.adapters,
            run: run.number,
            seed: site.seed
        )
        start.approvers = job.approval?.names ?? []
        run.events.emit(.runStarted(start))
        for difference in run.prepared.differences { run.events.emit(.warning(difference)) }
        let records = ImageRecords(StoreFolder(stateDirectory: job.state)).all()
        for (image, size) in run.prepared.images {
            run.events.emit(
                .imageReady(
                    name: image.name,
                    digest: image.digest,
                    size: size,
                    // A simulated run must depend on its seed alone.
                    provenance: ImageProvenance(record: records[image.digest])
                        .words(withTimes: site.seed == nil)
                )
            )
        }
    }

    // MARK: What it works with

    /// Asks the operator's program, for as long as the run is not stopped.
    private func ask(_ program: CheckProgram) async -> CheckProgram.Answer {
        let stop = job.stop
        guard let checks = site.checks else { return program.run { stop.isRequested } }
        return await checks.answer(program) { stop.isRequested }
    }

    /// The check between two waves: why it failed, nil when it passed.
    private var check: @Sendable (_ wave: Int) async -> String? {
        { wave in
            await ask(
                CheckProgram(
                    job.plan.rollout.between,
                    rollout: job.plan.name,
                    wave: wave,
                    isRehearsal: site.seed != nil
                )
            ).objection
        }
    }

    private func coordinator(of run: BegunRun) async throws -> any Coordinator {
        let local = LocalCoordinator(
            journal: run.journal,
            rollout: job.plan.name,
            run: run.number
        )
        guard let (seat, entered) = run.share else { return local }
        var part = entered
        part.check = check
        part.isRehearsal = site.seed != nil
        part.adapters = site.adapters
        part.links = job.plan.links(
            on: site.adapters,
            for: run.prepared.jobs.updatedFamilies,
            by: try await run.journal.links()
        )
        let shared = seat.coordinator(
            over: local,
            journal: run.journal,
            rollout: job.plan.name,
            run: run.number,
            part: part,
            time: site.time
        )
        try await shared.begin()
        return shared
    }

    private func depot(
        of run: BegunRun,
        _ coordinator: any Coordinator,
        air: SoleAirtime
    ) -> Depot {
        let (journal, checker, builder) = (
            run.journal, run.prepared.checker, run.prepared.builder
        )
        return Depot(
            rollout: job.plan.name,
            run: run.number,
            air: air,
            time: site.time,
            journal: journal,
            events: run.events,
            stop: job.stop,
            rules: run.prepared.rules,
            askPause: site.askPause,
            coordinator: coordinator,
            peripherals: site.peripheral,
            image: { debt in
                let family = job.plan.vehicles.first { $0.serial == debt.serial }?.family
                guard let family else { return nil }
                return await checker.image(of: debt, family: family)
            },
            terms: { debt in await terms(of: debt, journal) },
            denied: job.denied,
            step: { vehicle, text in builder.step(text, for: vehicle) },
            judge: { judgement in
                await ask(
                    CheckProgram(
                        judgement,
                        rollout: job.plan.name,
                        isRehearsal: site.seed != nil
                    )
                ).verdict
            }
        )
    }

    /// The conditions of an update that another rollout began, by the plan that is kept of it.
    private func terms(of debt: Debt, _ journal: Journal) async -> UpdateTerms? {
        guard let began = try? await journal.execution(debt.execution), let digest = began.plan,
            let plan = PlanArchive(state: job.state).plan(digest, of: debt.rollout)
        else { return nil }
        return JobBuilder(plan, profiles: job.profiles).terms(of: debt)
    }

    // MARK: Its end

    private func end(_ run: BegunRun, _ result: RunResult) async throws -> ExitCode {
        if !job.isOrder { try await run.share?.seat.follow(job.plan.name, in: run.journal) }
        let hold = try await run.journal.hold(on: job.plan.name)
        // An order is reported as not done when one vehicle has not carried it out.
        let verdict = RunVerdict(
            job.isOrder ? .none : job.plan.rollout.tolerance,
            vehicles: job.vehicles.count,
            isPart: hold == nil && !result.isHeld && job.vehicles.count < job.plan.vehicles.count
        )
        let code = verdict.code(of: result, stoppedBy: Signals.exitCode)
        var end = RunEnd(
            rollout: job.plan.name,
            counts: result.counts,
            unfinished: result.unfinished,
            exitCode: Int(code.rawValue),
            reason: verdict.reason(code, result, hold),
            took: run.began.duration(to: site.time.now)
        )
        end.adapters = result.adapters
        if let radioTimes = site.radioTimes {
            for index in end.adapters.indices {
                let times = await radioTimes(end.adapters[index].name)
                (end.adapters[index].linked, end.adapters[index].aired) = times
            }
        }
        run.events.emit(.runEnded(end))
        try await run.events.save(in: run.journal)
        try await record(end, of: run)
        try await run.share?.seat.reportEnd(run.journal)
        try await run.journal.compact(keepingRuns: 200)
        return code
    }

    private func record(_ end: RunEnd, of run: BegunRun) async throws {
        try await run.journal.endRun(
            run.number,
            exitCode: end.exitCode,
            reason: end.reason,
            at: site.time.wallTime,
            counts: run.share == nil ? nil : end.vehicles.json.text,
            posting: job.notices?.wishes(
                run: run.number,
                of: job.plan.name,
                exitCode: end.exitCode,
                failed: end.count(.failed),
                isRehearsal: site.seed != nil
            ) ?? [],
            made: RealTime().wallTime
        )
    }
}
