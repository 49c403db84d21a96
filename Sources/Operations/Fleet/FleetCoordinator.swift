package import Domain
package import Journal
package import Postgres
package import Reports
package import Rollout
import Synchronization

/// The rights of a fleet: a module is touched only with the right of the fleet's database, and by this
/// machine's journal, too.
package final class FleetCoordinator: Coordinator {
    private struct State: Sendable {
        var keeper: LeaseKeeper
        var fences: [Serial: LeaseFence] = [:]
        /// Whether it was said that the database does not answer.
        var isAway = false
        /// What the database has not been told yet, in its order.
        var untold: [Untold] = []
    }

    private struct Untold: Sendable {
        let lease: FleetLease
        let verdict: FleetVerdict
    }

    private let local: LocalCoordinator
    private let journal: Journal
    private let fleet: FleetDatabase
    private let holder: FleetHolder
    private let rollout: String
    private let run: Int
    private let terms: LeaseTerms
    private let time: any Timekeeper
    /// Tells people what is waited for.
    private let say: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// For how long one vehicle waits for a database that does not answer or may not grant.
    package static let patience = Duration.seconds(30 * 60)
    private static let tick = Duration.seconds(1)

    package init(
        local: LocalCoordinator,
        journal: Journal,
        fleet: FleetDatabase,
        holder: FleetHolder,
        rollout: String,
        run: Int,
        terms: LeaseTerms = .standard,
        time: any Timekeeper,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.local = local
        self.journal = journal
        self.fleet = fleet
        self.holder = holder
        self.rollout = rollout
        self.run = run
        self.terms = terms
        self.time = time
        self.say = say
        state = Mutex(State(keeper: LeaseKeeper(terms)))
    }

    // MARK: Claiming

    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        at wall: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        let own = try await local.claim(
            serial,
            for: vehicle,
            paying: paying,
            at: wall,
            unless: stop
        )
        guard case .granted(let lease) = own else { return own }
        let known = try await journal.fleetEpoch(of: serial).map {
            LeaseWish.Known(epoch: $0.epoch, generation: $0.generation)
        }
        let answer = try await ask(
            LeaseWish(serial, rollout: rollout, vehicle: vehicle, known: known),
            unless: stop
        )
        if case .granted(let granted) = answer {
            return .granted(Lease(serial: serial, epoch: granted.epoch, vehicle: vehicle))
        }
        try await local.release(lease, with: nil)
        return answer
    }

    /// Asks until there is an answer that stays, nobody wants it any more, or it took too long.
    private func ask(
        _ wish: LeaseWish,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        let began = time.now
        var pause = Duration.seconds(1)
        while true {
            let sent = time.now
            let reason: String
            switch await answer(to: wish) {
            case .granted(let lease, let generation):
                state.withLock { $0.keeper.granted(lease, sent: sent) }
                isBack()
                try await journal.remember(
                    FleetEpoch(serial: lease.serial, epoch: lease.epoch, generation: generation)
                )
                return .granted(
                    Lease(serial: lease.serial, epoch: lease.epoch, vehicle: wish.vehicle)
                )
            case .final(let claim): return claim
            case .later(let words): reason = words
            }
            isWaited(for: reason)
            guard began.duration(to: time.now) < Self.patience else { return .unknown(reason) }
            let next = time.now.advanced(by: pause)
            while time.now < next {
                await time.sleep(for: Self.tick, "the fleet's database")
                if stop.isRequested || Task.isCancelled { return .unknown(reason) }
            }
            pause = min(pause * 2, terms.beat)
        }
    }

    private enum Answer {
        case granted(FleetLease, generation: Int)
        case final(Claim)
        /// Worth another question; why, for people.
        case later(String)
    }

    private func answer(to wish: LeaseWish) async -> Answer {
        do throws(FleetError) {
            switch try await fleet.claim(wish, by: holder, terms: terms) {
            case .granted(let lease, let generation):
                return .granted(lease, generation: generation)
            case .held(let other): return .final(.held(by: other))
            case .resting(let left):
                return .final(
                    .unknown(
                        "the gateway that had the right to this module has vanished; it is free in "
                            + left.brief
                    )
                )
            case .behind(let known, let found):
                return .final(
                    .unknown(
                        "the fleet's database went back in time: it knows epoch \(found) of this "
                            + "module, and this gateway \(known); see 'yardmaster fleet accept-restore'"
                    )
                )
            case .closed(.restored(let words)):
                return .final(.unknown("the fleet's database grants no rights: \(words)"))
            case .closed(.open), .closed(.waits), .closed(.movedOn):
                let known = wish.known?.generation
                _ = try await fleet.guardedHistory(known: known, terms: terms)
                return .later(
                    "the fleet's database grants no rights for a while: another server took over, "
                        + "or a backup was confirmed"
                )
            }
        } catch {
            switch error.kind {
            case .noLibrary, .unreachable, .lost, .collided, .busy:
                return .later("the fleet's database does not answer: \(error)")
            case .forbidden, .noSchema, .refused:
                return .final(.unknown("the fleet's database refuses: \(error)"))
            }
        }
    }

    private func isWaited(for reason: String) {
        let isNews = state.withLock { state in
            defer { state.isAway = true }
            return !state.isAway
        }
        if isNews { say("\(reason); nothing new is begun meanwhile") }
    }

    private func isBack() {
        let isNews = state.withLock { state in
            defer { state.isAway = false }
            return state.isAway
        }
        if isNews { say("the fleet's database answers again") }
    }

    package func release(_ lease: Lease, with verdict: Verdict?) async throws(JournalError) {
        state.withLock { state in
            state.keeper.ended(lease.serial)
            state.fences[lease.serial] = nil
        }
        let own = FleetLease(serial: lease.serial, epoch: lease.epoch)
        if let verdict {
            await tell(
                Untold(
                    lease: own,
                    verdict: FleetVerdict(
                        rollout: rollout,
                        vehicle: lease.vehicle,
                        run: run,
                        outcome: verdict.outcome,
                        failure: verdict.failure,
                        sentence: verdict.message,
                        version: verdict.versionAfter?.description
                    )
                )
            )
        } else {
            // Without an answer the right runs out by itself, and others wait a little longer.
            do throws(FleetError) { _ = try await fleet.release(own, of: holder) } catch {}
        }
        try await local.release(lease, with: verdict)
    }

    /// Keeps a verdict that the database does not take now; the journal has it in any case.
    private func tell(_ untold: Untold) async {
        do throws(FleetError) {
            try await fleet.settle(untold.lease, untold.verdict, of: holder)
        } catch {
            state.withLock { $0.untold.append(untold) }
        }
    }

    /// Tells what could not be told before, until the database does not answer again.
    private func tellAgain() async {
        while let first = state.withLock({ $0.untold.first }) {
            do throws(FleetError) {
                try await fleet.settle(first.lease, first.verdict, of: holder)
            } catch { return }
            state.withLock { $0.untold.removeAll { $0.lease == first.lease } }
        }
    }

    // MARK: Keeping

    package func fence(of serial: Serial) -> LeaseFence? {
        let fence = LeaseFence { [self] in
            let now = time.now
            return state.withLock { state in
                switch state.keeper.state(of: serial) {
                case .held(let until): until.advanced(by: .zero - terms.reserve) <= now
                case .ending, .lost: true
                // Not granted yet, or given back.
                case nil: false
                }
            }
        }
        state.withLock { $0.fences[serial] = fence }
        return fence
    }

    package var upkeep: (@Sendable () async -> Void)? { { [self] in await keep() } }

    /// A renewal never keeps a link from being cut: each has a task of its own.
    private func keep() async {
        await withDiscardingTaskGroup { group in
            var nextSign = time.now.advanced(by: terms.beat)
            while !Task.isCancelled {
                let now = time.now
                let actions = state.withLock { $0.keeper.tick(now) }
                var isRenewing = false
                for action in actions {
                    if case .renew(let leases) = action {
                        isRenewing = true
                        group.addTask { await self.renew(leases) }
                    } else {
                        perform(action)
                    }
                }
                if isRenewing || now >= nextSign {
                    nextSign = now.advanced(by: terms.beat)
                    group.addTask {
                        await self.giveSign()
                        await self.tellAgain()
                    }
                }
                await time.sleep(for: Self.tick, "the next renewal of rights")
            }
            group.cancelAll()
        }
        await tellAgain()
        let left = state.withLock { $0.untold.count }
        if left > 0 {
            say("\(left) verdicts are in this gateway's journal, and the fleet does not know them")
        }
    }

    private func perform(_ action: LeaseKeeper.Action) {
        switch action {
        case .renew: break
        case .rest(let serial):
            say(
                "the right to module \(serial) was not renewed in time: its work ends at a safe point"
            )
        case .cut(let serial):
            say("the right to module \(serial) is over: its link is closed")
            state.withLock { $0.fences[serial] }?.cut()
        }
    }

    private func renew(_ leases: [FleetLease]) async {
        let sent = time.now
        do throws(FleetError) {
            let kept = try await fleet.renew(leases, of: holder, terms: terms)
            let actions = state.withLock { $0.keeper.renewed(kept, of: leases, sent: sent) }
            isBack()
            for action in actions { perform(action) }
        } catch {
            let now = time.now
            state.withLock { $0.keeper.unanswered(now) }
            isWaited(for: "the fleet's database does not answer: \(error)")
        }
    }

    /// For whoever looks on; a right does not depend on it.
    private func giveSign() async {
        do throws(FleetError) { try await fleet.beat(holder) } catch {}
    }
}
