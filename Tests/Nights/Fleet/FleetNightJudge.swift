import Base
import Show
import Store

/// Says which promises of docs/promises.md a life of several gateways has broken.
///
/// Written from its sentences: what modules say of themselves, what was said to them, and what the
/// tables had at every change of a right are held against what the gateways report.
struct FleetNightJudge {
    private let story: FleetNightStory
    private let serials: [String]
    private var broken: [BrokenPromise] = []
    private var night = 0
    private var last: FleetNightAccount?
    private var cleared: Set<Int> = []
    private var seenTo: Set<Int> = []
    /// How often a person has said of a vehicle that a step was not carried out.
    private var sentAgain: [Int: Int] = [:]
    /// Verdicts that starts gave under a right, and that the database must have in the end.
    private var verdicts: [(instance: String, vehicle: String, outcome: String, night: Int)] = []

    init(_ story: FleetNightStory) {
        self.story = story
        let depot = NightDepot(story: story.depot)
        serials = story.vehicles.indices.map { Serial(depot.serial($0))?.text ?? "" }
    }

    private mutating func no(_ promise: String, _ sentence: String) {
        broken.append(BrokenPromise(promise: promise, night: night, sentence: sentence))
    }

    mutating func verdicts(on account: FleetNightAccount) -> [BrokenPromise] {
        (broken, night) = ([], account.number)
        cleared.formUnion(account.cleared)
        seenTo.formUnion(account.seenTo)
        for vehicle in account.sentAgain { sentAgain[vehicle, default: 0] += 1 }
        judgeTime(account)
        judgeRights(account)
        judgeTouches(account)
        judgeWaves(account)
        judgeOnce(account)
        judgeGate(account)
        judgeDebts(account)
        judgeStillness(account)
        judgeReports(account)
        noteVerdicts(account)
        last = account
        return broken
    }

    // MARK: L1 to L3: rights

    private mutating func judgeRights(_ account: FleetNightAccount) {
        var now: [String: FleetNightTables.Right] = [:]
        for right in account.tables.rights {
            defer { now[right.serial] = right }
            guard let before = now[right.serial] else { continue }
            if right.epoch < before.epoch {
                no("L1", "the epoch of \(right.serial) went back to \(right.epoch)")
            }
            guard let holder = right.holder, let other = before.holder, holder != other else {
                continue
            }
            if right.epoch == before.epoch {
                no("L1", "\(right.serial) has two holders at epoch \(right.epoch)")
            }
            if let end = before.expires, end.duration(to: right.at) < .seconds(100) {
                no(
                    "L3",
                    "\(right.serial) was taken over \(end.duration(to: right.at)) after its end"
                )
            }
        }
        for right in account.tables.rights where right.isNew && right.at >= account.began {
            let name = right.vehicle ?? right.serial
            if let hold = right.hold, !right.owes {
                no("L10", "\(name) was granted while its rollout was \(hold)")
            }
            if right.isEarly, !right.owes { no("L11", "\(name) was granted before its wave") }
        }
    }

    /// L2: every word to a module lies within a right of the one who says it.
    private mutating func judgeTouches(_ account: FleetNightAccount) {
        var rights: [String: [FleetNightTables.Right]] = [:]
        for right in account.tables.rights { rights[right.serial, default: []].append(right) }
        var told: Set<Int> = []
        for touch in account.touches where !told.contains(touch.vehicle) {
            let list = rights[serials[touch.vehicle]] ?? []
            // As it stood before that moment, and after each change in it: the server's clock shows milliseconds.
            let moment = Moment(nanoseconds: touch.at.nanoseconds / 1_000_000 * 1_000_000)
            let first = (list.lastIndex { $0.at < moment }) ?? list.startIndex
            let isAllowed = list[min(first, list.count)...].prefix { $0.at <= touch.at }
                .contains {
                    $0.holder == touch.instance && $0.expires.map { $0 > touch.at } ?? false
                }
            if !isAllowed {
                told.insert(touch.vehicle)
                no(
                    "L2",
                    "\(NightDepot.name(touch.vehicle)) was spoken to at \(touch.at) by "
                        + "\(touch.instance), who had no right"
                )
            }
        }
    }

    // MARK: L11

    /// Each beginning begins at its first wave, and each further wave has waited for what lies between.
    private mutating func judgeWaves(_ account: FleetNightAccount) {
        var waves: [String: (beginning: Int, wave: Int, resumed: Int)] = [:]
        for wave in account.tables.waves {
            let before = waves[wave.rollout]
            defer { waves[wave.rollout] = (wave.beginning, wave.wave, wave.resumed) }
            guard wave.at >= account.began else { continue }
            if let before, before.beginning == wave.beginning {
                guard wave.wave != before.wave else { continue }
                if wave.wave != before.wave + 1 {
                    no("L11", "\(wave.rollout) went from wave \(before.wave) to \(wave.wave)")
                }
                // What a person has resumed is judged by what is promised of `resume`.
                if wave.resumed == before.resumed { judgeBetween(wave, account) }
            } else if wave.wave != 0 {
                no(
                    "L11",
                    "beginning \(wave.beginning) of \(wave.rollout) began at wave \(wave.wave)"
                )
            }
        }
    }

    private mutating func judgeBetween(
        _ wave: FleetNightTables.Wave,
        _ account: FleetNightAccount
    ) {
        let name = "wave \(wave.wave) of \(wave.rollout)"
        if let soak = story.policy.soak, wave.soaked.map({ $0 < soak }) ?? true {
            no("L11", "\(name) began \(wave.soaked ?? 0) s after the one before, of \(soak)")
        }
        if story.policy.asks { no("L11", "\(name) began, and nobody has said so") }
        let check = FleetNightAccount.Check(
            rollout: wave.rollout,
            beginning: wave.beginning,
            wave: wave.wave - 1
        )
        if story.policy.checks == true, !account.checks.contains(check) {
            no("L11", "\(name) began unchecked")
        }
    }

    /// A gate counts what its beginning's vehicles did, and nothing else.
    private mutating func judgeGate(_ account: FleetNightAccount) {
        for (rollout, gate) in account.tables.gates.sorted(by: { $0.key < $1.key })
        where gate.said != gate.summed {
            no("L11", "the gate of \(rollout) says \(gate.said), and its vehicles \(gate.summed)")
        }
        let isUntaken = [FailureClass.wrongVersion.rawValue, FailureClass.rolledBack.rawValue]
        for execution in account.tables.executions
        where execution.failure.map(isUntaken.contains) ?? false {
            guard !execution.isTouched, !execution.isForgiven else { continue }
            let words = "the gate of \(execution.rollout) has not counted it"
            no("L11", "\(execution.vehicle) did not take its image, and \(words)")
        }
        guard let limit = story.policy.gate else { return }
        var counts: [String: (all: Int, settled: Int)] = [:]
        for execution in account.tables.allExecutions
        where execution.beginning >= account.tablesBefore.beginnings[execution.rollout] ?? 1 {
            guard execution.isTouched, !execution.isForgiven, execution.outcome?.tally == .failed
            else { continue }
            // What was begun before this night, and is settled whatever the gate says.
            let isSettled =
                account.tablesBefore.debts.contains(execution.vehicle)
                || account.tablesBefore.doubts.contains(execution.vehicle)
            let name = "beginning \(execution.beginning) of \(execution.rollout)"
            counts[name, default: (0, 0)].all += 1
            if isSettled { counts[name, default: (0, 0)].settled += 1 }
        }
        for (name, count) in counts.sorted(by: { $0.key < $1.key })
        where count.all - count.settled > limit + 1 {
            no("L11", "\(count.all) have failed at a gate of \(limit) in \(name)")
        }
    }

    // MARK: C: nothing twice, none lost

    private mutating func judgeOnce(_ account: FleetNightAccount) {
        for number in story.vehicles.indices {
            var allowed: [String: Int] = [:]
            for beginning in account.beginnings where beginning.wish.listed.contains(number) {
                for step in beginning.wish.steps[number] + beginning.always {
                    if let deed = step.deed { allowed[deed, default: 0] += 1 }
                }
            }
            let vehicle = account.after[number]
            for deed in Set(vehicle.deeds).sorted() where Self.isOnce(deed) {
                let most = allowed[deed].map { $0 + (sentAgain[number] ?? 0) } ?? 0
                let count = vehicle.count(of: deed)
                if count > most {
                    no(
                        "C2",
                        "\(NightDepot.name(number)) has carried out \(deed) \(count) times, of \(most)"
                    )
                }
            }
        }
    }

    private static func isOnce(_ deed: String) -> Bool {
        !["lock", "ignition-inhibit", "secure-conditions-check"].contains(deed)
    }

    // MARK: D

    private mutating func judgeDebts(_ account: FleetNightAccount) {
        let debts = account.tables.debts.union(account.debts)
        for number in story.vehicles.indices {
            let name = NightDepot.name(number)
            if account.after[number].isInBootloader, !debts.contains(name),
                !cleared.contains(number)
            {
                no("D1", "\(name) is left in its bootloader without a debt")
            }
            guard account.tables.debts.contains(name), account.untold == 0 else { continue }
            // The verdict of another rollout may be older than the debt.
            for execution in account.tables.executions
            where execution.vehicle == name && execution.rollout == account.tables.debtors[name] {
                guard let tally = execution.outcome?.tally, tally != .failed, tally != .aborted
                else { continue }
                no("D6", "\(name) has a debt and is \(execution.outcome?.rawValue ?? "")")
            }
        }
    }

    // MARK: S

    /// Nobody is touched who is inhibited, or whom no run had.
    private mutating func judgeStillness(_ account: FleetNightAccount) {
        let isLifted = account.said.contains { word in
            switch word {
            case .uninhibit, .uninhibitDepot: true
            default: false
            }
        }
        for number in story.vehicles.indices {
            let name = NightDepot.name(number)
            let (then, now) = (account.before[number], account.after[number])
            guard now.marks != then.marks || now.deeds != then.deeds else { continue }
            if account.tablesBefore.isInhibited(name), !isLifted {
                no("S4", "\(name) is inhibited and was touched")
            }
            if !account.turns.contains(where: { $0.vehicles.contains(number) }) {
                no("E2", "\(name) was in no run and was touched")
            }
        }
    }

    private mutating func judgeTime(_ account: FleetNightAccount) {
        // A run waits for a window that opens once a day, and not on closed days.
        let closed = story.policy.window?.closed?.count ?? 0
        let longest = Duration.seconds((50 + 24 * closed) * 3_600)
        for turn in account.turns where turn.began.duration(to: turn.ended) > longest {
            no("T1", "a run took \(turn.began.duration(to: turn.ended))")
        }
        for turn in account.turns {
            // Where vehicles have times of their own, a run ends when those that are left are shut out: it waits for nothing.
            guard case .workLeft(let why)? = turn.ending, why.hasPrefix("the window has closed"),
                turn.lastVerdict.duration(to: turn.ended) > .seconds(60),
                turn.vehicles.count == turn.outcomes.count,
                turn.outcomes.values.allSatisfy({ $0.map(Self.isFinal) ?? false })
            else { continue }
            let name = FleetNightStory.name(turn.gateway)
            no("T1", "\(name) had nothing to do, and waited until its window closed")
        }
    }

    /// Whether nobody takes the vehicle up in the same night without a request.
    private static func isFinal(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .succeeded, .alreadyCurrent, .failed, .rolledBack, .rejected, .timedOut, .inDoubt: true
        case .unreachable, .deferred, .skipped, .aborted: false
        }
    }

    // MARK: R, L3: reports and verdicts

    private mutating func judgeReports(_ account: FleetNightAccount) {
        for turn in account.turns {
            guard let counts = turn.counts else { continue }
            let outcomes = turn.outcomes
            if counts.total != turn.vehicles.count || outcomes.count != turn.vehicles.count {
                no(
                    "R1",
                    "\(counts.total) counted, \(outcomes.count) told of \(turn.vehicles.count)"
                )
            }
            let told = VehicleCounts(Array(outcomes.values))
            if told != counts { no("R1", "\(counts.sentence) is not \(told.sentence)") }
        }
    }

    private mutating func noteVerdicts(_ account: FleetNightAccount) {
        for turn in account.turns {
            var after = turn.began
            for event in turn.events {
                guard case .vehicleEnded(let id, let verdict) = event.body,
                    let number = Int(id.text.dropFirst())
                else { continue }
                // What another gateway has ended since is its verdict, in whatever words it is told here.
                let last = account.tables.rights.last {
                    $0.serial == serials[number - 1] && $0.isNew && $0.at >= after
                        && $0.at <= event.at
                }
                let isOwn = last?.holder == turn.instance
                let isTold = story.gateways.indices.contains {
                    verdict.message.hasPrefix("\(FleetNightStory.name($0)): ")
                }
                if isOwn, !isTold {
                    verdicts.append(
                        (turn.instance, id.text, verdict.outcome.rawValue, account.number)
                    )
                }
                after = max(after, event.at)
            }
        }
    }

    // MARK: When all is over

    /// Nights in which nothing goes wrong and everybody is let go on: what is still not well after
    /// them never will be.
    static func cure(_ story: FleetNightStory) -> [FleetNightStory.Night] {
        let all = story.gateways.indices
        func night(_ rollout: FleetNightStory.Rollout) -> FleetNightStory.Night {
            var night = FleetNightStory.Night(
                starts: all.map { gateway in
                    var start = FleetNightStory.Start(gateway, second: gateway)
                    start.rollout = rollout
                    return start
                }
            )
            night.words = all.map { .init(.resume, on: $0) } + all.map { .init(.retryAll, on: $0) }
            return night
        }
        var first = night(.whole)
        first.words = [.init(.uninhibitDepot, on: 0), .init(.resume, on: 0)]
        for number in story.vehicles.indices {
            first.words += all.map { .init(.uninhibit(number), on: $0) }
            first.edits += [.stands(number), .returns(number)]
        }
        let others = story.shared.isEmpty ? [] : [night(.other), night(.other)]
        return [first] + others + [night(.whole), night(.whole), night(.whole)]
    }

    /// What no night alone shows.
    mutating func verdictsInTheEnd() -> [BrokenPromise] {
        broken = []
        guard let account = last else { return [] }
        if account.untold > 0 { no("L3", "\(account.untold) words of gateways were never told") }
        for verdict in verdicts {
            let isThere = account.tables.verdicts.contains {
                $0.instance == verdict.instance && $0.vehicle == verdict.vehicle
                    && $0.outcome == verdict.outcome
            }
            if !isThere {
                no(
                    "L3",
                    "the verdict on \(verdict.vehicle) of night \(verdict.night), "
                        + "\(verdict.outcome), never reached the database"
                )
            }
        }
        let turns = account.turns.filter { $0.counts != nil && $0.ending == .complete }
        guard turns.count == account.turns.count, let first = turns.first,
            let last = turns.max(by: { $0.ended < $1.ended })
        else { return broken }
        for number in first.vehicles {
            let name = NightDepot.name(number)
            // A run that began when all others were over has taken up what had not ended well.
            let ends = turns.filter { last.began <= $0.ended }.map { $0.outcomes[name] ?? nil }
            // One may have brought it there, and the others found it so.
            if Set(ends.map(Self.plain)).count > 1 {
                let list = ends.map { $0?.rawValue ?? "open" }.joined(separator: ", ")
                no("agree", "\(name) is reported as \(list)")
            }
            judgeEnd(number, ends.first ?? nil, account, first)
        }
        return broken
    }

    private static func plain(_ outcome: Outcome?) -> String {
        guard let outcome else { return "open" }
        return outcome.tally == .current ? Outcome.succeeded.rawValue : outcome.rawValue
    }

    private mutating func judgeEnd(
        _ number: Int,
        _ outcome: Outcome?,
        _ account: FleetNightAccount,
        _ turn: FleetNightTurn
    ) {
        let (name, vehicle) = (NightDepot.name(number), story.vehicles[number])
        let now = account.after[number]
        let steps = turn.wish.steps[number]
        let isFine = outcome?.tally == .ok || outcome?.tally == .current
        if isFine, steps.contains(.update), let image = NightImage.of(vehicle.kind) {
            let target = image.version(turn.wish.release)
            if let version = now.version, version < target {
                no("succeeded", "\(name) is \(outcome?.rawValue ?? "") and runs \(version)")
            }
            if now.isInBootloader || !now.isConfirmed {
                no("succeeded", "\(name) is \(outcome?.rawValue ?? "") and not at rest")
            }
        }
        if isFine, !seenTo.contains(number),
            let begun = account.beginnings.last(where: {
                $0.rollout == turn.rollout && $0.number == turn.beginning
            })
        {
            let wanted = (steps + turn.always).compactMap(\.deed)
            for deed in Set(wanted).sorted() {
                let done = now.count(of: deed) - begun.modules[number].count(of: deed)
                let least = wanted.count { $0 == deed }
                if done < least {
                    no("lost", "\(name) did \(deed) \(done) times instead of \(least)")
                }
            }
        }
        let isHopeless = vehicle.faults.contains { fault in
            NightJudge.hopeless.contains { fault.hasPrefix($0) }
        }
        if !isHopeless, !cleared.contains(number), now.isInBootloader {
            no("bricked", "\(name) is left in its bootloader for good")
        }
        guard vehicle.faults.isEmpty, !NightJudge.canFail(steps), story.policy.airtime == nil,
            story.policy.quarantine == nil, story.policy.judge != turn.wish.release,
            outcome != .inDoubt, outcome != .aborted, !cleared.contains(number), !isFine
        else { return }
        no(
            "heals",
            "\(name) has no fault and is \(outcome?.rawValue ?? "open") in the end: "
                + turn.sentence(name)
        )
    }
}
