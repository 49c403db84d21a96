import Base
import Manifest
import Rollout
import Show
import Store

/// Finds the promises of docs/promises.md that a life of nights has broken.
///
/// It is written from the sentences there and nothing else: it compares the modules' own state with
/// the program's reports. Data that the program reads from its journal counts only as far as it
/// agrees with the modules.
struct NightJudge {
    private let story: NightStory

    /// The facts about a rollout that follow from its reports alone.
    private struct Rollout {
        /// The plan of the last beginning.
        var plan: SHA256Digest?
        /// Whether every vehicle had a verdict in the last report.
        var mayBeFinished = false
        var day: Int64?
        /// The executions that `--limit` has begun, by plan and vehicle.
        var parts: Set<String> = []
        /// Vehicles that have failed in this beginning; `freshly` has those that failed for the
        /// first time since the last `resume`.
        var failed: Set<String> = []
        var freshly: Set<String> = []
        /// Vehicles that failed in runs with `--limit`, by plans that have not begun as a whole
        /// yet.
        var failedInParts: [SHA256Digest: Set<String>] = [:]
    }

    private var rollouts: [String: Rollout] = [:]
    /// How often each deed may have been done on each vehicle by now.
    private var allowed: [String: Int] = [:]
    /// The deeds of each vehicle when an execution of it was first seen.
    private var baselines: [Int: [String]] = [:]
    /// Doubts that were reported and that no person has answered.
    private var doubtful: Set<String> = []
    /// Vehicles whose doubt a person has answered with "it was carried out".
    private var seenTo: Set<String> = []
    /// Vehicles that a person has cleared: their later state is not a fault of the program.
    private var cleared: Set<Int> = []
    /// Executions whose verdict may mean only that the vehicle owes something and was left alone;
    /// true when that is certain.
    private var leftAlone: [Int: Bool] = [:]
    /// Their verdicts then: an execution that a later run was looking at once more gets its verdict back.
    private var leftEnds: [Int: (end: ExecutionRecord.End?, isStill: Bool)] = [:]
    /// Vehicles that an order or another program has updated.
    private var ordered: Set<Int> = []
    /// What people have inhibited, by the answers that they got: nil is the depot.
    private var inhibited: Set<Int?> = []
    /// Executions that have failed by settling what was open before a run, or in a run with `--limit`, whose gate counts
    /// the vehicles of that run alone: the rollout's gate could not keep them from it.
    private var ungated: Set<Int> = []
    private var broken: [BrokenPromise] = []
    private var night = 0
    private var last: NightAccount?
    /// How many runs there were, and how many of them the journal knows; `surely` counts only
    /// those that have certainly begun.
    private var runs = (ever: 0, known: 0)
    private var surely = (ever: 0, known: 0)
    /// What each vehicle had done after the last night, and the debts then.
    private var deeds: [[String]] = []
    private var debts: Set<String> = []
    /// What vehicles may have done that a journal which was put back does not know, until a person
    /// has answered.
    private var lost: [String: Set<String>] = [:]
    /// The plan with which the run's rollout was begun before this night.
    private var planBefore: SHA256Digest?
    /// The plan of the last run of each rollout, even when the run was cut before it had begun.
    private var attempted: [String: SHA256Digest] = [:]

    init(_ story: NightStory) { self.story = story }

    private mutating func no(_ promise: String, _ sentence: String) {
        broken.append(BrokenPromise(promise: promise, night: night, sentence: sentence))
    }

    mutating func verdicts(on account: NightAccount, isCure: Bool) -> [BrokenPromise] {
        (broken, night) = ([], account.number)
        defer { (deeds, debts) = (account.after.vehicles.map(\.deeds), account.after.debts) }
        cleared.formUnion(account.cleared)
        for case .swapped(let one, let other, _) in account.plan.edits {
            // What an order has installed, or a person has cleared, goes along with its module.
            if !ordered.isDisjoint(with: [one, other]) { ordered.formUnion([one, other]) }
            if !cleared.isDisjoint(with: [one, other]) { cleared.formUnion([one, other]) }
        }
        for vehicle in account.sentAgain + account.seenTo {
            doubtful.remove(NightDepot.name(vehicle))
            lost[NightDepot.name(vehicle)] = nil
        }
        for vehicle in account.seenTo { seenTo.insert(NightDepot.name(vehicle)) }
        judgeTime(account)
        judgeKeys(account)
        judgePeople(account)
        judgeRestore(account)
        if account.isRefusedByClock || account.isRefusedByRestore || account.start == .none {
            allowAgain(account)
            judgeStillness(account)
            last = account
            return broken
        }
        planBefore = rollouts[account.rollout]?.plan ?? attempted[account.rollout]
        attempted[account.rollout] = account.carriedOut ?? attempted[account.rollout]
        // S6: between two nights no person lifts an abort.
        if last?.after.holds[account.rollout]?.isForGood == true,
            account.before.holds[account.rollout]?.isForGood != true
        {
            no("S6", "\(account.rollout) was aborted, and is not aborted any more")
        }
        if case .exec(let vehicle, let steps) = account.start, steps.contains(.update) {
            ordered.insert(vehicle)
        }
        ordered.formUnion(account.rivals)
        judgeRecalls(account)
        judgeWayBack(account)
        judgeBeginning(account)
        allowAgain(account)
        judgeReports(account)
        for difference in account.differences { no("R6", difference) }
        for number in account.vehicles { judge(number, account) }
        judgeOthers(account)
        judgeOnce(account)
        noteLeftAlone(account)
        judgeGate(account)
        judgeGateMemory(account)
        judgeWindow(account)
        judgeSaid(account)
        if account.number == 1, account.isWhole, account.ending == .complete,
            account.plan.incidents.isEmpty, account.plan.words.isEmpty, account.plan.edits.isEmpty,
            account.rivals.isEmpty
        {
            for number in account.vehicles { judgeHealth(number, account) }
        }
        last = account
        return broken
    }

    // MARK: W5: a journal that was put back

    /// A person has put back the journal of an earlier night: what was said and reported since then
    /// is not known any more.
    mutating func goBack(to earlier: NightJudge) {
        let now = self
        self = earlier
        // What was done on vehicles stays done.
        (allowed, ordered, deeds) = (now.allowed, now.ordered, now.deeds)
        cleared.formUnion(now.cleared)
        (runs.ever, surely.ever) = (now.runs.ever, now.surely.ever)
        // An update that was begun since then is not known: its module may wait in a bootloader that
        // has an address of its own.
        let unknown = now.debts.subtracting(earlier.debts)
        cleared.formUnion(story.vehicles.indices.filter { unknown.contains(NightDepot.name($0)) })
        for (number, deeds) in now.deeds.enumerated() {
            let before = earlier.deeds.isEmpty ? [] : earlier.deeds[number]
            let more = Set(deeds).filter { deed in
                Self.isOnce(deed) && deeds.count { $0 == deed } > before.count { $0 == deed }
            }
            if !more.isEmpty { lost[NightDepot.name(number), default: []].formUnion(more) }
        }
    }

    /// A person has said `accept-restore`: what may have been done since is in doubt.
    mutating func accept() {
        (runs.known, surely.known) = (runs.ever, surely.ever)
        doubtful.formUnion(lost.keys)
    }

    private mutating func judgeRestore(_ account: NightAccount) {
        if account.isRefusedByRestore {
            if runs.known == runs.ever { no("W5", "a run was refused, and no journal put back") }
            return
        }
        guard account.start != .none, !account.isRefusedByClock else { return }
        if surely.known < surely.ever { no("W5", "a run began on a journal that was put back") }
        runs.ever += 1
        if account.isWhole { surely.ever += 1 }
        (runs.known, surely.known) = (runs.ever, surely.ever)
        for (name, deeds) in lost.sorted(by: { $0.key < $1.key }) {
            guard let number = story.vehicles.indices.first(where: { NightDepot.name($0) == name })
            else { continue }
            let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
            for deed in deeds.sorted() where now.count(of: deed) > then.count(of: deed) {
                no("W5", "\(name) did \(deed) again, and no person has answered")
            }
        }
    }

    // MARK: C7: keys

    private mutating func judgeKeys(_ account: NightAccount) {
        guard let kept = account.keptKeys else { return }
        for (number, vehicle) in account.after.vehicles.enumerated() {
            guard let key = vehicle.key, !kept.contains(key) else { continue }
            no("C7", "no file has the key that opens the module of \(NightDepot.name(number))")
        }
    }

    // MARK: P4, S4: what people were told

    private mutating func judgePeople(_ account: NightAccount) {
        if account.isOfferReal {
            no("P4", "a command that a rehearsal offers works on real vehicles")
        }
        if account.isTwinRead { no("W2", "a list with one module in two rows was read") }
        if account.hasNotified { no("P3", "a rehearsal sends the notices of real runs") }
        for answer in account.inhibitions {
            if answer.isInhibited {
                inhibited.insert(answer.vehicle)
            } else {
                inhibited.remove(answer.vehicle)
            }
        }
        // Requests in the run are judged by themselves.
        guard account.said.isEmpty else { return }
        for number in account.vehicles where !account.rivals.contains(number) {
            let name = NightDepot.name(number)
            guard inhibited.contains(number) || inhibited.contains(nil),
                !account.before.isInhibited(name)
            else { continue }
            no("S4", "\(name) was inhibited by what a person was told, and is not")
        }
    }

    // MARK: E: beginnings

    private mutating func judgeBeginning(_ account: NightAccount) {
        guard let wish = account.wish, let plan = account.carriedOut else { return }
        for record in account.after.records where baselines[record.number] == nil {
            guard let number = account.ids.number(record.vehicle) else { continue }
            baselines[record.number] = account.before.vehicles[number].deeds
        }
        func allow(_ vehicles: [Int]) {
            for number in vehicles {
                for step in wish.steps[number] + account.always {
                    guard let deed = step.deed else { continue }
                    allowed["\(NightDepot.name(number)) \(deed)", default: 0] += 1
                }
            }
        }
        if account.isOrder {
            allow(account.vehicles)
            return
        }
        var rollout = rollouts[account.rollout] ?? Rollout()
        let hold = account.before.holds[account.rollout]
        let day = day(of: account.beganAt, wish)
        let isWhole = account.vehicles.count == wish.listed.count
        let isForced = account.start == .again
        // E1: another plan is used only when the last beginning is over, or when a new day begins.
        if let begun = rollout.plan, begun != plan, !isForced, isWhole {
            let isOver = rollout.mayBeFinished || hold?.isForGood == true
            let isDaily = story.policy.again == "daily" && rollout.day.map { day > $0 } ?? true
            if !isOver, !isDaily {
                no("E1", "\(account.rollout) is not over, and another plan is carried out")
            }
        }
        let isWritten =
            account.counts != nil
            || account.after.records.contains {
                $0.rollout == account.rollout && $0.plan == plan
            }
        if !isWritten {
            // The run was cut before it had begun.
        } else if hold == .paused || (hold?.isForGood == true && rollout.plan == plan && !isForced)
        {
            // Nothing is begun under a hold.
        } else if isWhole {
            let isDue =
                switch story.policy.again {
                case "each-run": rollout.mayBeFinished
                // A rollout of which only parts have run does not begin again: it begins.
                case "daily": rollout.day.map { day > $0 } ?? false
                default: false
                }
            if isForced || rollout.plan != plan || (isDue && hold == nil) {
                let isTakeover = rollout.plan != plan && !isForced && !(isDue && hold == nil)
                allow(
                    account.vehicles.filter {
                        !isTakeover || !rollout.parts.contains("\(plan) \($0)")
                    }
                )
                rollout.plan = plan
                rollout.day = day
                rollout.mayBeFinished = false
                rollout.parts = rollout.parts.filter { !$0.hasPrefix("\(plan) ") }
                // The verdicts of a part of the fleet under this plan are taken over with it.
                let known = isTakeover ? rollout.failedInParts[plan, default: []] : []
                // The rollout may seem to be over although it was continued, because a verdict was
                // taken away.
                if isTakeover || !isKnownToGoOn(account) {
                    (rollout.failed, rollout.freshly) = (known, known)
                    rollout.failedInParts[plan] = nil
                }
            }
        } else if isForced {
            allow(account.vehicles)
            if rollout.plan != plan {
                rollout.parts.formUnion(account.vehicles.map { "\(plan) \($0)" })
            }
        } else if rollout.plan != plan {
            let fresh = account.vehicles.filter { !rollout.parts.contains("\(plan) \($0)") }
            allow(fresh)
            rollout.parts.formUnion(fresh.map { "\(plan) \($0)" })
        }
        if hold == .paused {
            // R2: a held run reports the rollout in its own plan.
            if let begun = rollout.plan, isWhole, begun != plan {
                no("R2", "\(account.rollout) is paused, and reported with another plan")
            }
        } else if let counts = account.counts, isWhole {
            rollout.mayBeFinished = counts.unfinished == 0
        } else if account.counts == nil {
            // The run was cut after the last verdict, which may or may not have been recorded.
            rollout.mayBeFinished = true
        }
        rollouts[account.rollout] = rollout
    }

    /// E4: the day on which the window opens that is open, or else the next one; without a window
    /// the calendar day.
    private func day(of time: WallTime, _ wish: NightWish) -> Int64 {
        let minute = time.milliseconds / 60_000
        guard let window = story.policy.window else { return minute / 1_440 }
        return window.day(at: minute, for: story.kinds(of: wish.listed))
    }

    /// Whether all executions are those of the previous beginning.
    private func isKnownToGoOn(_ account: NightAccount) -> Bool {
        account.vehicles.allSatisfy { number in
            let name = NightDepot.name(number)
            let now = account.after.record(account.rollout, name, by: account.carriedOut)
            let then = account.before.record(account.rollout, name, by: account.carriedOut)
            return now != nil && now?.number == then?.number
        }
    }

    /// Allows each deed of these vehicles once more, after the answer "it was not carried out".
    ///
    /// The answer may have been given in the same run that has begun the deed.
    private mutating func allowAgain(_ account: NightAccount) {
        for name in account.sentAgain.map(NightDepot.name) {
            for key in Array(allowed.keys) where key.hasPrefix("\(name) ") { allowed[key]? += 1 }
        }
    }

    // MARK: C: nothing twice

    private mutating func judgeOnce(_ account: NightAccount) {
        for number in story.vehicles.indices {
            let name = NightDepot.name(number)
            let vehicle = account.after.vehicles[number]
            for deed in Set(vehicle.deeds) where Self.isOnce(deed) {
                let most = allowed["\(name) \(deed)"] ?? 0
                let count = vehicle.count(of: deed)
                if count > most {
                    no("C2", "\(name) has carried out \(deed) \(count) times, of \(most)")
                    allowed["\(name) \(deed)"] = count
                }
            }
        }
    }

    private static func isOnce(_ deed: String) -> Bool {
        !["lock", "ignition-inhibit", "secure-conditions-check"].contains(deed)
    }

    // MARK: R: reports

    private mutating func judgeReports(_ account: NightAccount) {
        let (told, standings) = (account.told, account.standings)
        // N3: reported verdicts are in the journal.
        for (name, outcome) in told {
            guard let record = account.after.record(account.rollout, name, by: account.carriedOut)
            else { continue }
            let stands = record.end?.outcome
            let isTakenAway = account.said.contains { said in
                switch said.word {
                case .retryAll: true
                case .retry(let number): NightDepot.name(number) == name
                default: false
                }
            }
            if stands != outcome, !isTakenAway {
                no("N3", "\(name) was reported as \(outcome) and is \(stands?.rawValue ?? "open")")
            }
        }
        guard let counts = account.counts else { return }
        // R1 and section 8: every vehicle is counted once.
        let names = Set(told.keys).union(standings.keys)
        let left = account.left
        let all = account.vehicles.count + left.count
        if counts.total != all || names.count != all {
            no("R1", "\(counts.total) counted, \(names.count) reported of \(all)")
        }
        // W4: what is owed is told, whether its vehicle is in the list or not.
        for name in left.sorted() {
            let outcome = standings[name]?.verdict?.outcome
            guard outcome?.tally != .failed else { continue }
            no("W4", "\(name) owes something and is \(outcome?.rawValue ?? "not told")")
        }
        var outcomes: [Outcome?] = []
        for name in account.vehicles.map(NightDepot.name) + left {
            if let standing = standings[name] {
                outcomes.append(standing.verdict?.outcome)
            } else {
                outcomes.append(told[name])
            }
        }
        // S6: a run of an aborted rollout leaves no vehicle that was begun without a verdict.
        if case .aborted? = account.ending {
            for number in account.vehicles {
                let name = NightDepot.name(number)
                let outcome = standings[name].map { $0.verdict?.outcome } ?? told[name]
                let record = account.after.record(account.rollout, name, by: account.carriedOut)
                guard outcome == nil, record != nil, record?.plan == account.carriedOut,
                    !account.said.contains(where: { $0.word == .clear(number) })
                else { continue }
                no("S6", "\(account.rollout) is aborted, and \(name) has no verdict")
            }
        }
        if VehicleCounts(outcomes) != counts {
            no("R1", "\(counts.sentence) is not \(VehicleCounts(outcomes).sentence)")
        }
    }

    // MARK: Each vehicle

    private mutating func judge(_ number: Int, _ account: NightAccount) {
        guard let wish = account.wish else { return }
        let name = NightDepot.name(number)
        let kind = story.vehicles[number].kind
        let steps = wish.steps[number]
        let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
        let told = account.told[name]
        let standing = account.standings[name]
        let outcome = standing.map { $0.verdict?.outcome } ?? told
        let isFine = told?.tally == .ok || told?.tally == .current
        let hasDebt = account.after.debts.contains(name)
        // Updates that the other program has begun are not judged.
        let isElsewhere = account.after.debtsOfRival.contains(name)
        // Which module is in a vehicle that is in no list, nobody has said.
        let isUnknown = story.refits.contains(number) && !account.present.contains(number)
        // Section 8: success is proven, and the target version is at rest.
        if isFine, !isElsewhere, !isUnknown, steps.contains(.update),
            let image = NightImage.of(kind)
        {
            let target = image.version(wish.release)
            let isMore = now.version.map { $0 > target } ?? false
            // Only a light shows that its image is on trial: of others this may be an image that the
            // other program has just installed, and that goes back later.
            let isTheirTrial =
                kind != .light && told?.tally == .current && account.rivals.contains(number)
            // The other program may have installed a newer version since then.
            let isTheirs = isMore && account.rivals.contains(number)
            if now.version != target, !isTheirs, !isTheirTrial, !isMore || told?.tally == .ok {
                no("succeeded", "\(name) is \(told?.rawValue ?? "") and runs \(text(now))")
            }
            if now.isInBootloader || !now.isConfirmed {
                no("succeeded", "\(name) is \(told?.rawValue ?? "") and not at rest: \(text(now))")
            }
        }
        // E3, C3: no deed is missing.
        if isFine, !seenTo.contains(name),
            let record = account.after.record(account.rollout, name, by: account.carriedOut),
            let base = baselines[record.number]
        {
            let wanted = (steps + account.always).compactMap(\.deed)
            for deed in Set(wanted).sorted() {
                let done = now.count(of: deed) - base.count { $0 == deed }
                let least = wanted.count { $0 == deed }
                if done < least {
                    let sentence = "did \(deed) \(done) times instead of \(least)"
                    no("lost", "\(name) is \(told?.rawValue ?? "") and \(sentence)")
                }
            }
        }
        // D1, D6.
        if now.isInBootloader, !hasDebt, !isElsewhere, !account.rivals.contains(number),
            !then.isInBootloader || account.before.debts.contains(name),
            !cleared.contains(number)
        {
            no("D1", "\(name) is left in its bootloader without a debt")
        }
        if hasDebt, let told, told.tally != .failed, told.tally != .aborted {
            no("D6", "\(name) has a debt and was reported as \(told.rawValue)")
        }
        if hasDebt, account.isWhole, standing?.debt == nil {
            no("R1", "\(name) has a debt that is not reported")
        }
        // C3, C5.
        let onlyReads = (steps + account.always).allSatisfy(\.onlyReads)
        if account.isWhole, doubtful.contains(name), !onlyReads, outcome != .inDoubt {
            no("C5", "\(name) is in doubt and is reported as \(outcome?.rawValue ?? "open")")
        }
        if told == .inDoubt || standing?.doubt != nil,
            !account.sentAgain.contains(number), !account.seenTo.contains(number)
        {
            doubtful.insert(name)
        }
        // A1, A4.
        if account.always.contains(.command(["lock"])), now.isLocked == false,
            now.deeds.count > then.deeds.count, isFine
        {
            no("A1", "\(name) is \(told?.rawValue ?? "") and is unlocked")
        }
        judgeTouch(number, account)
        judgeConditions(number, account)
        judgeRest(number, account)
    }

    /// D4 and D9: what is denied does not come to run, and what the judge finds unwell is not kept.
    private mutating func judgeConditions(_ number: Int, _ account: NightAccount) {
        let vehicle = story.vehicles[number]
        guard let image = NightImage.of(vehicle.kind), !account.rivals.contains(number) else {
            return
        }
        let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
        let name = NightDepot.name(number)
        let isNew = now.version != then.version || (now.isConfirmed && !then.isConfirmed)
        guard isNew, let version = now.version else { return }
        let denied = account.denied.map(image.version)
        // A module that its judge finds unwell goes back to what it ran before.
        let hasGoneBack = account.told[name] == .rolledBack
        if denied.contains(version), image.version(account.release) != version, !hasGoneBack {
            no("D4", "\(name) has come to run an image that is denied: \(text(now))")
        }
        // Orders and other programs ask no judge.
        if let bad = story.policy.judge, bad >= 0, image.version(bad) == version,
            vehicle.kind == .light,
            now.isConfirmed, !ordered.contains(number)
        {
            no("D9", "\(name) has kept an image that its judge finds unwell: \(text(now))")
        }
    }

    /// B4: after a recall no module gets the image, unless its transfer had begun before.
    private mutating func judgeRecalls(_ account: NightAccount) {
        var scenes = [account.before]
        for (index, said) in account.said.enumerated() where said.word == .recallImages {
            if account.said[..<index].contains(where: { $0.word == .liftRecalls }) { scenes = [] }
            scenes.append(said.scene)
        }
        guard !account.said.contains(where: { $0.word == .liftRecalls }) else { return }
        for scene in scenes where !scene.recalls.isEmpty {
            for number in story.vehicles.indices where !account.rivals.contains(number) {
                let name = NightDepot.name(number)
                guard let image = NightImage.of(story.vehicles[number].kind),
                    !scene.debts.contains(name), !scene.debtsOfRival.contains(name),
                    !cleared.contains(number)
                else { continue }
                let (then, now) = (scene.vehicles[number], account.after.vehicles[number])
                guard now.version != then.version, let version = now.version,
                    let release = NightImage.release(version, of: image.name),
                    scene.recalls.contains(image.digest(release))
                else { continue }
                no("B4", "\(name) got an image that is recalled: \(text(then)), then \(text(now))")
            }
        }
    }

    /// B1: a vehicle that is brought back runs what it ran before the rollout.
    private mutating func judgeWayBack(_ account: NightAccount) {
        guard let plan = account.wayBack else { return }
        // The steps of `always` are done once more.
        for number in account.vehicles {
            for step in account.always {
                guard let deed = step.deed else { continue }
                allowed["\(NightDepot.name(number)) \(deed)", default: 0] += 1
            }
        }
        for vehicle in plan.vehicles {
            guard let number = account.ids.number(vehicle.id), !account.rivals.contains(number),
                let image = vehicle.steps.compactMap(\.update).first.flatMap({
                    plan.image(named: $0.image)
                })
            else { continue }
            let (name, now) = (NightDepot.name(number), account.after.vehicles[number])
            let told = account.told[name]
            guard told?.tally == .ok || told?.tally == .current else { continue }
            if now.version != image.version || now.isInBootloader || !now.isConfirmed {
                no(
                    "B1",
                    "\(name) is \(told?.rawValue ?? "") and does not run \(image.version): \(text(now))"
                )
            }
        }
        let rollout = FrozenPlan.rolledBack(by: plan.name) ?? ""
        if account.isWhole, account.after.holds[rollout] != .recalled {
            no("B3", "\(rollout) is brought back, and not recalled")
        }
    }

    /// D9: nobody sends the rest of an image to a vehicle that has begun to move, when its update is for those that
    /// stand still.
    private mutating func judgeRest(_ number: Int, _ account: NightAccount) {
        let steps = story.vehicles[number].steps
        let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
        let name = NightDepot.name(number)
        guard driving.vehicles.contains(number), account.before.debts.contains(name),
            !then.isInBootloader,
            now.received > then.received, !ordered.contains(number), !isEdited(number),
            let update = steps.firstIndex(of: .update),
            steps[..<update].contains(where: \.isRequirement)
        else { return }
        no("D9", "\(name) is moving and got the rest of its image: \(text(now))")
    }

    /// Whether the vehicle has had other steps than its first ones.
    private func isEdited(_ number: Int) -> Bool {
        story.nights.prefix(night).contains { plan in
            plan.edits.contains { edit in
                if case .steps(number, _) = edit { true } else { false }
            }
        }
    }

    /// Checks that vehicles that must be left alone are not touched.
    private mutating func judgeTouch(_ number: Int, _ account: NightAccount) {
        guard let wish = account.wish, !account.rivals.contains(number) else { return }
        let name = NightDepot.name(number)
        let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
        let isTouched = now.marks != then.marks || now.deeds != then.deeds
        let isChanged =
            now.received > then.received || now.deeds != then.deeds
            || (now.version != then.version && !account.before.debts.contains(name))
        let isLifted = account.said.contains { said in
            said.word == .uninhibit(number) || said.word == .uninhibitDepot
        }
        // S2, S4, D7, A3.
        if account.before.isInhibited(name), !isLifted, isTouched {
            no("S4", "\(name) is inhibited and was touched: \(text(then)) \(text(now))")
        }
        let owes = account.before.debts.contains(name) || account.before.owing.contains(name)
        let isReleased = account.said.contains { $0.word == .resume } || account.start == .again
        let isOver = account.before.holds[account.rollout]?.isForGood == true
        let isNew = isOver && planBefore != account.carriedOut
        if account.before.holds[account.rollout] != nil, !isReleased, !isNew, !owes,
            !account.isOrder, isChanged
        {
            no("S2", "\(name) was changed while \(account.rollout) was held: \(text(now))")
        }
        // D7: on a vehicle in quarantine only owed work is done.
        if account.told[name] == .failed, !owes, isTouched,
            account.sentence(name).hasPrefix("in quarantine")
        {
            no("D7", "\(name) is in quarantine and was touched: \(text(now))")
        }
        // Preconditions.
        if case .require? = wish.steps[number].first, !owes, isChanged,
            driving.vehicles.contains(number), account.always.isEmpty
        {
            no("require", "\(name) is moving and was changed: \(text(now))")
        }
    }

    /// The vehicles that drive now, after the edits of all nights so far; and those whose earlier module was taken out
    /// while it said that it drives, and goes on saying so on the shelf.
    private var driving: (vehicles: Set<Int>, shelf: Set<Int>) {
        var (drives, shelf): (Set<Int>, Set<Int>) = ([], [])
        for plan in story.nights.prefix(night) {
            for edit in plan.edits {
                if case .drives(let vehicle) = edit { drives.insert(vehicle) }
                if case .stands(let vehicle) = edit { drives.remove(vehicle) }
                if case .refitted(let vehicle) = edit, drives.contains(vehicle) {
                    shelf.insert(vehicle)
                }
            }
        }
        if night > story.nights.count { (drives, shelf) = ([], []) }
        return (drives.filter { story.vehicles[$0].kind.isComodule }, shelf)
    }

    /// Checks that vehicles outside every run are unchanged.
    private mutating func judgeOthers(_ account: NightAccount) {
        for number in story.vehicles.indices
        where !account.vehicles.contains(number) && !account.rivals.contains(number) {
            let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
            // An update that another vehicle's run has begun on its module is settled by that vehicle's run.
            let owes = account.before.debts.contains(NightDepot.name(number))
            if story.refits.contains(number), owes || !account.present.contains(number) {
                continue
            }
            if now.marks != then.marks || now.deeds != then.deeds {
                no("E2", "\(NightDepot.name(number)) was not in the run and was touched")
            }
        }
    }

    private mutating func judgeStillness(_ account: NightAccount) {
        for number in story.vehicles.indices where !account.rivals.contains(number) {
            let (then, now) = (account.before.vehicles[number], account.after.vehicles[number])
            if now.marks != then.marks || now.deeds != then.deeds {
                no("E4", "\(NightDepot.name(number)) was touched, and nothing was begun")
            }
        }
    }

    // MARK: G, S, T

    private mutating func judgeGate(_ account: NightAccount) {
        guard let limit = story.policy.gate, !account.isOrder else { return }
        let records = account.after.records.filter { $0.rollout == account.rollout }
        let counted = records.filter { record in
            record.acted && !record.forgiven && record.end?.outcome.tally == .failed
                && record.plan == account.carriedOut && leftAlone[record.number] == nil
        }
        let failed = counted.count
        let news = counted.filter(account.hasNewEnd)
        guard account.vehicles.count == account.wish?.listed.count else {
            ungated.formUnion(news.map(\.number))
            return
        }
        // Debts and doubts from before a run are settled whatever the gate's state is.
        for record in counted {
            let name = account.ids.name(record.vehicle)
            if account.before.debts.contains(name) || account.before.doubts.contains(name) {
                ungated.insert(record.number)
            }
        }
        if counted.count(where: { !ungated.contains($0.number) }) > limit + 1 {
            no("G4", "\(failed) have failed at a gate of \(limit)")
        }
        // A run that was cut as it began may not have come to what runs with `--limit` have left.
        guard !news.isEmpty || account.isWhole else { return }
        let isResumed = account.said.contains { $0.word == .resume }
        if failed > limit, account.after.holds[account.rollout] == nil, !isResumed {
            no("S5", "\(failed) have failed at a gate of \(limit), which has not tripped")
        }
        // An abort is graver than a pause that a person has set in the meantime.
        if failed > limit, story.policy.aborts, !isResumed,
            account.before.holds[account.rollout] == nil,
            account.after.holds[account.rollout]?.isForGood != true
        {
            no("S5", "\(failed) have failed at a gate of \(limit), which has not aborted")
        }
    }

    /// G1: a vehicle that owes something and is inhibited, or cannot be reached because the host's
    /// radio is gone, has failed, but nothing that was done to it is the cause.
    private mutating func noteLeftAlone(_ account: NightAccount) {
        let isHostless = account.plan.incidents.contains { incident in
            switch incident.what {
            case .adapterGone, .serviceGone: true
            case .kill, .power, .refusedWrite, .stop, .clock, .say, .suspended, .cutOff,
                .answerLost, .databaseAway:
                false
            }
        }
        for record in account.after.records where record.rollout == account.rollout {
            let name = account.ids.name(record.vehicle)
            guard account.hasNewEnd(record) else { continue }
            if let known = leftEnds[record.number], known.end == record.end {
                leftAlone[record.number] = known.isStill
                continue
            }
            let number = (Int(name.dropFirst()) ?? 1) - 1
            // It may be the debt of a module that the vehicle had when the rollout was begun.
            let owes =
                account.after.debts.contains(name) || account.after.owing.contains(name)
                || story.refits.contains(number)
            let isInhibited =
                account.before.isInhibited(name) || account.after.isInhibited(name)
                || account.said.contains { $0.scene.isInhibited(name) }
            // The rest of its image is not sent while it moves.
            let isMoving =
                (driving.vehicles.contains(number) || driving.shelf.contains(number))
                && story.vehicles[number].steps.contains(where: \.isRequirement)
            // Nothing is done on a vehicle with another module while its rollout goes on, nor on the module that it
            // had when that is in a vehicle that is inhibited.
            let message = record.end?.message ?? ""
            let isRefitted =
                story.refits.contains(number)
                && (message.contains("in the list now") || message.hasPrefix("inhibited"))
            guard owes, record.end?.outcome == .failed,
                isInhibited || isHostless || isMoving || isRefitted
            else {
                leftAlone[record.number] = nil
                continue
            }
            let isStill =
                account.before.vehicles[number].marks == account.after.vehicles[number].marks
            leftAlone[record.number] = account.before.isInhibited(name) && isStill
            leftEnds[record.number] = (record.end, leftAlone[record.number] == true)
        }
    }

    /// G3: failures that were counted before a `resume` do not trip a gate again.
    private mutating func judgeGateMemory(_ account: NightAccount) {
        guard let limit = story.policy.gate, !account.isOrder,
            var rollout = rollouts[account.rollout], let plan = account.carriedOut
        else { return }
        // A run that was cut after it had recorded a verdict could not report it.
        let written = account.after.records.filter { record in
            record.rollout == account.rollout && record.end?.outcome.tally == .failed
                && account.hasNewEnd(record)
        }
        let told = account.told.filter { $0.value.tally == .failed }.keys
        let failed = Set(told).union(written.map { account.ids.name($0.vehicle) }).filter { name in
            let record = account.after.record(account.rollout, name, by: account.carriedOut)
            return record.map { $0.acted && leftAlone[$0.number] != true } ?? true
        }
        let isWhole = account.vehicles.count == account.wish?.listed.count
        if !isWhole, rollout.plan != plan {
            rollout.failedInParts[plan, default: []].formUnion(failed)
            rollouts[account.rollout] = rollout
            return
        }
        guard rollout.plan == plan else { return }
        let wasPaused = last?.after.holds[account.rollout] == .paused
        if wasPaused, account.plan.words.contains(.resume) { rollout.freshly = [] }
        rollout.freshly.formUnion(failed.filter { !rollout.failed.contains($0) })
        rollout.failed.formUnion(failed)
        var hasTripped = false
        if case .paused(let why)? = account.ending, why.hasPrefix("the gate"),
            account.before.holds[account.rollout] == nil
        {
            hasTripped = true
        }
        if hasTripped, isWhole, rollout.freshly.count <= limit {
            no("G3", "the gate of \(limit) has tripped, and \(rollout.freshly.count) failed again")
        }
        // When nothing is held, `resume` changes nothing.
        let isHeld =
            hasTripped || account.before.holds[account.rollout] != nil
            || account.said.contains { $0.word == .pause }
        if isHeld, account.said.contains(where: { $0.word == .resume }) { rollout.freshly = [] }
        rollouts[account.rollout] = rollout
    }

    private mutating func judgeWindow(_ account: NightAccount) {
        guard let window = story.policy.window, !account.isOrder, !account.isClockSetInside else {
            return
        }
        func judge(_ time: WallTime, _ kinds: [NightStory.Kind], _ what: String) {
            let minute = time.milliseconds / 60_000
            let since = window.minutes(sinceOpeningAt: minute, for: kinds)
            // Vehicles in work when the window closes are finished.
            if since > window.minutes + 45 {
                no("window", "\(what) \(since) minutes after the window opened")
            }
        }
        for contact in account.contacts {
            judge(contact, story.vehicles.map(\.kind), "a link was made")
        }
        for (vehicle, time) in account.starts {
            guard let number = account.ids.number(vehicle) else { continue }
            judge(time, [story.vehicles[number].kind], "\(vehicle) was begun")
        }
    }

    /// S1, S4: a request to a working run is in force from its answer on.
    private mutating func judgeSaid(_ account: NightAccount) {
        for (index, said) in account.said.enumerated() {
            let later = account.said[(index + 1)...]
            if said.word == .pause || said.word == .abort,
                said.scene.holds[account.rollout] != nil,
                !later.contains(where: { $0.word == .resume })
            {
                judgeHeld(account, since: said.scene)
            }
            guard case .inhibit(let number) = said.word else { continue }
            guard !later.contains(where: { $0.word == .uninhibit(number) }) else { continue }
            let (then, now) = (said.scene.vehicles[number], account.after.vehicles[number])
            let name = NightDepot.name(number)
            // When the run has not begun the vehicle, it does not begin it any more.
            if !said.scene.atWork.contains(name), !account.rivals.contains(number),
                now.marks != then.marks || now.deeds != then.deeds
            {
                no("S2", "\(name) was inhibited and was begun: \(text(now))")
            }
            if now.deeds.count > then.deeds.count + 1 {
                let deeds = now.deeds[then.deeds.count...].joined(separator: ", ")
                no("S4", "\(NightDepot.name(number)) was inhibited and did \(deeds)")
            }
        }
    }

    /// S2: after the answer nothing is begun.
    private mutating func judgeHeld(_ account: NightAccount, since scene: NightScene) {
        for number in account.vehicles where !account.rivals.contains(number) {
            let name = NightDepot.name(number)
            let (then, now) = (scene.vehicles[number], account.after.vehicles[number])
            let owes = scene.debts.contains(name) || scene.owing.contains(name)
            guard !scene.atWork.contains(name), !owes else { continue }
            if now.received > then.received || now.deeds != then.deeds {
                no("S2", "\(name) was begun after \(account.rollout) was held: \(text(now))")
            }
        }
    }

    private mutating func judgeTime(_ account: NightAccount) {
        let took = account.before.time.duration(to: account.after.time)
        if took > NightWatch.longest { no("T1", "the run took \(took)") }
        guard account.isWhole, account.ending == .complete else { return }
        let (told, standings) = (account.told, account.standings)
        for number in account.vehicles {
            let name = NightDepot.name(number)
            let outcome = standings[name].map { $0.verdict?.outcome } ?? told[name]
            // An answered doubt takes the verdict away, and the next run goes on.
            guard outcome == nil, !account.said.contains(where: { $0.word == .clear(number) })
            else { continue }
            no("T1", "the run is complete, and \(name) has no verdict")
        }
    }

    // MARK: The end of a life

    /// Vehicles that have to be switched off and on, as the last run says.
    var toBeSwitched: [Int] {
        guard let last else { return [] }
        return last.vehicles.filter {
            last.sentence(NightDepot.name($0)).contains("has to be switched off and on")
        }
    }

    /// The nights after a life: without faults, and with all holds and inhibitions lifted.
    ///
    /// A vehicle that is still not well after them never will be.
    static func cure(_ story: NightStory) -> [NightStory.Night] {
        var first = NightStory.Night()
        first.edits = [.accept]
        first.words = [.uninhibitDepot, .resume, .liftRecalls]
        // With another module a vehicle is not worked on before the rollout begins again (W2).
        if !story.refits.isEmpty { first.start = .again }
        for number in story.vehicles.indices {
            first.words += [.uninhibit(number)]
            first.edits += [.stands(number), .returns(number)]
        }
        var second = NightStory.Night()
        second.words = [.resume, .retryAll]
        return [first, second, second, second]
    }

    /// Faults that no single night shows.
    mutating func last(night: Int) -> [BrokenPromise] {
        (broken, self.night) = ([], night)
        guard let account = last, account.isWhole, account.ending == .complete else { return [] }
        for number in account.vehicles {
            let now = account.after.vehicles[number]
            judgeHealth(number, account)
            let isHopeless = faults(of: number).contains { fault in
                Self.hopeless.contains { fault.hasPrefix($0) }
            }
            guard !isHopeless, !cleared.contains(number), now.isInBootloader else { continue }
            no("bricked", "\(NightDepot.name(number)) stays in its bootloader")
        }
        return broken
    }

    /// The faults of the modules that the vehicle has had.
    private func faults(of number: Int) -> [String] {
        let others = story.refits.contains(number) ? story.refits : []
        return Set(others + [number]).flatMap { story.vehicles[$0].faults }
    }

    /// Checks that a vehicle without a fault is done, after a night without disturbances and at the
    /// end.
    private mutating func judgeHealth(_ number: Int, _ account: NightAccount) {
        let name = NightDepot.name(number)
        let outcome = account.standings[name].map { $0.verdict?.outcome } ?? account.told[name]
        let steps = account.wish?.steps[number] ?? []
        guard faults(of: number).isEmpty, !Self.canFail(steps),
            story.policy.airtime == nil,
            story.policy.quarantine == nil, story.policy.judge != account.wish?.release,
            outcome != .inDoubt, outcome != .aborted,
            !cleared.contains(number)
        else { return }
        // An order has installed a newer version than the plan's.
        if let target = NightImage.of(story.vehicles[number].kind)?.version(
            account.wish?.release ?? 0
        ),
            account.after.vehicles[number].version.map({ $0 > target }) ?? false
        {
            return
        }
        guard outcome?.tally != .ok, outcome?.tally != .current else { return }
        no(
            "heals",
            "\(name) has no fault and is \(outcome?.rawValue ?? "open") in the end: "
                + account.sentence(name)
        )
    }

    /// Whether a vehicle without a fault may fail at these steps.
    static func canFail(_ steps: [NightStory.Step]) -> Bool {
        steps.contains { step in
            switch step {
            case .expect: true
            // Whether a booking has begun depends on the vehicle.
            case .command(let words): words.contains { $0.hasPrefix("check-") }
            case .require, .update, .lights, .feature, .read, .wait: false
            }
        }
    }

    /// Faults from which no run can recover.
    static let hopeless = ["never-returns", "refuses-boot", "flash-full", "refuses-init"]

    private func text(_ vehicle: NightScene.Vehicle) -> String {
        var words = vehicle.version.map { ["\($0)"] } ?? []
        if vehicle.isInBootloader { words.append("in its bootloader") }
        if !vehicle.isConfirmed { words.append("on trial") }
        words += vehicle.deeds
        return words.joined(separator: ", ")
    }
}
