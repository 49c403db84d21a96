package import Base
import Radio
package import Rollout
import Show
package import Store
import Synchronization

/// Coordinates the gateways of a fleet: a module is touched only with the right of the fleet's
/// database and of this machine's journal.
package final class FleetCoordinator: Coordinator {
    struct State: Sendable {
        var keeper: LeaseKeeper
        var fences: [Serial: LeaseFence] = [:]
        /// Whether it was reported that the database does not answer.
        var isAway = false
        /// The reported reason why the database, which answers, grants no rights.
        var closed: (reason: String, since: Moment)?
        /// When the wait for the database began; nil when there is none.
        var awaySince: Moment?
        var figures = FleetFigures()
        /// The rights under which work is done.
        var work: [Serial: Lease] = [:]
        /// When the rollout is next looked at.
        var nextLook: Moment?
        /// What the next look at the rollout is to answer.
        var asked: (vehicles: [VehicleID], counts: Bool) = ([], false)
        /// The last look at the rollout, until its news is used.
        var glance: Glance?
        /// The recalls that this machine knows, as a look says which they are.
        var recalls: String?
        /// Whether that look found that one gateway is to look at the wave.
        var isWaveDue = false
        /// The last known change of the rollout's vehicles.
        var changes = 0
        /// The history of the database in which `changes` counts.
        var history: String?
        /// Vehicles that this gateway has left to the others, and has not reported to the database yet.
        var left: [LeftVehicle] = []
        var place = Participation.takesPart
        /// Whether that was reported to the database.
        var isPlaceReported = true
        /// Whether a task of this run is handling the end of a wave.
        var isAdvancing = false
        /// In a rehearsal: the wave that soaks, and the simulated time when that began.
        var soaking: (wave: Int, since: Moment)?
        /// Whether another process has this gateway's name: this one begins nothing more.
        var isReplaced = false
        /// The server's clock beside this machine's.
        var clock = ServerClock()
        /// When each vehicle's wait for a gateway that vanished, or for a place at the gate, began.
        var waits: [VehicleID: Moment] = [:]
    }

    struct Glance: Sendable {
        /// The history of the database in which this machine's reports were complete before the look.
        let history: String?
        /// Nil when the database does not have the rollout.
        let seen: FleetGlance?
    }

    /// How this gateway takes part in the rollout.
    enum Participation {
        /// The others wait for this gateway to hear a vehicle.
        case takesPart
        /// Its window is closed: it reads no news and advances no wave.
        case waits
        /// It begins no further vehicle.
        case drains
    }

    let local: LocalCoordinator
    let journal: Journal
    let fleet: FleetDatabase
    let holder: FleetHolder
    let rollout: String
    let run: Int
    let part: FleetPart
    let post: FleetPost
    let hearing: FleetHearing
    private let terms: LeaseTerms
    let time: any Timekeeper
    /// The clock that nothing sets, and the one that shows the time of day.
    package typealias MachineTime = @Sendable () -> (now: Moment, wallTime: WallTime)

    /// The machine's own clocks, also when they are not the run's; nil when they are not compared.
    private let machine: MachineTime?
    /// Reports to people what is waited for.
    private let say: @Sendable (String) -> Void
    let state: Mutex<State>

    /// How long a vehicle waits for a database that does not answer, and all together for one that may not grant.
    static let patience = Duration.seconds(30 * 60)
    private static let tick = Duration.seconds(1)

    package init(
        local: LocalCoordinator,
        journal: Journal,
        fleet: FleetDatabase,
        holder: FleetHolder,
        rollout: String,
        run: Int,
        part: FleetPart,
        terms: LeaseTerms = .standard,
        time: any Timekeeper,
        machine: MachineTime? = nil,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.local = local
        self.journal = journal
        self.fleet = fleet
        self.holder = holder
        self.rollout = rollout
        self.run = run
        self.part = part
        post = FleetPost(journal, fleet, as: holder)
        hearing = FleetHearing(fleet, as: holder, of: rollout, part)
        self.terms = terms
        self.time = time
        self.machine = machine
        self.say = say
        state = Mutex(State(keeper: LeaseKeeper(terms)))
    }

    // MARK: Claiming

    package func claim(
        _ serial: Serial,
        for vehicle: VehicleID,
        paying: Bool,
        nearness: Nearness?,
        at wall: WallTime,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        let own = try await local.claim(
            serial,
            for: vehicle,
            paying: paying,
            nearness: nearness,
            at: wall,
            unless: stop
        )
        guard case .granted(let lease) = own else { return own }
        if state.withLock({ $0.isReplaced }) {
            try await local.release(lease, with: nil)
            return .unknown(Self.replaced(holder))
        }
        let known = try await journal.fleetEpoch(of: serial).map {
            LeaseWish.Known(epoch: $0.epoch, generation: $0.generation)
        }
        let answer = try await ask(
            LeaseWish(
                serial,
                rollout: rollout,
                vehicle: vehicle,
                known: known,
                entry: LeaseWish.Entry(
                    beginning: part.beginning,
                    isPaying: paying,
                    release: part.releases[vehicle],
                    quarantineAfter: part.quarantineAfter,
                    isPartial: part.isPartial,
                    hearing: nearness.map {
                        LeaseWish.Hearing(signal: $0.signal, hasOthers: $0.hasOthers)
                    }
                )
            ),
            unless: stop
        )
        if case .granted = answer { return answer }
        try await local.release(lease, with: nil)
        return answer
    }

    /// Asks until there is a final answer, the work is cancelled, or the time is over.
    private func ask(
        _ wish: LeaseWish,
        unless stop: StopSignal
    ) async throws(JournalError) -> Claim {
        var since = time.now
        var pause = Duration.seconds(1)
        while true {
            let sent = time.now
            let reason: String
            switch try await answer(to: wish) {
            case .granted(let lease, let generation, let failures):
                let granted = Lease(
                    serial: lease.serial,
                    epoch: lease.epoch,
                    vehicle: wish.vehicle,
                    failures: failures
                )
                state.withLock {
                    $0.keeper.granted(lease, sent: sent)
                    $0.work[lease.serial] = granted
                }
                isBack()
                isOpen()
                try await journal.remember(
                    FleetEpoch(serial: lease.serial, epoch: lease.epoch, generation: generation)
                )
                return .granted(granted)
            case .final(let claim): return claim
            case .later(let words):
                reason = words
                isWaited(for: reason)
            case .closed(let words):
                reason = words
                isBack()
                since = min(since, isClosed(because: reason))
            }
            guard since.duration(to: time.now) < Self.patience else { return .unknown(reason) }
            let next = time.now.advanced(by: pause)
            while time.now < next {
                await time.sleep(for: Self.tick, "the fleet's database")
                if stop.isRequested || Task.isCancelled { return .unknown(reason) }
            }
            pause = min(pause * 2, terms.beat)
        }
    }

    private enum Answer {
        case granted(FleetLease, generation: Int, failures: Int)
        case final(Claim)
        /// Worth asking again; the reason is for people.
        case later(String)
        /// Likewise, by a database that answers.
        case closed(String)
    }

    /// Sends this gateway's reports before its request, so that what it takes over is up to date.
    private func answer(to wish: LeaseWish) async throws(JournalError) -> Answer {
        let place: FleetPlaceInHistory
        do throws(FleetError) {
            let sent = machine?().now
            place = try await fleet.place(of: holder.gateway)
            try await compare(place.clock, sent)
        } catch { return later(error) }
        if let error = try await post.deliver(in: place) { return later(error) }
        let answer: Answer
        let accounts: FleetAccounts
        do throws(FleetError) {
            answer = try await claim(wish)
            guard Self.bringsAccounts(answer) else { return answer }
            accounts = try await fleet.accounts(of: wish.vehicle, on: wish.serial)
        } catch { return later(error) }
        if let record = try await journal.execution(rollout: rollout, vehicle: wish.vehicle) {
            try await adopt(accounts, in: record, isHeld: true)
        }
        guard case .granted(let lease, let generation, _) = answer else { return answer }
        let failures = accounts.failures[rollout] ?? 0
        return .granted(lease, generation: generation, failures: failures)
    }

    /// Whether the fleet's records of the vehicle are needed here: it is worked on, or its verdict
    /// is a doubt.
    private static func bringsAccounts(_ answer: Answer) -> Bool {
        switch answer {
        case .granted: true
        case .final(.settled(let end)): end.outcome == .inDoubt
        case .final, .later, .closed: false
        }
    }

    func adopt(
        _ accounts: FleetAccounts,
        in record: ExecutionRecord,
        isHeld: Bool
    ) async throws(JournalError) {
        try await journal.adopt(
            accounts,
            in: record,
            isHeld: isHeld,
            stage: UpdateMemory.Stage.transferring.rawValue,
            at: time.wallTime
        )
    }

    /// Settles here, before a run begins, what others have settled in the meantime.
    package func begin() async throws(JournalError) {
        guard try await post.deliver() == nil else { return }
        for record in try await journal.fleetAccounts() {
            let accounts: FleetAccounts
            do throws(FleetError) {
                accounts = try await fleet.accounts(of: record.vehicle, on: record.serial)
            } catch { return }
            try await adopt(accounts, in: record, isHeld: false)
        }
    }

    private func later(_ error: FleetError) -> Answer {
        error.isAway ? .later(error.sentence) : .final(.unknown(error.sentence))
    }

    private func claim(_ wish: LeaseWish) async throws(FleetError) -> Answer {
        switch try await fleet.claim(wish, by: holder, terms: terms) {
        case .granted(let lease, let generation):
            return .granted(lease, generation: generation, failures: 0)
        case .ended(let end): return .final(.settled(end))
        case .early: return .final(.later(.other("its wave has not begun")))
        case .nearer(let other, let left):
            return .final(
                .later(.nearer("\(other) hears it better and takes it first", left))
            )
        case .full(let count):
            let words =
                "\(count) are under way on all gateways, and one more could overshoot the gate"
            // No gateway may be at work that would end a vehicle which was lost and keeps its place.
            if part.isPartial, waited(for: wish.vehicle) >= Self.patience {
                return .final(.unknown(words))
            }
            return .final(.later(.full(words)))
        case .owing(let vehicle):
            return .final(
                .unknown(
                    "\(vehicle) owes an update of this rollout, and one more could overshoot the gate if that has "
                        + "failed; the next run settles it first"
                )
            )
        case .unlisted:
            return .final(
                .unknown("the fleet's plan of the rollout does not have this vehicle and module")
            )
        case .replaced:
            return .final(.unknown("the rollout was begun again by another gateway"))
        case .stopped(let hold):
            return .final(.stopped(hold))
        case .inhibited(let inhibit):
            return .final(.inhibited(inhibit))
        case .quarantined(let count, let message):
            return .final(
                .quarantined(
                    "in quarantine after \(count) failures, the last: \(message); fix it and "
                        + "say `clear \(wish.vehicle)`"
                )
            )
        case .held(let other):
            guard part.wave != nil else { return .final(.held(by: other)) }
            return .final(.later(.held("\(other) has the right to touch this module")))
        case .resting(let left):
            let words =
                "the gateway that had the right to this module has vanished; it is free in "
                + left.brief
            guard part.wave != nil else { return .final(.unknown(words)) }
            // By the server's clock it is free in a few minutes; a rehearsal's own clock is faster.
            guard waited(for: wish.vehicle) < Self.patience else {
                return .final(.held(by: "a gateway that has vanished"))
            }
            return .final(.later(.other(words)))
        case .behind(let known, let found):
            return .final(
                .unknown(
                    "the fleet's database went back in time: it knows epoch \(found) of this "
                        + "module, and this gateway \(known); an operator looks, and says "
                        + "'yardmaster fleet accept-restore'"
                )
            )
        case .closed(.restored(let words)):
            return .final(.unknown("the fleet's database grants no rights: \(words)"))
        case .closed(.awaits(let names)):
            return .closed(
                "the fleet's database took over from another one, or from a backup, and \(names) has not "
                    + "reported yet what it did before: begin a run there; if that machine is gone for "
                    + "good, an operator says 'yardmaster gateway forget NAME'"
            )
        case .closed(.open), .closed(.waits), .closed(.movedOn):
            let known = wish.known?.generation
            _ = try await fleet.guardedHistory(known: known, terms: terms)
            return .closed(
                "the fleet's database grants no rights for a while: another server took over, "
                    + "or a backup was confirmed"
            )
        }
    }

    /// How long a vehicle has waited since its first refusal.
    private func waited(for vehicle: VehicleID) -> Duration {
        let now = time.now
        return state.withLock { state in
            let since = state.waits[vehicle] ?? now
            state.waits[vehicle] = since
            return since.duration(to: now)
        }
    }

    func isWaited(for reason: String) {
        let now = time.now
        let isNews = state.withLock { state in
            if state.awaySince == nil { state.awaySince = now }
            defer { state.isAway = true }
            return !state.isAway
        }
        if isNews { say("\(reason); nothing new is begun meanwhile") }
    }

    /// Returns since when it grants nothing.
    private func isClosed(because reason: String) -> Moment {
        let now = time.now
        let (since, isNews) = state.withLock { state in
            let known = state.closed
            let since = known?.since ?? now
            state.closed = (reason, since)
            return (since, known?.reason != reason)
        }
        if isNews { say("\(reason); nothing new is begun meanwhile") }
        return since
    }

    private func isOpen() {
        let isNews = state.withLock { state in
            defer { state.closed = nil }
            return state.closed != nil
        }
        if isNews { say("the fleet's database grants rights again") }
    }

    private func isBack() {
        let now = time.now
        let isNews = state.withLock { state in
            if let since = state.awaySince { state.figures.waited += since.duration(to: now) }
            state.awaySince = nil
            defer { state.isAway = false }
            return state.isAway
        }
        if isNews { say("the fleet's database answers again") }
    }

    package func release(_ lease: Lease, with verdict: Verdict?) async throws(JournalError) {
        state.withLock { state in
            state.keeper.ended(lease.serial)
            state.fences[lease.serial] = nil
            state.work[lease.serial] = nil
        }
        // The verdict is reported from the journal, and the report gives the right back.
        try await tell()
        if try await journal.debt(of: lease.serial) != nil, !state.withLock({ $0.isAway }) {
            await tellProgress(of: [lease])
        }
        if verdict == nil {
            let own = FleetLease(serial: lease.serial, epoch: lease.epoch)
            // Without an answer the right expires, and others wait a little longer.
            do throws(FleetError) { _ = try await fleet.release(own, of: holder) } catch {}
        }
        try await local.release(lease, with: verdict)
    }

    // MARK: Reporting

    package var isShared: Bool { true }

    /// The epoch of the right under which this module is worked on.
    func epoch(of serial: Serial) -> Int? { state.withLock { $0.work[serial]?.epoch } }

    /// Sends reports; while the database does not answer, nothing waits for it: the upkeep of the
    /// rights tries again.
    package func tell() async throws(JournalError) {
        guard !state.withLock({ $0.isAway }) else { return }
        try await tellAll()
    }

    private func tellAll(in place: FleetPlaceInHistory? = nil) async throws(JournalError) {
        if let error = try await post.deliver(in: place) { isWaited(for: error.sentence) }
    }

    package func permit(
        _ act: Act,
        on serial: Serial,
        paying: Bool,
        unless stop: StopSignal
    ) async throws(JournalError) -> Permit {
        guard let epoch = epoch(of: serial) else { return .ended }
        let wish = FleetAct(
            act,
            under: FleetLease(serial: serial, epoch: epoch),
            beginning: act.intent.rollout == rollout ? part.beginning : nil,
            isPaying: paying
        )
        while true {
            do throws(FleetError) {
                switch try await fleet.intend(wish, of: holder) {
                case .granted: return .granted
                case .done(let gateway): return .done(by: gateway)
                case .doubt(let gateway): return .doubt(by: gateway)
                case .inhibited(let inhibit):
                    return .inhibited(inhibit)
                case .recalled(let recall): return .recalled(recall)
                case .withdrawn(let sentence): return .withdrawn(sentence)
                case .awaits(let names):
                    return .later(
                        "\(names) may have done `\(act.intent.description)` before another server took over, and has not "
                            + "reported since: begin a run there; if that machine is gone for good, an operator "
                            + "says 'yardmaster gateway forget NAME'"
                    )
                case .fenced:
                    perform(.cut(serial))
                    return .ended
                }
            } catch {
                guard error.isAway else {
                    say(error.sentence)
                    perform(.cut(serial))
                    return .ended
                }
                // A step that leaves the vehicle in the intended state may be done under the
                // existing right.
                if paying, act.intent.effect == .converge { return .granted }
                isWaited(for: error.sentence)
            }
            if stop.isRequested || Task.isCancelled { return .ended }
            await time.sleep(for: Self.tick, "the fleet's database")
            if stop.isRequested || Task.isCancelled { return .ended }
        }
    }

    // MARK: Keeping

    package func fence(of serial: Serial) -> LeaseFence? {
        let fence = LeaseFence(
            mustEnd: { [self] in
                let now = time.now
                return state.withLock { state in
                    switch state.keeper.state(of: serial) {
                    case .held(let until): until.advanced(by: .zero - terms.reserve) <= now
                    case .ending, .lost: true
                    // Not granted yet, or already given back.
                    case nil: false
                    }
                }
            },
            hasEnded: { [self] in
                let now = time.now
                return state.withLock { state in
                    switch state.keeper.state(of: serial) {
                    case .held(let until), .ending(let until): until <= now
                    case .lost: true
                    case nil: false
                    }
                }
            }
        )
        state.withLock { $0.fences[serial] = fence }
        return fence
    }

    package var upkeep: (@Sendable () async -> Void)? { { [self] in await keep() } }

    /// Keeps the rights; a renewal never delays the closing of a link, because each has a task of
    /// its own.
    private func keep() async {
        await withDiscardingTaskGroup { group in
            // The first sign of life, with the run's figures, is given at its beginning.
            var nextSign = time.now
            var nextWave = time.now.advanced(by: FleetDatabase.lookPause)
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
                if part.isRehearsal ? now >= nextWave : takeWaveDue() {
                    nextWave = now.advanced(by: FleetDatabase.lookPause)
                    group.addTask { await self.advance() }
                }
                if isRenewing || now >= nextSign {
                    nextSign = now.advanced(by: terms.beat)
                    group.addTask {
                        let place = await self.giveSign()
                        await self.reportPlace()
                        await self.reportLeft()
                        try? await self.tellAll(in: place)
                    }
                }
                await time.sleep(for: Self.tick, "the next renewal of rights")
            }
            group.cancelAll()
        }
        try? await tellAll()
        await advance(atEnd: true)
        let left = (try? await journal.untoldCount()) ?? 0
        if left > 0 {
            say(
                "\(left) words about what was done are in this gateway's journal, and are reported when a "
                    + "run reaches the fleet again"
            )
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
            let fence = state.withLock { state in
                state.figures.rightsLost += 1
                return state.fences[serial]
            }
            fence?.cut()
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
            isWaited(for: error.sentence)
        }
    }

    /// Signs in again where the database has lost the sign-in of this process, or took it for ended.
    private func signInAgain() async throws(FleetError) {
        let answer = try await fleet.signIn(
            holder,
            program: part.program,
            at: machine?().wallTime ?? time.wallTime
        )
        let isReplaced = answer != .done
        let isNews = state.withLock { state in
            defer { state.isReplaced = isReplaced }
            return isReplaced && !state.isReplaced
        }
        if isNews { say("\(Self.replaced(holder)); this run ends what it has and begins no more") }
    }

    static func replaced(_ holder: FleetHolder) -> String {
        "another machine is at work in the fleet as \(holder.gateway)"
    }

    /// Compares what the server's clock read with this machine's; `sent` is when it was asked.
    ///
    /// A clock that is put forward ends rights under which others are at work: nothing is granted until they have stopped.
    private func compare(_ clock: WallTime, _ sent: Moment?) async throws(FleetError) {
        guard let sent, let machine else { return }
        let now = machine().now
        guard let step = state.withLock({ $0.clock.step(to: clock, asked: sent, at: now) }) else {
            return
        }
        try await fleet.wait(terms: terms)
        say(
            "the clock of the fleet's server was put forward by \(step.brief): no right is granted until those that it "
                + "has ended are not used any more"
        )
    }

    /// Gives a sign of life, which repeats what the database may have lost, and returns which history it has.
    ///
    /// Waves count the gateways that they wait for by it. Nil when the database did not answer.
    @discardableResult
    package func giveSign() async -> FleetPlaceInHistory? {
        let untold = (try? await journal.untoldCount()) ?? 0
        var figures = state.withLock { $0.figures }
        figures.adapters = part.adapters
        figures.links = part.links
        figures.untold = untold
        let work = state.withLock { state in
            FleetWork(
                on: rollout,
                beginning: part.beginning,
                takesPart: state.place == .takesPart && state.isPlaceReported && !part.isPartial
            )
        }
        var place: FleetPlaceInHistory?
        do throws(FleetError) {
            var sent = machine?().now
            place = try await fleet.beat(holder, figures, in: work, at: machine?().wallTime)
            if place == nil {
                try await signInAgain()
                sent = machine?().now
                place = try await fleet.beat(holder, figures, in: work, at: machine?().wallTime)
            }
            if let place { try await compare(place.clock, sent) }
            isBack()
        } catch { return nil }
        await tellProgress(of: state.withLock { Array($0.work.values) })
        await hearing.report()
        return place
    }
}
