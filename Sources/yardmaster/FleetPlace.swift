import Commands
import Domain
import Glibc
import Journal
import Manifest
import Operations
import Postgres
import Rollout
import Threads

/// A fleet that a run is to take rights from.
struct FleetPlace: Sendable {
    let access: FleetAccess
    let context: Context

    /// In the state directory: the last start of this gateway that may have rights.
    private static let file = "fleet-instance"

    /// Signs in, after it gave back what the last start in this state directory held.
    ///
    /// For the holder of the directory's lock, before any radio work. On `lane`, or a thread of its own.
    func sit(
        state: String,
        journal: Journal,
        on lane: (any SerialExecutor)?,
        at time: WallTime
    ) async throws(CommandError) -> FleetSeat {
        let thread = lane == nil ? try RunCommand.thread("fleet") : nil
        guard let executor: any SerialExecutor = lane ?? thread else {
            throw CommandError(.internal, "a fleet has no thread")
        }
        let fleet = access.database(on: executor)
        do {
            let holder = try await signIn(to: fleet, state, journal, time)
            return FleetSeat(
                fleet: fleet,
                holder: holder,
                thread: thread,
                context: context,
                address: access.address
            )
        } catch {
            await fleet.close()
            thread?.stop()
            if let error = error as? FleetError { throw error.commandError(access.address) }
            throw error as? CommandError ?? CommandError(.internal, "\(error)")
        }
    }

    private func signIn(
        to fleet: FleetDatabase,
        _ state: String,
        _ journal: Journal,
        _ time: WallTime
    ) async throws -> FleetHolder {
        let generation = try await journal.fleetGeneration()
        let standing = try await fleet.standing()
        switch standing {
        case .same, .ahead: break
        case .absent, .older, .newer: throw FleetCommand.misfit(standing)
        }
        let terms = LeaseTerms.standard
        if case .restored(let words) = try await fleet.guardedHistory(
            known: generation,
            terms: terms
        ) {
            throw CommandError(
                .configuration,
                "the fleet's database grants no rights",
                because: [words],
                hint:
                    "make sure that no gateway reaches the earlier database, then: yardmaster fleet "
                    + "accept-restore"
            )
        }
        // What the last start has done is told before its rights are given back: it still counts.
        if let error = try await FleetPost(journal, fleet).deliver() { throw error }
        let path = state + "/" + Self.file
        if let last = try Self.instance(at: path) {
            let freed = try await fleet.releaseAll(of: last)
            if !freed.isEmpty {
                context.console.note(
                    "yardmaster: gave back \(freed.count) module\(freed.count == 1 ? "" : "s") that the last run here had the "
                        + "right to\n"
                )
            }
        }
        let others = try await fleet.gateways().filter {
            $0.name == access.gateway && !$0.isGone && $0.silence < terms.length
        }
        guard others.isEmpty else {
            throw CommandError(
                .busy,
                "another machine is at work in the fleet as \(access.gateway.visible)",
                hint: "give each its own name: `gateway = NAME` in /etc/yardmaster/fleet.conf"
            )
        }
        let holder = FleetHolder(
            gateway: access.gateway,
            random: (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        )
        // On the disk before it has any right: the next start must find it.
        if let code = Draft.write(Array((holder.instance + "\n").utf8), to: path, mode: 0o640) {
            throw CommandError(.cannotWrite, "\(path): \(Descriptor.text(of: code))")
        }
        try await fleet.register(holder, program: "yardmaster \(Version.current)", at: time)
        return holder
    }

    /// Nil when there is none.
    private static func instance(at path: String) throws(CommandError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw CommandError(.configuration, "\(path): \(Descriptor.text(of: errno))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(
            decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A },
            as: UTF8.self
        )
        let isInstance = text.utf8.count == 36 && text.allSatisfy { $0.isHexDigit || $0 == "-" }
        guard isInstance else {
            throw CommandError(
                .configuration,
                "\(path) does not hold what a run wrote there",
                hint: "remove it; modules that its run had are free after two minutes"
            )
        }
        return text
    }
}

/// A run's place in a fleet, from its signing in to its end.
struct FleetSeat: Sendable {
    let fleet: FleetDatabase
    let holder: FleetHolder
    /// Nil where the database has the run's own.
    let thread: ThreadExecutor?
    let context: Context
    let address: FleetAddress

    /// Begins the rollout or goes on with it, for all gateways; tells whether it begins again here.
    ///
    /// Every gateway works by the same plan.
    func enter(
        _ plan: FrozenPlan,
        _ journal: Journal,
        again: Bool,
        starts start: RolloutStart,
        at now: WallTime
    ) async throws -> (beginning: Int, isNew: Bool) {
        do {
            let known = try await fleet.rollout(plan.name)
            let before = try await journal.fleetMark(of: plan.name)
            let isSame = known?.plan == plan.digest.description
            var begins = again
            if let known, !begins {
                let isOver = known.isFinished || known.hold?.kind == .aborted
                if !isSame {
                    begins = isOver
                } else if known.hold == nil {
                    begins = try start.beginsAgain(
                        isFinished: known.isFinished,
                        begun: known.begun,
                        at: now
                    )
                }
                guard isSame || begins else { throw Self.otherPlan(plan.name, known.plan) }
            }
            let (beginning, digest) = try await fleet.enter(
                plan.name,
                plan: plan.digest,
                begins: begins,
                seen: known?.beginning ?? 0,
                as: holder
            )
            guard digest == plan.digest.description else {
                throw Self.otherPlan(plan.name, digest)
            }
            if let error = try await FleetPost(journal, fleet).follow(plan.name) { throw error }
            return (beginning, begins || before.map { $0.beginning != beginning } ?? again)
        } catch let error as FleetError {
            throw error.commandError(address)
        } catch let error as RolloutStart.ClockBehind {
            throw CommandError(error)
        }
    }

    /// Brings the plan's vehicles; gives the wave that is on.
    func enlist(
        _ plan: FrozenPlan,
        _ beginning: Int,
        isPartial: Bool
    ) async throws(CommandError) -> Int {
        let found: (wave: Int, changes: Int)?
        do throws(FleetError) {
            found = try await fleet.enlist(
                FleetPlan(plan, isPartial: isPartial),
                in: plan.name,
                beginning: beginning,
                as: holder
            )
        } catch { throw error.commandError(address) }
        guard let found else {
            throw CommandError(
                .busy,
                "the rollout \(plan.name.visible) was begun again by another gateway just now",
                hint: "run it again"
            )
        }
        return found.wave
    }

    private static func otherPlan(_ rollout: String, _ digest: String) -> CommandError {
        CommandError(
            .trust,
            "the fleet works on \(rollout.visible) by another plan, \(digest.visible)",
            because: ["every gateway works by the same manifest, images and fleet list"],
            hint: "bring the same files here, or begin the rollout again for all gateways with "
                + "'run --again'"
        )
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
            time: time
        ) { [console = context.console] text in
            console.note("yardmaster: warning: \(text.visible)\n")
        }
    }

    /// Says good-bye; a database that does not answer finds out by itself.
    func leave() async {
        do throws(FleetError) { try await fleet.signOff(holder) } catch {}
        await fleet.close()
        thread?.stop()
    }
}
