package import Base
package import Commands
package import Operations
import Rollout
package import Show
import Store

/// The source of everything that is shown: the database of the machine's fleet, its own journal, or both.
///
/// What the fleet knows comes from the fleet, the rest from the journal; each answer says which of the two it is.
package struct Standings: Sendable {
    package let journal: StandingJournal
    /// Nil when the machine belongs to no fleet, or with `--journal`.
    package let fleet: FleetAccess?
    private let context: Context
    /// Whether the journal is asked at all.
    private let isFleetOnly: Bool
    /// Whether the fleet is not asked, because it did not answer a moment ago.
    private var isResting = false
    /// Called when no server of the fleet answers.
    var onSilence: (@Sendable () -> Void)?

    /// A copy that does not ask the fleet.
    var resting: Standings {
        var standings = self
        standings.isResting = fleet != nil
        return standings
    }

    /// Asks only the fleet, for machines without a state directory.
    package init(
        ofFleet invocation: Invocation,
        _ context: Context
    ) throws(CommandError) {
        journal = StandingJournal(
            state: "/nonexistent",
            flags: PlaceFlags(invocation)
        )
        fleet = try FleetAccess(invocation, context)
        self.context = context
        isFleetOnly = true
    }

    package init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        let state = try Self.state(invocation, context)
        self.init(
            StandingJournal(state: state, flags: PlaceFlags(invocation)),
            fleet: try FleetAccess.ofLook(invocation, context, state: state),
            context
        )
    }

    /// The directory of the runs; any at all for a machine of a fleet on which nothing has run.
    private static func state(
        _ invocation: Invocation,
        _ context: Context
    ) throws(CommandError) -> String {
        do throws(CommandError) { return try GatewayState.find(invocation, context) } catch {
            let own = try CommonOptions.stateDirectory(invocation, context, toLook: true)
            guard try FleetAccess.ofLook(invocation, context, state: own) != nil else {
                throw error
            }
            return own
        }
    }

    package init(_ journal: StandingJournal, fleet: FleetAccess?, _ context: Context) {
        self.journal = journal
        self.fleet = fleet
        self.context = context
        isFleetOnly = false
    }

    /// The answer of the fleet; nil when the journal must be asked, with the reason in `source`.
    private struct Asked<Answer: Sendable>: Sendable {
        let answer: Answer?
        let source: StandingSource?
    }

    private func ask<Answer: Sendable>(
        _ body: @Sendable (isolated FleetDatabase) throws(FleetError) -> Answer?,
        orElse unknown: String
    ) async throws(CommandError) -> Asked<Answer> {
        guard let fleet else { return Asked(answer: nil, source: nil) }
        guard !isResting else {
            return Asked(
                answer: nil,
                source: StandingSource(
                    .journal,
                    fleet.name,
                    because: "no server of the fleet has answered a moment ago",
                    remedy: FleetError.looksAtServer,
                    isWhole: false
                )
            )
        }
        switch try await fleet.look(body) {
        case .success(let answer?):
            return Asked(answer: answer, source: StandingSource(.fleet, fleet.name))
        case .success(nil):
            return Asked(
                answer: nil,
                source: StandingSource(.journal, fleet.name, because: unknown)
            )
        case .failure(let error):
            if error.isSilence { onSilence?() }
            return Asked(
                answer: nil,
                source: StandingSource(
                    .journal,
                    fleet.name,
                    because: "no server of the fleet answers: \(error)",
                    remedy: error.hint(for: .reader),
                    isWhole: false
                )
            )
        }
    }

    /// What the journal says in place of the fleet, with the reason why it was asked.
    private func instead<Answer: Sourced>(
        _ source: StandingSource?,
        _ body: () throws(CommandError) -> (Answer, Zone)
    ) throws(CommandError) -> (Answer, Zone) {
        do throws(CommandError) {
            var (answer, zone) = try body()
            answer.source = source
            return (answer, zone)
        } catch { throw explained(error, source) }
    }

    /// What the journal has; nil when there is none or it cannot be read.
    private func own<R>(_ body: (JournalView) throws(JournalError) -> R) -> R? {
        guard !isFleetOnly else { return nil }
        do throws(CommandError) { return try journal.read(body) } catch { return nil }
    }

    /// Throws when the fleet should have answered and nothing has run in the journal: that is no answer.
    private func requireRuns(_ source: StandingSource?) throws(CommandError) {
        guard let source, !source.isWhole else { return }
        let isEmpty = own { view throws(JournalError) in try view.lastRun(rollout: nil) == nil }
        guard isEmpty == true else { return }
        throw explained(HistoryJournal.unknown(run: nil, in: journal.state), source)
    }

    /// An error of the journal, with the reason why the fleet did not answer.
    private func explained(
        _ error: CommandError,
        _ source: StandingSource?
    ) -> CommandError {
        guard let source, error.kind == .inputMissing else { return error }
        return CommandError(
            source.isWhole ? .inputMissing : .unavailable,
            source.reason ?? error.sentence,
            because: isFleetOnly ? [] : [error.sentence],
            hint: source.isWhole
                ? "the fleet knows a rollout and its vehicles once a 'yardmaster run' on a gateway has begun it"
                : source.remedy
        )
    }

    /// The starts of all gateways; nil without a fleet or without an answer.
    func gateways() async throws(CommandError) -> [FleetGateway]? {
        try await ask({ fleet throws(FleetError) in try fleet.gateways() }, orElse: "").answer
    }

    // MARK: One rollout

    /// How a rollout stands; nil means the one that ran last.
    ///
    /// Of a fleet's rollout with more vehicles than `most`, those that are done are only counted.
    package func status(
        of rollout: String?,
        _ options: CommonOptions? = nil,
        whole most: Int = .max
    ) async throws(CommandError) -> RolloutStatus {
        let now = RealTime().wallTime
        let mine = own { view throws(JournalError) in try UnsharedRecords(in: view, at: now) }
        // What only this machine knows may be about any vehicle.
        let whole = mine?.owesNothing ?? true ? most : .max
        let asked = try await ask(
            { fleet throws(FleetError) in try fleet.look(of: rollout, whole: whole) },
            orElse: rollout.map { "the fleet knows no rollout \($0)" }
                ?? "the fleet knows no rollout yet"
        )
        guard let look = asked.answer else {
            try requireRuns(asked.source)
            var (status, _) = try instead(asked.source) { () throws(CommandError) in
                (try journal.status(of: rollout, options), .utc)
            }
            ZoneSource.addWindow(to: &status, context)
            return status
        }
        let plan = look.planView
        let holder = journal.holder
        let snapshot = snapshot(look, plan, mine)
        let others = own { view throws(JournalError) in
            try RolloutStatus.briefs(
                in: view,
                holder: holder,
                at: now,
                except: look.names
            )
        }
        let ground = VehicleGround(
            rollout: look.view.rollout.name,
            planned: plan?.vehicles ?? [],
            others: Set(snapshot.executions.map(\.vehicle)),
            groups: snapshot.groups
        )
        let options = try options?.looking(in: ground)
        var status = RolloutStatus(
            snapshot,
            briefs: look.briefs.map { RolloutStatus.Brief($0, look.lastRuns) } + (others ?? []),
            plan: plan,
            manifest: plan?.manifest,
            isRunning: snapshot.isAtWork,
            flags: journal.flags,
            takes: options.map { options in { options.takes($0) } }
        )
        status.source = asked.source
        ZoneSource.addWindow(to: &status, context)
        return status
    }

    private func snapshot(
        _ look: FleetLook,
        _ plan: PlanView?,
        _ mine: UnsharedRecords?
    ) -> RolloutSnapshot {
        var snapshot = RolloutSnapshot(
            look.view,
            in: look.ground,
            plan: plan,
            sayings: look.sayings
        )
        if let mine { snapshot.add(mine) }
        return snapshot
    }

    /// Rollouts of the fleet, and those of the journal that the fleet does not have, with the plans of both.
    private struct Rollouts {
        let shared: [RolloutSnapshot]
        let own: [RolloutSnapshot]
        let plans: [String: MorningMaker.Plan]
    }

    private func rollouts(
        _ looks: [FleetLook],
        _ mine: UnsharedRecords?,
        beside snapshots: [RolloutSnapshot],
        except names: Set<String>
    ) -> Rollouts {
        var plans: [String: MorningMaker.Plan] = [:]
        let shared = looks.map { look in
            let plan = look.planView
            if let plan {
                plans[look.view.rollout.name] = MorningMaker.Plan(plan, manifest: plan.manifest)
            }
            return snapshot(look, plan, mine)
        }
        let own = snapshots.filter { !names.contains($0.run?.rollout ?? "") }
        plans.merge(journal.plans(of: own)) { shared, _ in shared }
        return Rollouts(shared: shared, own: own, plans: plans)
    }

    // MARK: One vehicle

    /// All that is known of a vehicle, and the zone in which its times are shown.
    package func story(
        of vehicle: VehicleID
    ) async throws(CommandError) -> (story: Show.VehicleStory, zone: Zone) {
        let asked = try await ask(
            { fleet throws(FleetError) in try fleet.look(of: vehicle) },
            orElse: "the fleet knows no vehicle \(vehicle)"
        )
        guard let look = asked.answer else {
            return try instead(asked.source) { () throws(CommandError) in
                try journal.story(of: vehicle, context)
            }
        }
        let now = RealTime().wallTime
        let holder = journal.holder
        let mine = own { view throws(JournalError) in
            (
                view: try VehicleView(of: vehicle, in: view, holder: holder, at: now),
                unshared: try UnsharedRecords(in: view, at: now)
            )
        }
        let found = rollouts(
            look.rollouts,
            mine?.unshared,
            beside: mine?.view.snapshots ?? [],
            except: Set(look.rollouts.map(\.view.rollout.name))
        )
        let view = VehicleView(vehicle, found.shared, look, beside: mine?.view, found.own)
        let zone = ZoneSource.shown(
            (found.shared + found.own).lazy
                .compactMap { found.plans[$0.run?.rollout ?? ""]?.plan }
                .first { $0.zone != nil },
            context
        )
        var story = Show.VehicleStory(view, plans: found.plans, flags: journal.flags)
        story.source = asked.source
        return (story, zone)
    }

    /// The story of the vehicle that people call so: by id, or by what the last plan knows of it.
    package func story(
        ofVehicleCalled name: String
    ) async throws(CommandError) -> (story: Show.VehicleStory, zone: Zone) {
        let id = VehicleID(name)
        let unknown: CommandError
        if let id {
            do throws(CommandError) { return try await story(of: id) } catch {
                guard error.kind == .inputMissing else { throw error }
                unknown = error
            }
        } else {
            unknown = CommandError(
                .inputMissing,
                "no vehicle is called '\(name.visible)'",
                hint: "give an id, a serial, a plate or another label's value of the fleet list"
            )
        }
        let planned = try? await status(of: nil, whole: 0).plan?.vehicles
        let found = VehicleGround.vehicles(called: name, in: planned ?? [])
        guard let one = found.first else { throw unknown }
        guard found.count == 1 else {
            let names = found.prefix(5).map(\.text.visible).joined(separator: ", ")
            throw CommandError(
                .usage,
                "'\(name.visible)' means \(found.count) vehicles: \(names)"
                    + (found.count > 5 ? " …" : ""),
                hint: "give the id of one"
            )
        }
        return try await story(of: one)
    }

    // MARK: The morning

    /// What people have to do; `since` is a time as people write it, else the last noon.
    package func morning(
        since: String?,
        days: Int
    ) async throws(CommandError) -> (page: MorningPage, zone: Zone) {
        let now = RealTime().wallTime
        // A time without a zone is in the zone of the window, which the fleet's last plans have.
        let asked = try await ask(
            { fleet throws(FleetError) in try fleet.lookForZone() },
            orElse: "the fleet knows no rollout yet"
        )
        guard let found = asked.answer else {
            try requireRuns(asked.source)
            return try instead(asked.source) { () throws(CommandError) in
                try journal.morning(since: since, days: days, context)
            }
        }
        let zone = ZoneSource.shown(found.name, context)
        let begin = try StandingJournal.begin(since, now, zone)
        let holder = journal.holder
        let mine = own { view throws(JournalError) in
            (
                ground: try MorningMaker.Ground(in: view, since: begin, holder: holder, at: now),
                unshared: try UnsharedRecords(in: view, at: now)
            )
        }
        let isWhole = mine.map { !$0.unshared.owesNothing } ?? false
        let again = try await ask(
            { fleet throws(FleetError) in
                try fleet.lookInTheMorning(since: begin, isWhole: isWhole)
            },
            orElse: "the fleet knows no rollout yet"
        )
        guard let look = again.answer else {
            throw CommandError(.unavailable, "no server of the fleet answers any more")
        }
        let rollouts = rollouts(
            look.rollouts,
            mine?.unshared,
            beside: mine?.ground.snapshots ?? [],
            except: look.names
        )
        let maker = MorningMaker(
            MorningMaker.Ground(look, rollouts.shared, beside: mine?.ground, rollouts.own),
            plans: rollouts.plans,
            since: begin,
            at: now,
            staleDays: days,
            flags: journal.flags
        )
        var page = maker.page
        page.source = again.source
        return (page, zone)
    }

    // MARK: Runs

    /// The runs of all gateways, and this machine's runs without a fleet; the newest first.
    package func history(
        of rollout: String?,
        count: Int
    ) async throws(CommandError) -> (history: RunList, zone: Zone) {
        let asked = try await ask(
            { fleet throws(FleetError) in
                try fleet.lookAtHistory(of: rollout, count: count)
            },
            orElse: rollout.map { "the fleet knows no run of a rollout \($0)" }
                ?? "the fleet knows no run yet"
        )
        guard let look = asked.answer else {
            try requireRuns(asked.source)
            return try instead(asked.source) { () throws(CommandError) in
                try journal.history(of: rollout, count: count, context)
            }
        }
        let mine = own { view throws(JournalError) in
            try RunList.ownRows(of: rollout, count: count, in: view)
        }
        let rows = RunList.merged(look.runs.map { RunList.Row($0) }, mine ?? [], count)
        var list = RunList(rows, sayings: look.sayings, holder: journal.holder)
        list.source = asked.source
        return (list, ZoneSource.shown(look.zone, context))
    }

    /// A run with its events from the journal if it is this machine's, else as the fleet has it.
    package func run(
        _ wish: RunWish
    ) async throws(CommandError) -> (shown: ShownRun, zone: Zone) {
        if let own = try ownRun(wish) { return own }
        let asked = try await ask(
            { fleet throws(FleetError) in try fleet.look(at: wish) },
            orElse: "the fleet knows no run \(wish)"
        )
        if let look = asked.answer {
            // This machine's own run is read from the journal, with all events.
            let name = RunWish.run(look.run.run.name)
            if let own = try ownRun(name) { return own }
            var shown = ShownRun(look)
            shown.source = asked.source
            return (shown, ZoneSource.shown(look.zone, context))
        }
        guard case .run(let name) = wish, name.gateway != nil else {
            return try instead(asked.source) { () throws(CommandError) in
                let shown = try journal.shown(wish.number)
                return (shown, journal.zone(of: [shown.run], context))
            }
        }
        throw explained(HistoryJournal.unknown(run: name, in: journal.state), asked.source)
    }

    /// Nil when it is not a run of this machine's journal.
    private func ownRun(_ wish: RunWish) throws(CommandError) -> (shown: ShownRun, zone: Zone)? {
        guard case .run(let name) = wish else { return nil }
        if let gateway = name.gateway {
            let isOurs = own { view throws(JournalError) in
                try view.fleet(ofRun: name.number)?.gateway == gateway
            }
            guard isOurs == true else { return nil }
        } else if fleet != nil {
            let isThere = own { view throws(JournalError) in
                try view.run(name.number) != nil
            }
            guard isThere == true else { return nil }
        }
        var shown = try journal.shown(name.number)
        shown.source = fleet.map {
            StandingSource(.journal, $0.name, because: "the run is its own, with all events")
        }
        return (shown, journal.zone(of: [shown.run], context))
    }
}
