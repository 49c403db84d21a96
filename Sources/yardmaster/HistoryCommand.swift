import Commands
import Domain
import Journal
import Reports
import Wire

/// `history`: the runs that there were, the newest first.
struct HistoryCommand {
    /// As many as a screen shows.
    static let usual = 20

    private let state: String
    private let rollout: String?
    private let count: Int
    private let common: CommonOptions

    private struct Line {
        let run: RunRecord
        let end: RunEnd?
    }

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        rollout = invocation.value("rollout")
        count =
            invocation.value("last").flatMap { ValueKind.whole($0) }
            .map { Int(clamping: $0) } ?? Self.usual
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let lines = try HistoryJournal.read(state) { view throws(JournalError) in
            var lines: [Line] = []
            for run in try view.runs(rollout: rollout, limit: count) {
                let last = try view.lastEvent(run: run.number)
                var end: RunEnd?
                if case .runEnded(let told)? = last.flatMap(HistoryJournal.body) { end = told }
                lines.append(Line(run: run, end: end))
            }
            return lines
        }
        if lines.isEmpty, let rollout { throw RunCommand.unknown(rollout: rollout) }
        let holder = StateDirectoryHolder.current(state)
        context.console.result(
            common.wantsJSON
                ? Self.document(lines, holder).text + "\n" : Self.text(lines, holder)
        )
        return .done
    }

    private static func text(_ lines: [Line], _ holder: LockHolder?) -> String {
        guard !lines.isEmpty else { return "nothing has run here yet\n" }
        let rows = lines.map { line -> [String] in
            let run = line.run
            let took = run.end.map { run.started.duration(to: $0.time).brief } ?? "-"
            return [
                String(run.number), run.rollout.visible, run.started.description, took,
                run.end?.exitCode.map(String.init) ?? "-", Self.sentence(line, holder),
            ]
        }
        let table = Columns.table([["run", "rollout", "begun", "took", "exit", "what"]] + rows)
        return table.joined(separator: "\n") + "\n"
    }

    private static func sentence(_ line: Line, _ holder: LockHolder?) -> String {
        guard let end = line.run.end else {
            return holder.map { "at work now: \($0)" } ?? "was cut off"
        }
        guard let told = line.end else {
            return end.exitCode == nil ? "was cut off" : end.reason.visible
        }
        return "\(told.vehicles.sentence): \(told.reason.visible)"
    }

    private static func document(_ lines: [Line], _ holder: LockHolder?) -> JSONValue {
        .object([
            "schema": 1,
            "running": .bool(holder != nil),
            "runs": .array(
                lines.map { line in
                    .object(
                        HistoryJournal.members(line.run)
                            + (line.end?.members.filter { $0.name == "counts" } ?? [])
                    )
                }
            ),
        ])
    }
}

/// What the two forms of `history` have in common: the journal, and how a run is written.
enum HistoryJournal {
    static func read<R>(
        _ state: String,
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(CommandError) -> R {
        do throws(JournalError) {
            return try JournalReader(directory: state).read(body)
        } catch {
            throw RunCommand.refusal(reading: error, in: state)
        }
    }

    static func body(of record: EventRecord) -> Event.Body? {
        guard let line = try? JSONValue(json: record.json) else { return nil }
        return EventReader.body(kind: record.kind, vehicle: record.vehicle, line)
    }

    static func members(_ run: RunRecord) -> [JSONMember] {
        let value = JSONValue.object([
            "run": .int(run.number),
            "rollout": .string(run.rollout),
            "plan": .string(run.plan.description),
            "seed": run.seed.map { .seed($0) },
            "started": .string(run.started.description),
            "ended": run.end.map { .string($0.time.description) },
            "exit": run.end.map { end in
                .object([
                    "code": end.exitCode.map { .int($0) } ?? .null, "reason": .string(end.reason),
                ])
            },
        ])
        return value.members ?? []
    }
}
