import Commands
import Domain
import Journal
import Reports
import Wire

/// `status`: where the latest rollout stands, from the journal alone.
struct StatusCommand {
    let options: StatusOptions

    private struct Snapshot {
        let run: RunRecord?
        let executions: [ExecutionRecord]
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let snapshot = try read()
        let holder = StateDirectoryHolder.current(options.state)
        let chosen = snapshot.executions.filter { options.common.takes($0.vehicle) }
        if options.common.wantsJSON {
            context.console.result(document(snapshot.run, chosen, holder).text + "\n")
        } else {
            context.console.result(text(snapshot.run, chosen, holder))
        }
        return .done
    }

    private func read() throws(CommandError) -> Snapshot {
        do throws(JournalError) {
            return try JournalReader(directory: options.state).read { view throws(JournalError) in
                let run = try view.lastRun(rollout: nil)
                return Snapshot(
                    run: run,
                    executions: try run.map { (run) throws(JournalError) in
                        try view.executions(rollout: run.rollout)
                    } ?? []
                )
            }
        } catch {
            guard error.kind == .missing else { throw RunCommand.refusal(error) }
            throw CommandError(
                .inputMissing,
                "there is no journal in \(options.state)",
                hint: "nothing has run there yet; name another directory with --state DIR"
            )
        }
    }

    // MARK: For people

    private func text(
        _ run: RunRecord?,
        _ executions: [ExecutionRecord],
        _ holder: LockHolder?
    ) -> String {
        guard let run else { return "nothing has run here yet\n" }
        var lines = ["rollout \(run.rollout), run \(run.number), begun \(run.started)"]
        if let end = run.end {
            let code = end.exitCode.map { "exit \($0): " } ?? ""
            lines.append("ended \(end.time), \(code)\(end.reason)")
        } else if let holder {
            lines.append("at work now: \(holder)")
        } else {
            lines.append("was cut off; run it again and it goes on where the modules stand")
        }
        lines.append("")
        lines += Columns.table(
            [["vehicle", "state", "version", "since", "what"]]
                + executions.map { record in
                    [
                        record.vehicle.text, record.end?.outcome.rawValue ?? record.state.rawValue,
                        record.versionAfter?.description ?? record.versionBefore?.description
                            ?? "-",
                        record.updated.description, Self.sentence(about: record),
                    ]
                }
        )
        let left = executions.filter(\.inBootloader).map(\.vehicle.text)
        if !left.isEmpty {
            lines.append("")
            lines.append(
                "in the bootloader, and first in the next run: \(left.joined(separator: ", "))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func sentence(about record: ExecutionRecord) -> String {
        if let end = record.end { return end.message }
        var parts: [String] = []
        if let total = record.totalBytes, let done = record.acknowledged, total > .zero {
            parts.append("\(done) of \(total)")
        }
        if record.interruptions > 0 { parts.append("interrupted \(record.interruptions) times") }
        if let deadline = record.nextDeadline {
            parts.append("next: \(deadline.label) at \(deadline.time)")
        }
        return parts.isEmpty ? "attempt \(record.attempt)" : parts.joined(separator: ", ")
    }

    // MARK: For programs

    private func document(
        _ run: RunRecord?,
        _ executions: [ExecutionRecord],
        _ holder: LockHolder?
    ) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": run.map { .string($0.rollout) },
            "run": run.map { .integer(Int64($0.number)) },
            "plan": run.map { .string($0.plan.description) },
            "started": run.map { .string($0.started.description) },
            "ended": run?.end.map { .string($0.time.description) },
            "exit": run?.end.map { end in
                .object([
                    "code": end.exitCode.map { .integer(Int64($0)) } ?? .null,
                    "reason": .string(end.reason),
                ])
            },
            "running": .bool(holder != nil),
            "vehicles": .array(executions.map(Self.member)),
        ])
    }

    private static func member(_ record: ExecutionRecord) -> JSONValue {
        .object([
            "id": .string(record.vehicle.text),
            "serial": .string(record.serial.text),
            "state": .string(record.state.rawValue),
            "outcome": record.end.map { .string($0.outcome.rawValue) },
            "class": record.end?.failure.map { .string($0.rawValue) },
            "message": record.end.map { .string($0.message) },
            "attempt": .integer(Int64(record.attempt)),
            "acknowledged": record.acknowledged.map { .integer(Int64($0.bytes)) },
            "total": record.totalBytes.map { .integer(Int64($0.bytes)) },
            "in-bootloader": .bool(record.inBootloader),
            "updated": .string(record.updated.description),
            "next-deadline": record.nextDeadline.map { deadline in
                .object([
                    "label": .string(deadline.label), "time": .string(deadline.time.description),
                ])
            },
        ])
    }
}

/// Who works in a state directory, as far as reading tells.
enum StateDirectoryHolder {
    static func current(_ path: String) -> LockHolder? {
        (try? StateDirectory.existing(at: path))?.holder()
    }
}
