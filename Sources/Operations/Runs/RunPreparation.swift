import Base
import BlueZ
package import Commands
package import Manifest
import Rollout
import Show
import Simulation
package import Store

/// Everything that a run does before the first packet and after the last one.
package struct RunPreparation {
    private let options: RunOptions
    private let context: Context

    package init(_ options: RunOptions, _ context: Context) {
        self.options = options
        self.context = context
    }

    /// Carries a plan out; `sources` are kept until the rollout is over.
    ///
    /// An order is a rollout of its own. `hold` recalls the rollout that vehicles are brought back from.
    package func run(
        _ written: FrozenPlan,
        keeping sources: PlanSources? = nil,
        recalling hold: Hold? = nil,
        isOrder: Bool = false
    ) async throws(CommandError) -> ExitCode {
        if let path = options.saved {
            let words = try written.save(to: path, options.fleet, options.common)
            let document = JSONValue.object(["schema": 1, "exit": ExitCode.done.json])
            context.answer(options.common, document, words + "\n")
            return .done
        }
        let request = Request(
            written: written,
            vehicles: try Inputs.selected(written, options.common, state: options.state),
            sources: sources,
            hold: hold,
            isOrder: isOrder
        )
        guard let simulation = options.simulation else { return try await runForReal(request) }
        let profiles = try ProfileFolder.library(of: written, options.common, context)
        let file = try Inputs.depot(simulation, for: written, context, profiles)
        for adapter in written.radio.adapters where !file.adapters.contains(adapter) {
            throw CommandError(
                .unavailable,
                "there is no adapter \(adapter)",
                because: ["the depot has \(file.adapters.joined(separator: ", "))"],
                hint: "name one of these \(options.origin.placeOfAdapters)"
            )
        }
        let now = { () throws(CommandError) -> WallTime in
            let memory = try DepotMemoryFile.path(of: file, in: options.state)
            do throws(SimulatedDepot.MemoryFailure) {
                let clock = try SimulatedDepot.clock(of: file, at: memory)
                if clock.nanoseconds == 0, let last = SimulationThread.lastMoment(in: options.state)
                {
                    return max(last, Simulation.firstEvening)
                }
                return Simulation.firstEvening
                    .advanced(by: Moment(nanoseconds: 0).duration(to: clock))
            } catch { throw CommandError(.cannotCreate, error.description) }
        }
        return try await within(request, now) {
            job throws(CommandError) in
            let thread = try ThreadExecutor.working("simulation")
            let site = SimulationThread(executor: thread)
            let result = await site.run(
                SimulatedJob(run: job, file: file, options: simulation)
            )
            thread.stop()
            return try result.get()
        }
    }

    /// Runs on the host's own Bluetooth.
    private func runForReal(_ request: Request) async throws(CommandError) -> ExitCode {
        let console = context.console
        let real = try HostBluetooth.open(bus: options.bus, state: options.state, context) { note in
            console.note("yardmaster: warning: \(note.description)\n")
        }
        do throws(CommandError) {
            let adapters = try await real.adapters(named: request.written.radio.adapters)
            let now = { () -> WallTime in RealTime().wallTime }
            let code = try await within(request, now) {
                job throws(CommandError) in
                let thread = try ThreadExecutor.working("files")
                let waiting = try ThreadExecutor.working("check")
                defer { waiting.stop() }
                var site = RunPlace(
                    time: real.time,
                    lane: thread,
                    seed: nil,
                    adapters: adapters,
                    central: { BlueZCentral($0, of: real.radio) },
                    peripheral: { BlueZPeripheral($0, of: real.radio) }
                )
                site.checks = CheckRunner(executor: waiting)
                site.executor = real.radio.packetExecutor
                site.letGo = { await real.radio.endLeftLinks(on: adapters) }
                do throws(CommandError) {
                    let code = try await JobRun(job: job, site: site).run()
                    thread.stop()
                    return code
                } catch {
                    thread.stop()
                    throw error
                }
            }
            await real.close()
            return code
        } catch {
            await real.close()
            throw error
        }
    }

    /// What is to be run.
    private struct Request {
        /// The plan in the files, which may be newer than that of its rollout.
        let written: FrozenPlan
        let vehicles: [PlannedVehicle]
        let sources: PlanSources?
        let hold: Hold?
        let isOrder: Bool
    }

    /// A plan with what its vehicles need.
    private struct Chosen {
        let plan: FrozenPlan
        let vehicles: [PlannedVehicle]
        let access: [VehicleID: VehicleAccess]
        let zone: Zone
        let approval: Result<PlanApproval?, CommandError>
    }

    /// Runs `body` between the work before the first packet and the work after the last one.
    private func within(
        _ request: Request,
        _ now: () throws(CommandError) -> WallTime,
        _ body: @Sendable (RunJob) async throws(CommandError) -> ExitCode
    ) async throws(CommandError) -> ExitCode {
        // Virtual time does not advance while an issuer is asked for a token.
        let waiting = options.simulation == nil ? try ThreadExecutor.working("tokens") : nil
        defer { waiting?.stop() }
        let tokens = TokenCache(
            context,
            policy: request.written.fetch,
            runner: waiting.map { CheckRunner(executor: $0) },
            unless: { Signals.isStopRequested }
        )
        let approval = try await approval(of: request.written) {
            (try? now()) ?? Simulation.firstEvening
        }
        let chosen = try choose(request, tokens, approval)
        let directory = try context.reach.prepare(options.state)
        if context.reach.invented != nil {
            try InventedDepot.bringImages(of: request.written, to: directory.path, context)
        }
        let lock = try await lock(directory, request.written)
        // Only the holder of the lock knows whether the rollout is over.
        let settled = try await settle(request, chosen, tokens, in: directory, at: now)
        // Everything is present and verified before the first radio packet, and before time becomes
        // virtual.
        let images = ImagePreparation(
            plan: settled.plan,
            state: directory.path,
            context: context,
            common: options.common,
            tellsLocalFiles: false
        )
        guard let ready = try await images.bringAll() else { return images.tellCut() }
        let verdicts = try await ReleaseVerifier.verdicts(
            ready,
            of: settled.plan,
            state: directory.path,
            prefersKept: true
        )
        let job = try job(request, settled, demanding: verdicts.predecessors, in: directory)
        let result = await job.output.whileWriting { () -> Result<ExitCode, CommandError> in
            do throws(CommandError) {
                return .success(try await body(job))
            } catch { return .failure(error) }
        }
        lock.release()
        if case .success = result { await job.notices?.deliverAtEnd() }
        return try result.get()
    }

    /// What the run carries out: the plan that the rollout was begun with, until that is over.
    private func settle(
        _ request: Request,
        _ chosen: Chosen,
        _ tokens: TokenCache,
        in directory: StateDirectory,
        at now: () throws(CommandError) -> WallTime
    ) async throws(CommandError) -> Chosen {
        let written = request.written
        let isWhole = request.vehicles.count == written.vehicles.count
        let plan =
            request.isOrder
            ? written : try await frozen(written, chosen.zone, isWhole: isWhole, at: now())
        let isWritten = plan.digest == written.digest
        let approval =
            isWritten
            ? try chosen.approval.get() : try await check.demand(begun(plan), at: now)
        if let approval {
            try ApprovalArchive(state: directory.path).keep(approval, of: plan.name)
        }
        if isWritten {
            if let sources = request.sources {
                try PlanArchive(state: directory.path).keep(sources, for: plan.name)
            }
            return chosen
        }
        try refuseDenied(plan, written)
        // Keys may have got files of their own since the rollout was begun, and vehicles other
        // devices.
        let kept = plan.beside(written)
        let vehicles = try Inputs.selected(kept, options.common, state: options.state)
        return try choose(kept, vehicles, tokens, .success(approval))
    }

    private var check: ApprovalCheck { ApprovalCheck(options: options, context: context) }

    /// Checks that this machine has all that the vehicles of a plan need, and gets it.
    private func choose(
        _ plan: FrozenPlan,
        _ vehicles: [PlannedVehicle],
        _ tokens: TokenCache,
        _ approval: Result<PlanApproval?, CommandError>
    ) throws(CommandError) -> Chosen {
        try TokenCheck.check(plan, for: vehicles, context)
        try demand(plan, for: vehicles)
        return Chosen(
            plan: plan,
            vehicles: vehicles,
            access: try access(to: vehicles, of: plan, tokens),
            zone: try ZoneSource.zone(of: plan, context),
            approval: approval
        )
    }

    /// The same, unless the plan is not approved: then that is the error, also before any other.
    private func choose(
        _ request: Request,
        _ tokens: TokenCache,
        _ approval: Result<PlanApproval?, CommandError>
    ) throws(CommandError) -> Chosen {
        do throws(CommandError) {
            return try choose(request.written, request.vehicles, tokens, approval)
        } catch {
            if case .failure(let refusal) = approval { throw refusal }
            throw error
        }
    }

    /// Whether a proposal is to be carried out: asks unless somebody has agreed, or it is only saved.
    ///
    /// Throws when its plan is not approved.
    package func agrees(
        to plan: FrozenPlan,
        asking question: String?
    ) async throws(CommandError) -> Bool {
        guard options.saved == nil else { return true }
        let isSimulated = options.simulation != nil
        _ = try await approval(of: plan) {
            isSimulated ? Simulation.firstEvening : RealTime().wallTime
        }
        guard let question else { return true }
        return try await Question.demand(question, context)
    }

    /// Whether a plan is approved; a rollout may go on with an earlier plan, which was approved.
    private func approval(
        of plan: FrozenPlan,
        at now: () throws(CommandError) -> WallTime
    ) async throws(CommandError) -> Result<PlanApproval?, CommandError> {
        do throws(CommandError) { return .success(try await check.demand(plan, at: now)) } catch {
            guard ApprovalArchive(state: options.state).plan(of: plan.name) != nil else {
                throw error
            }
            return .failure(error)
        }
    }

    /// A plan as it was approved: vehicles may have got other ids since their rollout was begun.
    private func begun(_ plan: FrozenPlan) -> FrozenPlan {
        PlanArchive(state: options.state).plan(plan.digest, of: plan.name) ?? plan
    }

    private func job(
        _ request: Request,
        _ chosen: Chosen,
        demanding predecessors: [String: FirmwareVersion],
        in directory: StateDirectory
    ) throws(CommandError) -> RunJob {
        let output = try RunOutput(options, context, zone: chosen.zone)
        // The current manifest's: the list of notified people is independent of the plan.
        // The author of an order waits for its end.
        let notices =
            request.isOrder || context.reach.postage == nil
            ? nil
            : NoticeSender(
                state: directory.path,
                context: context,
                own: request.written.notify,
                given: options.placeFlags
            )
        var job = RunJob(
            plan: chosen.plan.demanding(predecessors: predecessors),
            vehicles: chosen.vehicles,
            access: chosen.access,
            profiles: try ProfileFolder.library(of: chosen.plan, options.common, context),
            zone: chosen.zone,
            state: directory.path,
            stop: Signals.catchThem(),
            output: output,
            again: options.again,
            isKept: chosen.plan.digest != request.written.digest,
            denied: Set(request.written.trust.denied),
            isOrder: request.isOrder,
            notices: notices,
            fleet: options.fleet.map { FleetPlace(access: $0, context: context) },
            flags: options.placeFlags
        )
        job.approval = try chosen.approval.get()
        job.recalling = request.hold
        return job
    }

    /// Checks that this machine has what the plan names.
    private func demand(
        _ plan: FrozenPlan,
        for vehicles: [PlannedVehicle]
    ) throws(CommandError) {
        try MachineCheck(
            plan: plan,
            context: context,
            profiles: try ProfileFolder.library(of: plan, options.common, context),
            state: options.state,
            isRun: true
        ).demand(for: vehicles)
    }

    /// Refuses the plan that a rollout was begun with when the files deny one of its images now.
    private func refuseDenied(
        _ plan: FrozenPlan,
        _ written: FrozenPlan
    ) throws(CommandError) {
        let denied = Set(written.trust.denied)
        guard let image = plan.images.first(where: { denied.contains($0.digest) }) else { return }
        throw CommandError(
            .trust,
            "the rollout \(plan.name) goes on with the plan that it was begun with, and "
                + "\(options.manifest) denies its image \(image.name)",
            hint: "begin it with the files as they are now: '\(options.beginsAgain)'"
        )
    }

    /// The plan that the rollout of this name was begun with, until that is over; else the given
    /// one.
    private func frozen(
        _ plan: FrozenPlan,
        _ zone: Zone,
        isWhole: Bool,
        at now: WallTime
    ) async throws(CommandError) -> FrozenPlan {
        let record: RolloutRecord?
        var began: WallTime?
        var executions: [ExecutionRecord] = []
        do throws(JournalError) {
            (record, began, executions) = try JournalReader(directory: options.state).read {
                view throws(JournalError) in
                guard let record = try view.rollout(plan.name) else { return (nil, nil, []) }
                return (
                    record,
                    try view.run(record.began)?.started,
                    try view.executions(rollout: plan.name, plan: record.plan)
                )
            }
        } catch {
            // A run on a damaged journal must not fetch or store anything; other errors are
            // reported when the run opens the journal.
            if error.kind == .corrupt { throw CommandError(error) }
            return plan
        }
        guard let record, record.plan != plan.digest else { return plan }
        let shared = try await shared(plan.name)
        let start = RolloutStart(plan, isWhole: isWhole, zone: zone, again: options.again)
        do throws(RolloutStart.ClockBehind) {
            guard try start.goesOn(with: record, begun: began, shared: shared, at: now) else {
                return plan
            }
        } catch { throw CommandError(error) }
        let kept = PlanArchive(state: options.state).plan(record.plan, of: plan.name)?
            .following(executions)
        // A paused rollout is not begun again: the run is refused, and shows the rollout as it is.
        guard !options.again else { return kept ?? plan }
        context.console.note(
            "yardmaster: warning: \(options.manifest) has changed since the rollout "
                + "\(plan.name) was begun\n"
                + (kept == nil
                    ? "  its plan is not kept any more: the rollout begins again\n"
                    : "  this run goes on with the plan that it was begun with, \(record.plan); 'run --again' "
                        + "begins it with the new one, and another name begins another rollout\n")
        )
        return kept ?? plan
    }

    /// The rollout as the fleet has it; nil without one, and when no server answers, which ends the run later.
    private func shared(_ rollout: String) async throws(CommandError) -> RolloutStart.Shared? {
        guard let fleet = options.fleet else { return nil }
        let found = try await fleet.look { (fleet) throws(FleetError) in
            try fleet.rollout(rollout)?.shared
        }
        guard case .success(let shared) = found else { return nil }
        return shared
    }

    private func access(
        to vehicles: [PlannedVehicle],
        of plan: FrozenPlan,
        _ tokens: TokenCache
    ) throws(CommandError) -> [VehicleID: VehicleAccess] {
        let source = SecretSource(
            context: context,
            profiles: try ProfileFolder.library(of: plan, options.common, context),
            tokens: tokens,
            replacing: SharedSecrets(plan.holders, context)
        )
        var access: [VehicleID: VehicleAccess] = [:]
        for vehicle in vehicles { access[vehicle.id] = try source.access(to: vehicle) }
        return access
    }

    /// Takes the lock; when another run has it, does what the plan's `overlap` says.
    private func lock(
        _ directory: StateDirectory,
        _ plan: FrozenPlan
    ) async throws(CommandError) -> StateLock {
        let thread = try ThreadExecutor.working("overlap")
        defer { thread.stop() }
        let queue = LockQueue(directory, rollout: plan.name, executor: thread)
        var isAsked = false
        while true {
            do throws(StateDirectoryError) {
                return try directory.lock(rollout: plan.name, started: RealTime().wallTime)
            } catch {
                guard case .busy = error, plan.rollout.overlap != .skip else {
                    throw CommandError(error)
                }
                // From this message on, a signal ends the wait.
                if !isAsked {
                    _ = Signals.catchThem()
                    context.console.note("yardmaster: \(error); this one waits\n")
                }
            }
            if plan.rollout.overlap == .replace, !isAsked { try await queue.askToYield() }
            isAsked = true
            guard await queue.waits() else {
                throw CommandError(.busy, "ended while it waited for another run")
            }
        }
    }
}
