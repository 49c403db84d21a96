import Base
import Families
import Manifest
import Operations
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization

/// The result of a story.
package struct NightResult: Sendable {
    /// A line for each night, always the same for one seed.
    package var trace: [String] = []
    /// A line for each verdict that a run of one machine gave.
    package var told: [String] = []
    package var broken: [BrokenPromise] = []
    package var coverage = NightCoverage()
    package var nights = 0
    /// What each module ran after each night; only for lives of one machine.
    package var versions: [[String]] = []
    /// The records of the modules in the end, by vehicle; only for lives of several gateways.
    package var records: [String: String] = [:]
}

extension NightStory {
    /// Plays the story; throws only when the story itself is invalid.
    package func live() throws -> NightResult {
        let depot = NightDepot(story: self, keys: try NightKeys(self, NightDepot.key))
        let simulated = try SimulatedDepot(try depot.file(), seed: seed)
        let life = try NightLife(depot, simulated)
        do {
            return try simulated.simulation.run(within: life.watch.bounds) {
                () async -> Result<NightResult, any Error> in
                do {
                    return .success(try await life.live())
                } catch { return .failure(error) }
            }.get()
        } catch let deadlock as Simulation.Deadlock {
            var result = NightResult()
            result.broken = [
                BrokenPromise(promise: "T1", night: 0, sentence: deadlock.description)
            ]
            return result
        }
    }
}

/// The digests of plans, as they come.
private final class Plans: Sendable {
    let digests = Mutex<Set<SHA256Digest>>([])
}

/// Nights that follow one another with the same modules and the same journal.
private struct NightLife: Sendable {
    private let depot: NightDepot
    private let simulated: SimulatedDepot
    private let clock: NightClock
    let watch = NightWatch()
    /// The plans of all nights.
    private let plans = Plans()
    /// Nil for a life in which people do nothing on the machine itself.
    private let people: NightPeople?

    private var story: NightStory { depot.story }
    private var simulation: Simulation { simulated.simulation }

    init(_ depot: NightDepot, _ simulated: SimulatedDepot) throws {
        self.depot = depot
        self.simulated = simulated
        clock = NightClock(simulated.simulation.time)
        let hasPeople = depot.story.nights.contains { night in
            night.isElsewhere == true
                || night.edits.contains { edit in
                    switch edit {
                    case .rehearse, .paste: true
                    default: false
                    }
                }
        }
        people = hasPeople ? try NightPeople() : nil
    }

    func live() async throws -> NightResult {
        try await simulated.populate()
        let journal = try await Journal.inMemory(executor: simulation.worldLane)
        let rival = try await Journal.inMemory(executor: simulation.worldLane)
        if story.policy.links > 1 {
            let families = Set(NightStory.Kind.allCases.map(NightDepot.family))
            for number in 0..<story.policy.adapters {
                try await journal.learn(story.policy.links, on: "hci\(number)", for: families)
            }
        }
        let hasPowerCuts = story.nights.contains { night in
            night.incidents.contains { $0.what == .power }
        }
        if hasPowerCuts { try await journal.keepDisk() }
        let hasRestores = story.nights.contains(where: \.putsBack)
        if hasRestores { try await journal.keepWitness() }
        var wish = NightWish(story)
        // The plans by digest, as the program keeps them.
        var archive: [SHA256Digest: (plan: FrozenPlan, wish: NightWish)] = [:]
        var judge = NightJudge(story)
        // The journal before each night, and what the judge knew of it.
        var copies: [(journal: JournalBackup, judge: NightJudge)] = []
        var result = NightResult()
        var names: Set<String> = [wish.name]
        var rivalsEver: [Int] = []
        let nights = story.nights + NightJudge.cure(story)
        for (index, night) in nights.enumerated() {
            let isCure = index >= story.nights.count
            // After a broken promise, further nights are of no use.
            if isCure, !result.broken.isEmpty { break }
            var account = NightAccount(index + 1, night)
            await simulation.time.sleep(for: .seconds(night.pause), "the next night")
            clock.set(by: night.clock)
            if hasRestores { copies.append((try await journal.backup(), judge)) }
            if isCure {
                await depot.waitForWindow(clock, simulation.time)
                await depot.switchOffAndOn(judge.toBeSwitched, wish.ids, simulation.air)
            }
            for edit in night.edits {
                if case .restore(let nights) = edit {
                    // Later copies are of no use any more.
                    let copy = copies[max(0, index - nights)]
                    for later in max(0, index - nights)...index { copies[later] = copy }
                    try await journal.restore(copy.journal)
                    judge.goBack(to: copy.judge)
                }
                if case .accept = edit {
                    if let lost = try await journal.lostTime() {
                        let now = clock.wallTime
                        let saying = Saying("accept-restore", author: "anna", at: now)
                        try await journal.accept(lost, saying: saying)
                    }
                    judge.accept()
                }
                try await enrol(edit, wish, seed: story.seed ^ UInt64(index))
                try rehearse(edit, wish, &account, seed: story.seed ^ UInt64(index) << 8)
                let earlier = wish.ids
                await depot.change(&wish, edit, simulation.air)
                for journal in [journal, rival] {
                    try await rename(edit, from: earlier, to: wish.ids, journal)
                    if case .swapped(let one, let other, isSaid: true) = edit {
                        try await move([one, other], wish.ids, journal)
                    }
                }
            }
            if !isCure {
                result.coverage.note(
                    try await scene(of: journal, names, wish.ids, Set(wish.listed)),
                    story,
                    wish.name,
                    night.disturbances
                )
            }
            account.ids = wish.ids
            account.release = wish.release
            account.listed = Set(wish.listed)
            account.present = account.listed
            for word in night.words {
                try await say(word, journal, isInside: false, account: &account)
            }
            names.insert(wish.name)
            if case .rotate(splits: true) = night.start, let keys = depot.keys {
                try keys.split(try depot.plan(wish), depot.fleet(wish), &wish)
            }
            let plan = try depot.plan(wish)
            archive[plan.digest] = (plan, wish)
            plans.digests.withLock { _ = $0.insert(plan.digest) }
            account.written = plan.digest
            (account.release, account.denied) = (wish.release, wish.denied)
            if case .rotate = night.start {
                let rotating = plan.rotating
                names.insert(rotating.name)
                archive[rotating.digest] = (rotating, wish.rotating(rotating))
                account.written = rotating.digest
            }
            account.before = try await scene(
                of: journal,
                names,
                wish.ids,
                Set(wish.listed),
                beside: rival
            )
            // At the end the other program finishes its own work, too.
            let isOwed = isCure && !account.before.debtsOfRival.isEmpty
            let others = isOwed ? rivalsEver : night.rival?.vehicles ?? []
            account.rivals = Set(others)
            rivalsEver = Array(Set(rivalsEver).union(others)).sorted()
            let other = try rivalPlan(wish, others)
            // The other program works first, so that nothing is in its way.
            if isOwed, let other { try await workElsewhere(other, rival, wish.ids) }
            account.beganAt = clock.wallTime
            try await run(
                plan,
                &account,
                journal,
                archive,
                names,
                &result.coverage,
                beside: isOwed ? nil : other.map { ($0, rival) }
            )
            if let plan = account.wayBack {
                names.insert(plan.name)
                archive[plan.digest] = (plan, wish)
                plans.digests.withLock { _ = $0.insert(plan.digest) }
            }
            let isCut = try await journal.isCut()
            try await journal.cut(after: nil)
            try await journal.refuse(after: nil)
            if isCut, night.incidents.contains(where: { $0.what == .power }) {
                try await journal.losePower()
            }
            account.after = try await scene(
                of: journal,
                names,
                wish.ids,
                Set(wish.listed),
                beside: rival
            )
            result.versions.append(account.after.vehicles.map(\.firmware))
            account.keptKeys = try depot.keys?.kept()
            let broken = judge.verdicts(on: account, isCure: isCure)
            result.broken += broken
            result.coverage.note(account, story)
            result.nights += 1
            for number in account.vehicles {
                let name = NightDepot.name(number)
                guard let outcome = account.told[name] else { continue }
                result.told.append(
                    "\(account.number) \(name) \(outcome.rawValue): \(account.sentence(name))"
                )
            }
            result.trace.append(
                "\(account.number) \(account.rollout) \(account.counts?.sentence ?? "cut") "
                    + "\(account.ending.map { "\($0)" } ?? "") at \(simulation.time.now)"
            )
        }
        if result.broken.isEmpty, let last = result.trace.indices.last {
            result.broken = judge.last(night: last + 1)
        }
        return result
    }

    // MARK: Requests of people

    private func rehearse(
        _ edit: NightStory.Edit,
        _ wish: NightWish,
        _ account: inout NightAccount,
        seed: UInt64
    ) throws {
        switch edit {
        case .paste:
            account.isOfferReal = try people?.isOfferReal() ?? false
            account.hasNotified = try people?.wouldNotify() ?? false
        case .twin(let one, let other):
            guard one != other, wish.listed.contains(one), wish.listed.contains(other) else {
                return
            }
            var twins = wish
            twins.ids.twin(one, other)
            account.isTwinRead = (try? depot.plan(twins)) != nil
        case .rehearse(let number):
            let planned = try depot.plan(wish).vehicles.first { wish.ids.number($0.id) == number }
            guard case .file(let file)? = planned?.secret else { return }
            try people?.rehearseRotation(of: file.path, seed: seed)
        default: break
        }
    }

    /// A person gives a listed vehicle another key.
    private func enrol(
        _ edit: NightStory.Edit,
        _ wish: NightWish,
        seed: UInt64
    ) async throws {
        guard case .enrol(let number, let writes) = edit, let keys = depot.keys,
            story.vehicles[number].kind.isComodule
        else { return }
        let plan = try depot.plan(wish)
        guard let vehicle = plan.vehicles.first(where: { $0.id.text == NightDepot.name(number) })
        else { return }
        await keys.enrol(
            vehicle,
            of: plan,
            dyingAfter: writes,
            over: simulated.radio("hci0"),
            simulation.time,
            seed: seed
        )
    }

    /// A person says with `vehicle renamed` what an edit of the list was.
    private func rename(
        _ edit: NightStory.Edit,
        from earlier: NightNames,
        to now: NightNames,
        _ journal: Journal
    ) async throws {
        let numbers: [Int]
        switch edit {
        case .called(let number, isSaid: true): numbers = [number]
        case .exchanged(let one, let other): numbers = one == other ? [] : [one, other]
        default: return
        }
        var names: [(old: VehicleID, new: VehicleID)] = []
        for number in numbers {
            let listed = try depot.listed(number, now)
            var old = try depot.listed(number, earlier).id
            // Nobody may have said anything about an earlier change.
            for case .elsewhere(_, let known, _) in try await journal.changes(
                in: [ListedVehicle(old, listed.serial)],
                at: clock.wallTime
            ) { old = known }
            names.append((old, listed.id))
        }
        try await rename(names, journal)
    }

    private func rename(
        _ names: [(old: VehicleID, new: VehicleID)],
        _ journal: Journal
    ) async throws {
        let now = clock.wallTime
        let refusal = try await journal.rename(
            names,
            at: now,
            saying: Saying("vehicle renamed", author: "anna", at: now)
        )
        switch refusal {
        case nil: break
        // Of a vehicle that no run has had there is nothing to rename.
        case .unknownVehicle(let vehicle):
            let others = names.filter { $0.old != vehicle }
            if !others.isEmpty { try await rename(others, journal) }
        case let refusal?: throw NightDepot.Mistake(description: "\(refusal)")
        }
    }

    /// A person says with `vehicle moved` which module is in each of these vehicles.
    private func move(
        _ numbers: [Int],
        _ ids: NightNames,
        _ journal: Journal
    ) async throws {
        for number in numbers {
            let listed = try depot.listed(number, ids)
            let saying = Saying("vehicle moved", author: "anna", at: clock.wallTime)
            // Of a module that no run has had there is nothing to say.
            _ = try await journal.move(listed.serial, to: listed.id, saying: saying)
        }
    }

    private func say(
        _ word: NightStory.Word,
        _ journal: Journal,
        isInside: Bool,
        account: inout NightAccount
    ) async throws {
        let now = clock.wallTime
        let (author, inside) = ("anna", isInside)
        // A verb without a directory finds the runs of the machine, or says that it does not.
        if account.plan.isElsewhere == true, let people {
            switch people.reachesRuns() {
            case nil: return
            case false?:
                note(word, &account)
                return
            case true?: break
            }
        }
        let rollout = try await journal.lastRollout()?.rollout
        let ids = account.ids
        // People use the id that the program shows.
        func name(_ vehicle: Int) async throws -> VehicleID {
            let listed = try depot.listed(vehicle, ids)
            guard story.refits.isEmpty else { return listed.id }
            for case .elsewhere(_, let known, _) in try await journal.changes(in: [listed], at: now)
            { return known }
            return listed.id
        }
        func hold(_ kind: Hold.Kind) async throws {
            guard let rollout else { return }
            _ = try await journal.set(
                Hold(kind, rollout, reason: "said", author: author, at: now),
                isAtWork: inside
            )
        }
        func retry(_ vehicles: [Int]) async throws {
            guard let rollout, try await journal.hold(on: rollout)?.kind.isForGood != true else {
                return
            }
            let known = Set(try await journal.executions(rollout: rollout).map(\.vehicle))
            var named: [VehicleID] = []
            for vehicle in vehicles { named.append(try await name(vehicle)) }
            guard named.allSatisfy(known.contains) else { return }
            var quarantined: Set<VehicleID> = []
            if let limit = story.policy.quarantine {
                quarantined = Set(try await journal.failures(atLeast: limit).map(\.vehicle))
            }
            let rearmed = try await journal.retry(
                rollout,
                named,
                among: named.isEmpty ? nil : Set(named),
                whileHeld: { inside },
                quarantined: quarantined,
                tellingRun: inside,
                by: author,
                at: now
            )
            account.sentAgain += vehicles.filter { number in
                rearmed.answered.contains { ids.number($0) == number }
            }
        }
        switch word {
        case .pause: try await hold(.paused)
        case .abort: try await hold(.aborted)
        case .resume: if let rollout { _ = try await journal.resume(rollout) }
        case .retryAll: try await retry([])
        case .retry(let vehicle): try await retry([vehicle])
        case .inhibitDepot:
            try await journal.inhibit(
                Inhibit(nil, reason: "", expires: nil, author: author, at: now)
            )
            note(word, &account)
        case .uninhibitDepot:
            _ = try await journal.uninhibit(nil)
            note(word, &account)
        case .inhibit(let vehicle):
            let isListed = account.listed.contains(vehicle)
            let id = try await name(vehicle)
            // A vehicle of which nobody knows is refused.
            let known = try await journal.vehicles()
            guard isListed || known.contains(id) else { return }
            try await journal.inhibit(
                Inhibit(id, reason: "", expires: nil, author: author, at: now),
                listed: isListed ? try depot.listed(vehicle, ids) : nil
            )
            note(word, &account)
        case .uninhibit(let vehicle):
            _ = try await journal.uninhibit(try await name(vehicle))
            note(word, &account)
        case .clearDepot: _ = try await journal.clearFailures(of: nil)
        case .recallImages:
            for image in NightImage.all {
                let digest = image.digest(account.release)
                try await journal.recall(
                    Recall(digest, name: image.name, reason: "said", author: author, at: now)
                )
            }
        case .liftRecalls:
            for recall in try await journal.recalls() {
                _ = try await journal.lift(recallOf: recall.image)
            }
        case .clear(let vehicle):
            let id = try await name(vehicle)
            let cleared = try await journal.clear(
                [id],
                named: [id],
                whileHeld: { inside },
                by: author,
                at: now
            )
            if !cleared.answered.isEmpty { account.seenTo.append(vehicle) }
            if cleared.atWork == nil { account.cleared.append(vehicle) }
        }
    }

    /// A request was answered as done.
    private func note(_ word: NightStory.Word, _ account: inout NightAccount) {
        switch word {
        case .inhibit(let number): account.inhibitions.append((number, true))
        case .uninhibit(let number): account.inhibitions.append((number, false))
        case .inhibitDepot: account.inhibitions.append((nil, true))
        case .uninhibitDepot: account.inhibitions.append((nil, false))
        case .pause, .resume, .abort, .retryAll, .retry, .clear, .clearDepot, .recallImages,
            .liftRecalls:
            break
        }
    }

    // MARK: The run

    /// Collects what happens in a run, from outside and by its events.
    private final class Doings: Sendable {
        struct State {
            var events: [Event.Body] = []
            var account: NightAccount
            var failure: (any Error)?
            var states: [String: ExecutionState] = [:]
            var disturbed: [(NightStory.Event, [String: ExecutionState])] = []
        }

        let state: Mutex<State>
        private let host: Mutex<NightHost?> = Mutex(nil)

        init(_ account: NightAccount) { state = Mutex(State(account: account)) }

        /// The host that is notified of states, because incidents may wait for them.
        func tell(_ host: NightHost) { self.host.withLock { $0 = host } }

        func hear(_ event: Event) {
            if case .stateChanged(_, let now, _, _) = event.body {
                host.withLock { $0 }?.entered(now.rawValue)
            }
            state.withLock { state in
                state.events.append(event.body)
                switch event.body {
                case .stateChanged(let id, let now, _, _): state.states[id.text] = now
                case .vehicleEnded(let id, _): state.states[id.text] = nil
                case .attemptStarted(let id, _, _, _):
                    state.account.starts.append((id, event.time))
                default: break
                }
            }
        }
    }

    private func run(
        _ written: FrozenPlan,
        _ account: inout NightAccount,
        _ journal: Journal,
        _ archive: [SHA256Digest: (plan: FrozenPlan, wish: NightWish)],
        _ names: Set<String>,
        _ coverage: inout NightCoverage,
        isFirst: Bool = true,
        beside other: (plan: FrozenPlan, journal: Journal)?
    ) async throws {
        account.start = account.plan.start
        guard account.start != .none else { return }
        let back =
            account.start == .rollback ? try await wayBack(from: written, journal, archive) : nil
        account.wayBack = back?.plan
        let chosen =
            if let back { Chosen(plan: back.plan) } else {
                try choose(written, account.start, account.ids)
            }
        guard let chosen else {
            account.start = .none
            return
        }
        guard try await journal.lostTime() == nil else {
            account.isRefusedByRestore = true
            return
        }
        var plan = chosen.plan
        var again = chosen.isOrder
        account.rollout = plan.name
        let record = try await journal.rollout(plan.name)
        var begun: WallTime?
        var executions: [ExecutionRecord] = []
        if let record {
            begun = try await journal.run(record.began)?.started
            executions = try await journal.executions(rollout: plan.name, plan: record.plan)
        }
        let isForced = account.start == .again || back?.isAgain == true
        do throws(RolloutStart.ClockBehind) {
            var isKept = false
            if !chosen.isOrder {
                let start = RolloutStart(
                    plan,
                    isWhole: chosen.isWhole,
                    zone: .utc,
                    again: isForced
                )
                if try start.goesOn(with: record, begun: begun, at: clock.wallTime),
                    let kept = record.flatMap({ archive[$0.plan] })
                {
                    plan = kept.plan.following(executions).beside(plan)
                    isKept = true
                }
            }
            if isForced, !isKept { again = true }
            if !again, !isKept {
                let isWhole = chosen.numbers.map { $0.count >= plan.vehicles.count } ?? true
                again = try RolloutStart(plan, isWhole: isWhole, zone: .utc)
                    .beginsAgain(record, begun: begun, at: clock.wallTime)
            }
        } catch {
            account.isRefusedByClock = true
            return
        }
        let called = account.ids
        let ids = plan.vehicles.map(\.id).filter { id in
            guard let chosen = chosen.numbers else { return true }
            return called.number(id).map(chosen.contains) ?? false
        }
        // `--limit` matches none of the plan's vehicles.
        guard !ids.isEmpty else {
            account.start = .none
            return
        }
        account.vehicles = ids.compactMap { account.ids.number($0) }
        account.carriedOut = plan.digest
        account.wish = back == nil ? archive[plan.digest]?.wish : nil
        if back != nil { account.always = depot.always(archive[written.digest]?.wish) }
        if case .exec(let vehicle, let steps) = account.start {
            account.wish = archive[written.digest]?.wish
            account.wish?.steps[vehicle] = steps
        }
        if !chosen.isOrder, let wish = account.wish {
            account.always = plan.always.isEmpty ? [] : depot.always(wish)
        }
        let kept = archive.mapValues(\.plan)
        let denied = Set(written.trust.denied)
        guard plan.images.allSatisfy({ !denied.contains($0.digest) }) else {
            // The program goes on with no image that the files deny.
            account.start = .none
            return
        }
        // The list may have a known module under another id: then a person says what has happened.
        let open = try await journal.changes(in: plan.listed, at: clock.wallTime)
            .compactMap { change -> (old: VehicleID, new: VehicleID)? in
                guard case .elsewhere(let listed, let known, _?) = change else { return nil }
                return (known, listed.id)
            }
        if !open.isEmpty {
            guard isFirst else { throw NightDepot.Mistake(description: "refused again: \(open)") }
            coverage.noteRefusal()
            if story.refits.isEmpty {
                try await rename(open, journal)
            } else {
                let moved = open.compactMap { account.ids.number($0.new) }
                try await move(moved, account.ids, journal)
            }
            return try await run(
                written,
                &account,
                journal,
                archive,
                names,
                &coverage,
                isFirst: false,
                beside: other
            )
        }
        account.listed = Set(plan.list.compactMap { account.ids.number($0.id) })
        let doings = Doings(account)
        let second = account.plan.rival?.second ?? 0
        async let theirs: Void = workElsewhere(other, account.ids, after: .seconds(second))
        try await work(
            plan,
            ids,
            again: again,
            isOrder: chosen.isOrder,
            recalling: back?.hold,
            doings,
            journal,
            names,
            kept: kept,
            denying: denied
        )
        try await theirs
        let (ended, failure) = doings.state.withLock { ($0, $0.failure) }
        account = ended.account
        account.events = ended.events
        for (what, states) in ended.disturbed { coverage.note(what, states) }
        if let failure { throw failure }
    }

    // MARK: Another program

    /// The plan of the other program: it installs the same image on its vehicles.
    private func rivalPlan(_ wish: NightWish, _ vehicles: [Int]) throws -> FrozenPlan? {
        guard !vehicles.isEmpty else { return nil }
        var theirs = wish
        theirs.name = "rival"
        theirs.listed = vehicles
        for vehicle in vehicles { theirs.steps[vehicle] = [.update] }
        return try depot.plan(theirs)
    }

    private func workElsewhere(
        _ other: (plan: FrozenPlan, journal: Journal)?,
        _ ids: NightNames,
        after pause: Duration
    ) async throws {
        guard let other else { return }
        await clock.sleep(for: pause, "another program to begin")
        try await workElsewhere(other.plan, other.journal, ids)
    }

    /// A run of the other program, over the same adapters, without incidents of its own.
    private func workElsewhere(
        _ plan: FrozenPlan,
        _ journal: Journal,
        _ ids: NightNames
    ) async throws {
        for vehicle in plan.vehicles { _ = try await journal.uninhibit(vehicle.id) }
        _ = try await journal.resume(plan.name)
        let host = NightHost([], clock: clock) { _ in }
        var account = NightAccount(0, NightStory.Night())
        account.ids = ids
        let doings = Doings(account)
        _ = try await carryOut(
            plan,
            plan.vehicles.map(\.id),
            again: true,
            isOrder: false,
            doings,
            journal,
            host,
            StopSignal()
        )
    }

    /// A rollback of the rollout in the files, as `rollback` finds it.
    private struct Back {
        let plan: FrozenPlan
        let hold: Hold
        let isAgain: Bool
    }

    /// Nil when there is nothing to bring back.
    private func wayBack(
        from written: FrozenPlan,
        _ journal: Journal,
        _ archive: [SHA256Digest: (plan: FrozenPlan, wish: NightWish)]
    ) async throws -> Back? {
        let (rollout, name) = (written.name, FrozenPlan.rollback(of: written.name))
        guard let record = try await journal.rollout(rollout),
            let known = archive[record.plan]?.plan
        else { return nil }
        let executions = try await journal.executions(rollout: rollout)
        let last = try await journal.lastRun(rollout: name)
        let isRecalled = record.hold?.kind == .recalled
        let kept = isRecalled ? last.flatMap { archive[$0.plan]?.plan } : nil
        let candidates = NightImage.all.flatMap { image in
            image.versions.indices.map { release in
                WayBackSearch.Candidate(
                    PlannedImage(
                        name: image.name,
                        path: image.name,
                        digest: image.digest(release),
                        version: image.version(release),
                        for: image.family
                    )
                )
            }
        }
        let transfers = try await journal.look { view throws(JournalError) in
            try view.transfers()
        }
        let from = known.following(executions).beside(written)
        let answer = WayBackSearch(
            from: from,
            transfers,
            among: candidates,
            recalls: try await journal.recalls()
        ) { vehicle, _, image in
            // The two images of family nordic have the same versions, and each is of one protocol.
            guard image.fits.family == .nordic else { return nil }
            let isFitting = (image.name == "old-tag") == (vehicle.profile == "legacy")
            return isFitting ? nil : "it is for modules of another profile"
        }.answer()
        let plan = kept ?? from.returning(answer.way)
        guard !plan.vehicles.isEmpty else { return nil }
        return Back(
            plan: plan,
            hold: Hold(.recalled, rollout, reason: "said", author: "anna", at: clock.wallTime),
            isAgain: !isRecalled && last != nil
        )
    }

    private struct Chosen {
        var plan: FrozenPlan
        /// The vehicles of the run; nil for all of the plan.
        var numbers: Set<Int>?
        var isOrder = false
        /// Whether all vehicles of the plan are in the run.
        var isWhole = true
    }

    private func choose(
        _ plan: FrozenPlan,
        _ start: NightStory.Start,
        _ ids: NightNames
    ) throws -> Chosen? {
        switch start {
        case .run, .again: return Chosen(plan: plan)
        case .none, .rollback: return nil
        case .rotate:
            let rotating = plan.rotating
            let shared = SharedSecrets(rotating.holders, credentials: nil)
            // The command is refused where a key is not the vehicle's own.
            let mayRotate = rotating.vehicles.allSatisfy { vehicle in
                guard case .file(let file)? = vehicle.secret else { return true }
                return shared.others(than: vehicle.id, at: file.path).isEmpty
            }
            guard depot.keys != nil, mayRotate, !rotating.vehicles.isEmpty else { return nil }
            return Chosen(plan: rotating)
        case .limit(let numbers):
            let chosen = Set(plan.vehicles.compactMap { ids.number($0.id) }).intersection(numbers)
            guard !chosen.isEmpty else { return nil }
            return Chosen(
                plan: plan,
                numbers: chosen,
                isWhole: chosen.count == plan.vehicles.count
            )
        case .exec(let vehicle, let steps):
            guard let id = plan.vehicles.map(\.id).first(where: { ids.number($0) == vehicle })
            else { return nil }
            let kind = story.vehicles[vehicle].kind
            let text = steps.map { depot.order($0, kind) }.joined(separator: "; ")
            let images = Set(plan.images.map(\.name))
            // An order for an image that the manifest does not have is refused.
            guard let read = OrderText.steps(text, images: images, .init()) else { return nil }
            let order = plan.ordering(read, to: [id], as: "exec-\(clock.now.nanoseconds)")
            guard JobBuilder(order).mistakes.isEmpty else { return nil }
            return Chosen(plan: order, numbers: [vehicle], isOrder: true)
        }
    }

    private func work(
        _ plan: FrozenPlan,
        _ ids: [VehicleID],
        again: Bool,
        isOrder: Bool,
        recalling hold: Hold?,
        _ doings: Doings,
        _ journal: Journal,
        _ names: Set<String>,
        kept: [SHA256Digest: FrozenPlan],
        denying denied: Set<SHA256Digest>
    ) async throws {
        let night = doings.state.withLock { $0.account.plan }
        let stop = StopSignal()
        let host = NightHost(night.incidents, clock: clock) { what in
            doings.state.withLock { $0.disturbed.append((what, $0.states)) }
            do {
                switch what {
                case .kill, .power: try await journal.cut(after: 0)
                case .refusedWrite: try await journal.refuse(after: 0)
                case .stop: stop.request()
                case .clock(let seconds): clock.set(by: seconds)
                case .say(let word):
                    var account = doings.state.withLock { $0.account }
                    try await say(word, journal, isInside: true, account: &account)
                    let scene = try await scene(of: journal, names, account.ids, account.listed)
                    account.said.append((word, scene))
                    let said = account
                    doings.state.withLock { $0.account = said }
                case .adapterGone, .serviceGone, .suspended, .cutOff, .answerLost, .databaseAway:
                    break
                }
            } catch is JournalError {
                // A request is refused when the journal cannot be written.
            } catch { doings.state.withLock { $0.failure = error } }
        }
        doings.tell(host)
        for incident in night.incidents {
            guard case .write(let count) = incident.at else { continue }
            if case .refusedWrite = incident.what {
                try await journal.refuse(after: count)
            } else {
                try await journal.cut(after: count)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for incident in night.incidents {
                guard case .second(let second) = incident.at else { continue }
                group.addTask {
                    await clock.sleep(for: .seconds(second), "an incident")
                    if !Task.isCancelled { await host.strike(incident.what) }
                }
            }
            do {
                let surfaces = NightSurfaces()
                let result = try await carryOut(
                    plan,
                    ids,
                    again: again,
                    isOrder: isOrder,
                    recalling: hold,
                    doings,
                    journal,
                    host,
                    stop,
                    kept: kept,
                    denying: denied,
                    showing: surfaces
                )
                doings.state.withLock {
                    $0.account.differences = surfaces.differences
                    $0.account.counts = result.vehicles
                    $0.account.ending = result.ending
                }
            } catch let error as JournalError where error.kind == .disk || error.kind == .full {
                // The next night is a new process.
            } catch { doings.state.withLock { $0.failure = error } }
            // A link may have been made while the process died.
            if (try? await journal.isCut()) ?? false { await host.dies() }
            group.cancelAll()
        }
        doings.state.withLock { $0.account.contacts = host.contacts }
    }

    private func carryOut(
        _ plan: FrozenPlan,
        _ ids: [VehicleID],
        again: Bool,
        isOrder: Bool,
        recalling hold: Hold? = nil,
        _ doings: Doings,
        _ journal: Journal,
        _ host: NightHost,
        _ stop: StopSignal,
        kept: [SHA256Digest: FrozenPlan] = [:],
        denying denied: Set<SHA256Digest> = [],
        showing surfaces: NightSurfaces? = nil
    ) async throws -> RunResult {
        let job = try NightRun(
            plan,
            of: ids,
            depot,
            called: doings.state.withLock { $0.account.ids },
            watched: watch,
            kept: kept,
            denying: denied
        )
        let run = try await journal.beginRun(
            rollout: plan.name,
            plan: plan.digest,
            listing: plan.listed,
            at: clock.wallTime,
            isOrder: isOrder
        )
        return try await job.carryOut(
            run,
            again: again,
            recalling: hold,
            over: (0..<story.policy.adapters).map { number in
                NightRadio(radio: simulated.radio("hci\(number)"), host: host)
            },
            journal,
            clock,
            stop,
            showing: surfaces
        ) { doings.hear($0) }
    }

    // MARK: The scene

    private func scene(
        of journal: Journal,
        _ names: Set<String>,
        _ ids: NightNames,
        _ list: Set<Int>,
        beside rival: Journal? = nil
    ) async throws -> NightScene {
        let depot = depot
        var scene = NightScene()
        scene.ids = ids
        scene.vehicles = await simulation.air.arrange { NightScene.modules(depot, ids, in: $0) }
        // Where a module is that the list lacks, nobody has said.
        let owners = depot.numbers(ids).filter { list.contains($0.value) }
            .mapValues(NightDepot.name)
        func owner(_ debt: Debt) -> String { owners[debt.serial.text] ?? ids.name(debt.vehicle) }
        scene.debts = Set(try await journal.debts().map(owner))
        for name in names.sorted() {
            var records = try await journal.executions(rollout: name)
            // A part by another plan stands beside the execution of the rollout's own plan.
            for plan in plans.digests.withLock({ $0 }) {
                for record in try await journal.executions(rollout: name, plan: plan)
                where !records.contains(where: { $0.number == record.number }) {
                    records.append(record)
                }
            }
            scene.records += records.sorted { $0.number < $1.number }
            scene.holds[name] = try await journal.hold(on: name)?.kind
        }
        scene.recalls = Set(try await journal.recalls().map(\.image))
        scene.debtsOfRival = Set(try await rival?.debts().map(owner) ?? [])
        scene.doubts = Set(
            try await journal.doubts(of: nil).map { ids.name($0.intent.vehicle) }
        )
        scene.owing = Set(try await journal.owed(by: nil).map { ids.name($0.vehicle) })
        scene.atWork = Set(try await journal.vehiclesAtWork().map { ids.name($0) })
        for inhibit in try await journal.inhibits(at: clock.wallTime) {
            if let vehicle = inhibit.vehicle {
                scene.inhibited.insert(ids.name(vehicle))
            } else {
                scene.isDepotInhibited = true
            }
        }
        scene.time = clock.now
        return scene
    }
}
