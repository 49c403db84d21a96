package import Base
package import Manifest
package import Rollout
import Show
package import Store

/// A gateway's steps in its fleet before any radio work of a run: it signs in, begins or continues
/// the rollout, and enters the plan's vehicles.
package struct FleetEntrance: Sendable {
    /// Why a run cannot take part in the fleet.
    package enum Refusal: Error, Sendable {
        /// The tables do not fit this program.
        case misfit(FleetSchema.Standing)
        /// The database went back in time; the text explains how this was detected.
        case restored(String)
        /// Another machine works under this name.
        case nameTaken
        /// The last run of this state directory is at work elsewhere, or was a moment ago.
        case copied
        /// The fleet works on the rollout with another plan, which has this digest.
        case otherPlan(rollout: String, digest: String)
        /// Another gateway began the rollout again at this moment.
        case begunAgain(rollout: String)
    }

    private let fleet: FleetDatabase
    private let journal: Journal
    private let gateway: String
    private let terms: LeaseTerms

    package init(
        _ fleet: FleetDatabase,
        _ journal: Journal,
        gateway: String,
        terms: LeaseTerms = .standard
    ) {
        self.fleet = fleet
        self.journal = journal
        self.gateway = gateway
        self.terms = terms
    }

    /// Signs in, and then gives back the rights of earlier processes of this state directory.
    ///
    /// Only for the holder of the state directory's lock. `keep` records the processes that may have
    /// rights, so that the next one finds them. A process that may still be at work is waited for until its
    /// rights are over, and nothing of it is touched before. Returns how many rights were given back.
    package func signIn(
        after before: [EarlierStart],
        program: String,
        random: [UInt8],
        at time: WallTime,
        waiting clock: any Timekeeper,
        keep: ([EarlierStart]) throws -> Void
    ) async throws -> (holder: FleetHolder, freed: Int) {
        let generation = try await journal.fleetGeneration()
        let standing = try await fleet.standing()
        switch standing {
        case .same, .ahead: break
        case .absent, .older, .newer: throw Refusal.misfit(standing)
        }
        if case .restored(let words) = try await fleet.guardedHistory(
            known: generation,
            terms: terms
        ) {
            throw Refusal.restored(words)
        }
        let holder = FleetHolder(gateway: gateway, random: random)
        let own = EarlierStart(holder.instance, isOver: true)
        try keep([own] + before)
        do {
            try await takeName(holder, after: before, program: program, at: time, waiting: clock)
        } catch let refusal as Refusal {
            try keep(before)
            throw refusal
        }
        do {
            // Acts of the last process are reported before its rights are given back, so that they
            // still count.
            let post = FleetPost(journal, fleet, gateway: gateway, last: before.first?.instance)
            if let error = try await post.deliver() { throw error }
            try await post.tellDebts()
            var freed = 0
            for start in before { freed += try await fleet.releaseAll(of: start.instance).count }
            try keep([own])
            return (holder, freed)
        } catch {
            do throws(FleetError) { try await fleet.signOff(holder) } catch {}
            throw error
        }
    }

    /// Signs off; a database that does not answer notices later that the gateway is gone.
    ///
    /// While it has not been told all that was done, the rights stay until they are over: who takes a module next is to
    /// know of it, and the next run here tells it first.
    package func signOff(_ holder: FleetHolder) async {
        guard await (try? journal.untoldCount()) == 0 else { return }
        do throws(FleetError) { try await fleet.signOff(holder) } catch {}
    }

    /// Asks until the earlier processes are over by the server's clock; a sign of life of one of them
    /// ends that.
    private func takeName(
        _ holder: FleetHolder,
        after before: [EarlierStart],
        program: String,
        at time: WallTime,
        waiting clock: any Timekeeper
    ) async throws {
        var silence = Duration.zero
        var left = (terms.length + terms.takeoverWait).nanoseconds / 1_000_000_000
        while true {
            let answer = try await fleet.signIn(
                holder,
                after: before,
                program: program,
                at: time,
                terms: terms
            )
            switch answer {
            case .done: return
            case .nameTaken: throw Refusal.nameTaken
            case .copied(let now):
                guard now >= silence, left > 0 else { throw Refusal.copied }
                silence = now
            }
            left -= 1
            await clock.sleep(for: .seconds(1), "the last run of this state directory to be over")
            if Task.isCancelled { throw Refusal.copied }
        }
    }

    /// Begins or continues the rollout for all gateways; returns whether it begins again here.
    ///
    /// Every gateway works with the same plan. A run of some of the vehicles begins no rollout by another plan that
    /// the fleet has: the other gateways, whose files are as they were, would be refused.
    package func enter(
        _ plan: FrozenPlan,
        as holder: FleetHolder,
        again: Bool,
        starts start: RolloutStart,
        recalling hold: Hold? = nil
    ) async throws -> (beginning: Int, isNew: Bool) {
        let known = try await fleet.rollout(plan.name)
        let mark = try await journal.fleetMark(of: plan.name)
        let before = try await journal.fleetBeginning(of: plan.name) ?? mark?.beginning
        let isSame = known?.plan == plan.digest.description
        var begins = again
        if let known, !begins {
            if known.hold == nil {
                begins = try start.beginsAgain(
                    isFinished: known.isFinished,
                    begun: known.begun,
                    at: known.asked
                )
            }
            if !isSame, start.isWhole, known.isFinished || known.hold?.kind.isForGood == true {
                begins = true
            }
            guard isSame || begins else {
                throw Refusal.otherPlan(rollout: plan.name, digest: known.plan)
            }
        }
        let (beginning, digest) = try await fleet.enter(
            plan.name,
            plan: plan.digest,
            begins: begins,
            seen: known?.beginning ?? 0,
            under: known?.hold?.kind,
            as: holder,
            recalling: hold
        )
        guard digest == plan.digest.description else {
            throw Refusal.otherPlan(rollout: plan.name, digest: digest)
        }
        if mark == nil { try await bring(holdOf: plan, again: again) }
        if let error = try await FleetPost(journal, fleet, as: holder).follow(plan.name) {
            throw error
        }
        let isNew = known.map { $0.beginning != beginning } ?? false
        return (beginning, isNew || before.map { $0 != beginning } ?? again)
    }

    /// A hold from before this machine was in the fleet holds there, too, if it is one of the same plan.
    ///
    /// Only a pause outlasts that the rollout is begun again.
    private func bring(holdOf plan: FrozenPlan, again: Bool) async throws {
        guard let hold = try await journal.hold(on: plan.name), !again || hold.kind == .paused,
            try await journal.rollout(plan.name)?.plan == plan.digest
        else { return }
        try await fleet.bring(hold)
    }

    /// Enters the plan's vehicles; returns the part of a run with these vehicles.
    package func enlist(
        _ plan: FrozenPlan,
        _ jobs: [VehicleJob],
        as holder: FleetHolder,
        beginning: Int,
        approval: PlanApproval? = nil
    ) async throws -> FleetPart {
        var part = FleetPart(beginning: beginning)
        part.quarantineAfter = plan.rollout.quarantineAfter
        for job in jobs { part.releases[job.vehicle] = job.release }
        part.isPartial = jobs.count < plan.vehicles.count
        part.rules = WaveBoard.Rules(
            pause: plan.rollout.pause,
            advance: plan.rollout.advance,
            between: plan.rollout.between
        )
        let found = try await fleet.enlist(
            FleetPlan(plan, only: part.isPartial ? jobs.map(\.vehicle) : nil),
            in: plan.name,
            beginning: beginning,
            as: holder
        )
        guard let found else { throw Refusal.begunAgain(rollout: plan.name) }
        part.wave = found.wave
        try await bring(plan, approval)
        return part
    }

    /// Stores the shown part of the plan, for machines that do not have the plan.
    ///
    /// A gateway without a policy leaves the approval that others have brought.
    private func bring(_ plan: FrozenPlan, _ approval: PlanApproval?) async throws {
        let digest = plan.digest.description
        var approval = approval
        if approval == nil {
            approval = try await fleet.planView(digest).flatMap { PlanView.approval(in: $0) }
        }
        let shown = PlanView(plan, approval: approval)
        let view = shown.text
        let mark = PlanView.mark(of: view)
        guard try await fleet.markOfPlan(digest) != mark else { return }
        try await fleet.bring(
            plan: digest,
            of: plan.name,
            view: view,
            mark: mark,
            zone: shown.zone,
            quarantineAfter: plan.rollout.quarantineAfter
        )
    }
}
