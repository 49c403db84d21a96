import Commands
import Domain
import Glibc
import Journal
import Reports
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
        for text in invocation.arguments {
            guard let vehicle = VehicleID(text) else {
                throw CommandError(.usage, "'\(text.visible)' is no vehicle's id")
            }
            vehicles.append(vehicle)
        }
        self.vehicles = vehicles
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
            case .inhibit: return try await inhibit(journal)
            case .uninhibit: return try await uninhibit(journal)
            case .clear: return try await clear(journal)
            default: break
            }
            let named = invocation.value("rollout")
            let run = try await journal.lastRun(rollout: named)
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
                        ? "goes on: the run under way drains, the next run takes it up"
                        : "goes on with the next run",
                    isAtWork
                )
            default: break
            }
            try await journal.leave(
                ControlRequest(
                    .retry,
                    rollout: rollout,
                    vehicles: vehicles,
                    reason: invocation.value("reason") ?? "",
                    at: RealTime().wallTime
                )
            )
            return Answer(
                sentence: "retry \(rollout): "
                    + (isAtWork ? "the run under way takes it up" : "the next run takes it up"),
                rollout: rollout,
                isTakenUpNow: isAtWork
            )
        } catch { throw Self.refusal(error) }
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

    private func inhibit(_ journal: Journal) async throws(JournalError) -> Answer {
        let now = RealTime().wallTime
        let expires = invocation.value("for").flatMap { Duration(text: $0) }
            .map { now.advanced(by: $0) }
        let reason = invocation.value("reason") ?? "no reason was given"
        for vehicle in whom {
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
        return Answer(sentence: "left alone \(until): \(names)")
    }

    private func uninhibit(_ journal: Journal) async throws(JournalError) -> Answer {
        var lifted = 0
        for vehicle in whom where try await journal.uninhibit(vehicle) { lifted += 1 }
        return Answer(
            sentence: lifted == 0 ? "nothing was inhibited: \(names)" : "takes part again: \(names)"
        )
    }

    private func clear(_ journal: Journal) async throws(JournalError) -> Answer {
        var count = 0
        for vehicle in whom { count += try await journal.clearFailures(of: vehicle) }
        return Answer(sentence: "failures forgotten: \(count)")
    }

    /// The vehicles named, or nil for all.
    private var whom: [VehicleID?] { vehicles.isEmpty ? [nil] : vehicles }

    private var names: String {
        vehicles.isEmpty ? "the depot" : vehicles.map(\.text.visible).joined(separator: ", ")
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
