package import Base
import Commands
import Manifest
import Rollout
import Store

/// A fleet from which a run takes its rights.
package struct FleetPlace: Sendable {
    let access: FleetAccess
    let context: Context

    /// Signs in, after giving back the rights of earlier processes in this state directory.
    ///
    /// Only for the holder of the directory's lock, before any radio work. The database is used on
    /// `lane`, or on a thread of its own. `clock` is the run's.
    func sit(
        state: String,
        journal: Journal,
        on lane: (any SerialExecutor)?,
        at time: WallTime,
        waiting clock: any Timekeeper
    ) async throws(CommandError) -> FleetSeat {
        let thread = lane == nil ? try ThreadExecutor.working("fleet") : nil
        guard let executor: any SerialExecutor = lane ?? thread else {
            throw CommandError(.internal, "a fleet has no thread")
        }
        let fleet = access.database(on: executor)
        let entrance = FleetEntrance(fleet, journal, gateway: access.gateway)
        do {
            let file = FleetStartFile(in: state)
            let before = try file.read()
            // A sign-in whose answer was lost is made again as the same process.
            let random = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            let (holder, freed) = try await Self.patiently(clock, context.console.note) {
                try await entrance.signIn(
                    after: before.map { EarlierStart($0.instance, isOver: $0.place == file.place) },
                    program: Self.program,
                    random: random,
                    at: time,
                    waiting: clock
                ) { starts in try file.write(starts, knowing: before) }
            }
            if freed > 0 {
                context.console.note(
                    "yardmaster: gave back \(counted(freed, "module")) that the last run here had the "
                        + "right to\n"
                )
            }
            return FleetSeat(
                fleet: fleet,
                entrance: entrance,
                holder: holder,
                thread: thread,
                context: context,
                access: access
            )
        } catch {
            await fleet.close()
            thread?.stop()
            throw access.commandError(error)
        }
    }

    /// How long a run that has begun nothing waits for a server that restarts or is replaced.
    package static let patience = Duration.seconds(60)

    /// Repeats the work while no server answers, for a while.
    package static func patiently<Answer>(
        _ clock: any Timekeeper,
        _ note: (String) -> Void,
        _ work: () async throws -> Answer
    ) async throws -> Answer {
        let end = clock.now.advanced(by: patience)
        var isSaid = false
        while true {
            do { return try await work() } catch let error as FleetError {
                guard error.passes, error.kind != .noLibrary, clock.now < end,
                    !Signals.isStopRequested, !Task.isCancelled
                else { throw error }
                if !isSaid {
                    note(
                        "yardmaster: warning: \(error.sentence)\n"
                            + "  this run waits for it, for at most \(patience.brief)\n"
                    )
                }
                isSaid = true
                await clock.sleep(for: .seconds(2), "the fleet's database")
            }
        }
    }

    static var program: String { "yardmaster \(Version.current)" }
}

/// A run's access to its fleet, from signing in to its end.
struct FleetSeat: Sendable {
    let fleet: FleetDatabase
    let entrance: FleetEntrance
    let holder: FleetHolder
    /// The database's thread; nil when it uses the run's.
    let thread: ThreadExecutor?
    let context: Context
    let access: FleetAccess

    /// Begins or continues the rollout for all gateways; returns whether it begins again here.
    func enter(
        _ plan: FrozenPlan,
        _ jobs: [VehicleJob],
        again: Bool,
        starts start: RolloutStart,
        checking check: ListCheck,
        approval: PlanApproval?,
        recalling hold: Hold?,
        waiting clock: any Timekeeper
    ) async throws(CommandError) -> (part: FleetPart, isNew: Bool) {
        do {
            try check.refuse(
                try await inTurn(clock, repeatsLost: true) {
                    try await fleet.changes(in: plan.listed)
                }
            )
            let (beginning, isNew) = try await inTurn(clock, repeatsLost: !again && hold == nil) {
                try await entrance.enter(
                    plan,
                    as: holder,
                    again: again,
                    starts: start,
                    recalling: hold
                )
            }
            var part = try await inTurn(clock, repeatsLost: true) {
                try await entrance.enlist(
                    plan,
                    jobs,
                    as: holder,
                    beginning: beginning,
                    approval: approval
                )
            }
            part.program = FleetPlace.program
            return (part, isNew)
        } catch { throw access.commandError(error) }
    }

    /// Repeats what the server gave up because it took too long, and what was lost with a session.
    ///
    /// Gateways that begin in the same minute enter one after the other. What may have been done, and would be done
    /// a second time, is not repeated.
    private func inTurn<Answer>(
        _ clock: any Timekeeper,
        repeatsLost: Bool,
        _ work: () async throws -> Answer
    ) async throws -> Answer {
        try await FleetPlace.patiently(clock, context.console.note) {
            do { return try await work() } catch let error as FleetError
                where error.kind != .busy && !repeatsLost
            { throw access.commandError(error) }
        }
    }

    func coordinator(
        over local: LocalCoordinator,
        journal: Journal,
        rollout: String,
        run: Int,
        part: FleetPart,
        time: any Timekeeper
    ) -> FleetCoordinator {
        FleetCoordinator(
            local: local,
            journal: journal,
            fleet: fleet,
            holder: holder,
            rollout: rollout,
            run: run,
            part: part,
            time: time,
            machine: { (RealTime().now, RealTime().wallTime) }
        ) { [console = context.console] text in
            console.note("yardmaster: warning: \(text.visible)\n")
        }
    }

    /// Brings what people have set in the fleet into the journal, as far as the database answers.
    func follow(_ rollout: String, in journal: Journal) async throws(JournalError) {
        _ = try await FleetPost(journal, fleet, as: holder).follow(rollout)
    }

    /// Reports the end of the run, which is the last entry in the journal, and the progress of its
    /// open updates.
    func reportEnd(_ journal: Journal) async throws(JournalError) {
        let post = FleetPost(journal, fleet, as: holder)
        guard let error = try await post.deliver() else { return try await post.tellDebts() }
        context.console.note(
            "yardmaster: warning: the end of this run is in its journal, and is reported when a run reaches "
                + "the fleet again: \(error.description.visible)\n"
        )
    }

    func leave() async {
        await entrance.signOff(holder)
        await fleet.close()
        thread?.stop()
    }
}

extension FleetAccess {
    /// Why a run cannot take part in the fleet, for people.
    fileprivate func commandError(_ error: any Error) -> CommandError {
        switch error {
        case let error as FleetError: return error.commandError(address, for: .gateway)
        case let error as RolloutStart.ClockBehind: return CommandError(error)
        case let error as JournalError: return CommandError(error)
        case let error as FleetEntrance.Refusal: return commandError(error)
        default: return error as? CommandError ?? CommandError(.internal, "\(error)")
        }
    }

    private func commandError(_ refusal: FleetEntrance.Refusal) -> CommandError {
        switch refusal {
        case .misfit(let standing): CommandError(misfit: standing)
        case .restored(let words):
            CommandError(
                .configuration,
                "the fleet's database grants no rights",
                because: [words],
                hint:
                    "make sure that no gateway reaches the earlier database; then an operator says "
                    + "'yardmaster fleet accept-restore'"
            )
        case .nameTaken:
            CommandError(
                .busy,
                "another machine is at work in the fleet as \(gateway.visible)",
                hint: "give each its own name: `gateway = NAME` in /etc/yardmaster/fleet.conf"
            )
        case .copied:
            CommandError(
                .busy,
                "the last run of this state directory is at work on another machine, or in a copy of the directory",
                hint:
                    "a state directory belongs to one machine: begin with an empty one here, and give each machine "
                    + "its own name: `gateway = NAME` in /etc/yardmaster/fleet.conf"
            )
        case .otherPlan(let rollout, let digest):
            CommandError(
                .trust,
                "the fleet works on \(rollout.visible) by another plan, \(digest.visible)",
                because: ["every gateway works by the same manifest, images and fleet list"],
                hint: "bring the same files here, or begin the rollout again for all gateways with "
                    + "'run --again'"
            )
        case .begunAgain(let rollout):
            CommandError(
                .busy,
                "the rollout \(rollout.visible) was begun again by another gateway just now",
                hint: "run it again"
            )
        }
    }
}
