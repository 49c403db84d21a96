import Commands
import Domain
import Glibc
import Journal
import Manifest
import Operations
import Reports
import Rollout
import Threads
import Wire

/// `pause`, `resume`, `abort`, `retry`, `inhibit`, `uninhibit`, `clear`: what is left in the
/// journal for the run under way, or for the next one.
struct ControlCommand {
    private let invocation: Invocation
    private let context: Context
    private let state: String
    private let common: CommonOptions
    private let vehicles: [VehicleID]
    private let patterns: [VehicleSelection]
    /// Vehicles of the manifests that were named.
    private let listed: [PlannedVehicle]

    /// What became of the request, for people and for programs.
    private struct Answer {
        let sentence: String
        var rollout: String?
        var isTakenUpNow = false
        var isRefused = false

        init(sentence: String, rollout: String? = nil, isTakenUpNow: Bool = false) {
            self.sentence = sentence
            self.rollout = rollout
            self.isTakenUpNow = isTakenUpNow
        }

        /// What a verb on a rollout came to; `done` is said when it changed something.
        init(_ answer: VerbAnswer, _ rollout: String, _ done: String, _ isTakenUpNow: Bool) {
            self.rollout = rollout
            switch answer {
            case .done:
                sentence = "\(rollout): \(done)"
                self.isTakenUpNow = isTakenUpNow
            case .noChange(let why): sentence = "\(rollout): no change, \(why)"
            case .refused(let why):
                sentence = "\(rollout): refused, \(why)"
                isRefused = true
            }
        }
    }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.invocation = invocation
        self.context = context
        state = try CommonOptions.stateDirectory(invocation, context)
        common = CommonOptions(invocation)
        var vehicles: [VehicleID] = []
        var patterns: [VehicleSelection] = []
        for text in invocation.arguments {
            let selection = try VehicleLedger.selection(text)
            patterns.append(selection)
            if let vehicle = VehicleID(text) { vehicles.append(vehicle) }
        }
        self.vehicles = vehicles
        self.patterns = patterns
        var listed: [PlannedVehicle] = []
        for manifest in invocation.values("fleet") {
            listed += try Inputs.plan(manifest, context, common).vehicles
        }
        self.listed = listed
    }

    func run() async throws(CommandError) -> ExitCode {
        let directory: StateDirectory
        do throws(StateDirectoryError) {
            // What is only said of vehicles may be said before anything has run.
            directory = try StateDirectory.create(at: state)
        } catch { throw RunCommand.refusal(error) }
        let thread = try RunCommand.thread("journal")
        let result = await open(directory, thread)
        thread.stop()
        let answer = try result.get()
        guard !answer.isRefused else { throw CommandError(.usage, answer.sentence) }
        report(answer)
        return .done
    }

    private func open(
        _ directory: StateDirectory,
        _ thread: ThreadExecutor
    ) async -> Result<Answer, CommandError> {
        let journal: Journal
        do throws(JournalError) {
            journal = try await Journal.open(directory: directory.path, executor: thread)
        } catch { return .failure(RunCommand.refusal(error)) }
        let result: Result<Answer, CommandError>
        do throws(CommandError) {
            result = .success(try await perform(journal, directory.holder()))
        } catch { result = .failure(error) }
        await journal.close()
        return result
    }

    private func perform(
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(CommandError) -> Answer {
        do throws(JournalError) {
            switch invocation.command {
            case .inhibit: return try await inhibit(journal, holder)
            case .uninhibit: return try await uninhibit(journal)
            case .clear: return try await clear(journal, holder)
            default: break
            }
            let named = invocation.value("rollout")
            let run =
                named == nil
                ? try await journal.lastRollout() : try await journal.lastRun(rollout: named)
            guard let rollout = run?.rollout else {
                throw JournalError(.missing, "request", words: Self.unknown(named))
            }
            let isAtWork = holder?.rollout == rollout
            switch invocation.command {
            case .pause: return try await hold(journal, .paused, rollout, isAtWork)
            case .abort: return try await hold(journal, .aborted, rollout, isAtWork)
            case .resume:
                return Answer(
                    try await journal.resume(rollout),
                    rollout,
                    isAtWork
                        ? "goes on: the run under way drains if it has begun to, and the next run takes it up"
                        : "goes on with the next run",
                    isAtWork
                )
            default: break
            }
            return try await retry(journal, rollout, isAtWork)
        } catch { throw Self.refusal(error) }
    }

    private func retry(
        _ journal: Journal,
        _ rollout: String,
        _ isAtWork: Bool
    ) async throws(JournalError) -> Answer {
        let now = RealTime().wallTime
        let record = try await journal.rollout(rollout)
        if record?.hold?.kind == .aborted {
            return Answer(.refused("it is aborted, and that is for good"), rollout, "", false)
        }
        let known = Set(try await journal.executions(rollout: rollout).map(\.vehicle))
        var ground = VehicleLedger(state: state).ground(ofRollout: rollout)
        ground.others = known
        var chosen: Set<VehicleID> = []
        for pattern in patterns {
            let found: Set<VehicleID>
            do throws(CommandError) {
                found = try ground.vehicles(pattern).intersection(known)
            } catch { return Answer(.refused(error.answer), rollout, "", false) }
            guard !found.isEmpty else {
                let text = pattern.text.visible
                guard pattern.isPattern else {
                    return Answer(.noChange("\(text) means nobody now"), rollout, "", false)
                }
                return Answer(.refused("it has no vehicle \(text)"), rollout, "", false)
            }
            chosen.formUnion(found)
        }
        let named = vehicles.filter(known.contains)
        var quarantined: Set<VehicleID> = []
        let plan = record.flatMap { PlanArchive(state: state).plan($0.plan, of: rollout) }
        if let limit = plan?.rollout.quarantineAfter {
            quarantined = Set(try await journal.failures(atLeast: limit).map(\.vehicle))
        }
        let rearmed = try await journal.retry(
            rollout,
            named,
            among: patterns.isEmpty ? nil : chosen,
            atWork: try await atWork(journal, isAtWork),
            quarantined: quarantined,
            tellingRun: isAtWork,
            by: Self.author,
            at: now
        )
        if let (vehicle, why) = rearmed.refused.min(by: { $0.key < $1.key }) {
            return Answer(.refused("\(vehicle) is left: \(why)"), rollout, "", false)
        }
        let again = Set(rearmed.vehicles + rearmed.answered).sorted()
        guard !again.isEmpty else {
            return Answer(.noChange("nothing is to be taken again"), rollout, "", false)
        }
        let names = again.map(\.text.visible).joined(separator: ", ")
        let who =
            record?.hold != nil
            ? "after 'resume'" : isAtWork ? "by the run under way" : "by the next run"
        return Answer(.done, rollout, "taken again \(who): \(names)", isAtWork)
    }

    private func hold(
        _ journal: Journal,
        _ kind: Hold.Kind,
        _ rollout: String,
        _ isAtWork: Bool
    ) async throws(JournalError) -> Answer {
        let verb = kind.rawValue
        let hold = Hold(
            kind,
            rollout,
            reason: invocation.value("reason").map { "\(verb) by request: \($0)" }
                ?? "\(verb) by request",
            author: Self.author,
            at: RealTime().wallTime
        )
        return Answer(
            try await journal.set(hold, isAtWork: isAtWork),
            rollout,
            isAtWork
                ? "\(verb): the run under way begins nothing new and finishes what it has"
                : "\(verb): the next run begins nothing",
            isAtWork
        )
    }

    /// Who says so: the name of the account.
    private static var author: String {
        getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
            ?? "user \(getuid())"
    }

    private static func unknown(_ named: String?) -> String {
        named.map { "no rollout \($0.visible) has run here" } ?? "nothing has run here"
    }

    /// Nothing has run here under that name: an input is missing, not the journal at fault.
    private static func refusal(_ error: JournalError) -> CommandError {
        guard error.kind == .missing else { return RunCommand.refusal(error) }
        return CommandError(
            .inputMissing,
            error.words,
            hint: "name the rollout with --rollout and its directory with --state"
        )
    }

    private func inhibit(
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(JournalError) -> Answer {
        let now = RealTime().wallTime
        let expires = invocation.value("for").flatMap { Duration(text: $0) }
            .map { now.advanced(by: $0) }
        let reason = invocation.value("reason") ?? "no reason was given"
        let (chosen, unknown) = try await chosen(journal)
        if let unknown { return unknown }
        for vehicle in chosen {
            try await journal.inhibit(
                Inhibit(
                    vehicle,
                    reason: reason,
                    expires: expires,
                    author: Self.author,
                    at: now
                )
            )
        }
        let until = expires.map { "until \($0)" } ?? "until it is lifted"
        let busy = try await atWork(journal, holder != nil)
        let late = chosen.compactMap(\.self).filter(busy.contains)
        let remark =
            late.isEmpty
            ? ""
            : "; a run is at work on \(late.map(\.text.visible).joined(separator: ", ")): it "
                + "finishes the step it is at and does no further one"
        return Answer(sentence: "left alone \(until): \(Self.names(chosen))\(remark)")
    }

    private func uninhibit(_ journal: Journal) async throws(JournalError) -> Answer {
        let (chosen, unknown) = try await chosen(journal)
        if let unknown { return unknown }
        var lifted = 0
        for vehicle in chosen where try await journal.uninhibit(vehicle) { lifted += 1 }
        let names = Self.names(chosen)
        return Answer(
            sentence: lifted == 0
                ? "no change, nothing was inhibited: \(names)" : "takes part again: \(names)"
        )
    }

    private func clear(
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(JournalError) -> Answer {
        let (chosen, unknown) = try await chosen(journal)
        if let unknown { return unknown }
        let named = chosen.compactMap(\.self)
        guard !named.isEmpty else {
            let count = try await journal.clearFailures(of: nil)
            return Answer(sentence: "failures forgotten: \(count)")
        }
        let cleared = try await journal.clear(
            named,
            named: Set(vehicles),
            atWork: try await atWork(journal, holder != nil),
            by: Self.author,
            at: RealTime().wallTime
        )
        if let vehicle = cleared.atWork {
            throw JournalError(.busy, "clear", words: "a run is at work on \(vehicle)")
        }
        var sentences = cleared.debts.map {
            "\($0.vehicle): its update to \($0.title) is owed no more"
        }
        sentences += cleared.answered.map { "\($0): what was in doubt counts as done" }
        sentences += cleared.owed.map { "\($0.vehicle): `\($0.action)` is owed no more" }
        if cleared.failures > 0 { sentences.append("failures forgotten: \(cleared.failures)") }
        if sentences.isEmpty {
            sentences.append("no change, nothing to clear: \(Self.names(chosen))")
        }
        sentences += cleared.stillInDoubt.map { "\($0): still in doubt, name it in full to answer" }
        return Answer(sentence: sentences.joined(separator: "\n"))
    }

    /// Vehicles that a run is at work on; one that was killed is at work on nothing.
    private func atWork(
        _ journal: Journal,
        _ runs: Bool
    ) async throws(JournalError) -> Set<VehicleID> {
        runs ? try await journal.vehiclesAtWork() : []
    }

    /// The vehicles that are named, by id or pattern, among all that are known; nil for the depot.
    ///
    /// With the refusal where one is not known.
    private func chosen(
        _ journal: Journal
    ) async throws(JournalError) -> ([VehicleID?], Answer?) {
        guard !patterns.isEmpty else { return ([nil], nil) }
        // Labels and endings are those of the rollout that ran last, and of manifests that are named.
        var ground = VehicleLedger(state: state).ground(ofRollout: nil)
        ground.others.formUnion(try await journal.vehicles())
        ground.planned += listed
        var chosen: [VehicleID] = []
        for pattern in patterns {
            let found: [VehicleID]
            do throws(CommandError) {
                found = try ground.vehicles(pattern).sorted()
            } catch {
                var answer = Answer(sentence: error.answer)
                answer.isRefused = true
                return ([], answer)
            }
            guard !found.isEmpty else {
                guard pattern.isPattern else {
                    return (
                        [],
                        Answer(sentence: "no change, \(pattern.text.visible) means nobody now")
                    )
                }
                var answer = Answer(
                    sentence: "there is no vehicle \(pattern.text.visible) in any rollout here; "
                        + "name a manifest that lists it with --fleet"
                )
                answer.isRefused = true
                return ([], answer)
            }
            for vehicle in found where !chosen.contains(vehicle) { chosen.append(vehicle) }
        }
        return (chosen, nil)
    }

    private static func names(_ vehicles: [VehicleID?]) -> String {
        vehicles.map { $0?.text.visible ?? "the depot" }.joined(separator: ", ")
    }

    private func report(_ answer: Answer) {
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "request": .string(invocation.command.rawValue),
                "rollout": answer.rollout.map { .string($0) },
                "vehicles": .array(vehicles.map { .string($0.text) }),
                "taken-up-now": .bool(answer.isTakenUpNow),
                "message": .string(answer.sentence),
                "exit": .object([
                    "code": .integer(Int64(ExitCode.done.rawValue)),
                    "reason": .string(ExitCode.done.sentence),
                ]),
            ])
            context.console.result(document.text + "\n")
        } else if !common.isQuiet {
            context.console.result(answer.sentence + "\n")
        }
    }
}

extension CommandError {
    /// The same as one answer.
    fileprivate var answer: String { hint.map { "\(sentence); \($0)" } ?? sentence }
}
