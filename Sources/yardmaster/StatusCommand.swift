import Commands
import Domain
import Journal
import Operations
import Reports
import Wire

/// `status`: the state of the latest rollout, from the journal alone.
struct StatusCommand {
    let options: StatusOptions

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        if options.watches { return try await StatusWatch(options, context).run() }
        let journal = StandingJournal(state: options.state, flags: options.stateFlag)
        let status = try journal.status(of: options.rollout, options.common)
        if options.common.wantsJSON {
            context.console.result(status.json.text + "\n")
        } else {
            context.console.result(text(status, journal.holder, context))
        }
        return .done
    }

    // MARK: For people

    private func text(
        _ status: RolloutStatus,
        _ holder: LockHolder?,
        _ context: Context
    ) -> String {
        let (snapshot, executions) = (status.snapshot, status.chosen)
        guard let run = snapshot.run else { return "nothing has run here yet\n" }
        let zone = status.plan.flatMap { try? ZoneSource.zone(of: $0, context) } ?? .utc
        let time = zone.text
        var lines = others(status, time)
        lines.append(
            "rollout \(run.rollout.visible), run \(run.number), begun \(time(run.started))"
        )
        if let end = run.end {
            let code = end.exitCode.map { "exit \($0): " } ?? ""
            lines.append("ended \(time(end.time)), \(code)\(end.reason)")
        } else if let holder {
            lines.append("at work now: \(holder)")
        } else {
            lines.append("was cut off; run it again and it goes on where the modules stand")
        }
        if !executions.isEmpty { lines.append(status.counts.sentence) }
        lines += status.sentences(time)
        if let until = status.soaksUntil {
            lines.append("the next wave may begin at \(time(until))")
        }
        if !snapshot.underWay.isEmpty {
            let names = snapshot.underWay.map {
                "\($0.vehicle.text.visible) (\($0.state.rawValue))"
            }
            lines.append("works on \(names.joined(separator: ", "))")
        }
        if !snapshot.cutOff.isEmpty {
            let names = snapshot.cutOff.map(\.vehicle.text.visible)
            lines.append("was working on \(names.joined(separator: ", "))")
        }
        if let next = snapshot.nextDeadline {
            lines.append(
                "next deadline: \(next.deadline.label) of \(next.vehicle.text.visible) at "
                    + time(next.deadline.time)
            )
        }
        lines.append("")
        // With --quiet, vehicles that are fine are left out.
        let rows = status.rows.filter { !options.common.isQuiet || $0.needsMore }
        if !rows.isEmpty {
            lines += Columns.table(
                [["vehicle", "serial", "state", "version", "since", "what"]]
                    + rows.map { row in
                        [
                            row.record.vehicle.text.visible, row.record.serial.text, row.state,
                            row.version ?? "-", time(row.record.updated), row.what(time),
                        ]
                    }
            )
        }
        lines += Self.toDo(status.nextSteps)
        let left = executions.filter { $0.inBootloader && !snapshot.isUnderWay($0) }
            .map(\.vehicle.text)
        if !left.isEmpty {
            lines.append("")
            lines.append(
                "in the bootloader, and first in the next run: \(left.joined(separator: ", "))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The steps by their kind, with their commands.
    private static func toDo(_ steps: [(vehicle: VehicleID, step: NextStep)]) -> [String] {
        guard !steps.isEmpty else { return [] }
        var lines = ["", "what to do"]
        for work in NextStep.Work.allCases {
            let here = steps.filter { $0.step.work == work }
            guard !here.isEmpty else { continue }
            let names = here.map(\.vehicle.text.visible).joined(separator: ", ")
            lines.append("  \(work.title): \(names)")
            var told: [String] = []
            for command in here.flatMap(\.step.commands) where !told.contains(command.line) {
                told.append(command.line)
                lines.append("    $ \(command.line.visible)   # \(command.when)")
            }
        }
        return lines
    }

    /// The other rollouts of the state directory, the newest first: one line each.
    private func others(_ status: RolloutStatus, _ time: (WallTime) -> String) -> [String] {
        guard options.rollout == nil else { return [] }
        let others = status.others
        guard !others.isEmpty else { return [] }
        var lines = ["other rollouts here ('status --rollout NAME' shows one):"]
        for other in others {
            let end = other.run.end.map { "ended \(time($0.time))" } ?? "has no end"
            lines.append(
                "  \(other.run.rollout.visible): \(other.state), run \(other.run.number) \(end), "
                    + other.counts.sentence
            )
        }
        return lines + [""]
    }
}
