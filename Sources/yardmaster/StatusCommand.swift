import Base
import Commands
import Operations
import Show
import Site
import Store

/// `status` and `fleet status`: the state of the latest rollout.
struct StatusCommand {
    let options: StatusOptions

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        if options.watches { return try await StatusWatch(options, context).run() }
        for report in options.reports { try report.checkPlace() }
        let status = try await options.standings.status(of: options.rollout, options.common)
        for report in options.reports {
            try report.write(
                of: status.story(
                    at: RealTime().wallTime,
                    of: options.standings.journal
                ),
                zone: ZoneSource.shown(status.plan, context)
            )
        }
        if options.common.wantsJSON {
            context.console.result(status.json.text + "\n")
        } else if !options.common.isQuiet || options.reports.isEmpty {
            context.show(text(status, options.standings.journal.holder, context))
        }
        return status.exitCode
    }

    // MARK: For people

    private func text(
        _ status: RolloutStatus,
        _ holder: LockHolder?,
        _ context: Context
    ) -> String {
        let (snapshot, executions) = (status.snapshot, status.chosen)
        let source = status.source.map { [$0.sentence] } ?? []
        guard snapshot.run != nil else {
            return (source + ["nothing has run here yet"]).map { $0 + "\n" }.joined()
        }
        let time = ZoneSource.shown(status.plan, context).text
        var lines = source + others(status, time) + status.head(holder, time)
        if !executions.isEmpty { lines.append(status.counts.sentence) }
        lines += status.sentences(time, besideVehicles: true)
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
        lines.append("")
        // With --quiet, vehicles that are fine are left out.
        let rows = status.rows.filter {
            !options.common.isQuiet || $0.needsMore && !$0.isNotBegun
        }
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
        let left = status.rows.filter { $0.record.isInBootloader($0.standing) && !$0.isUnderWay }
            .map(\.record.vehicle.text)
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
        for (work, vehicles, commands) in NextStep.byWork(steps) {
            let names = vehicles.map(\.text.visible).joined(separator: ", ")
            let isCounted = work == .wait && vehicles.count > 1
            lines.append("  \(work.title): \(isCounted ? "\(vehicles.count) vehicles" : names)")
            for command in commands {
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
        let place = status.snapshot.shared == nil ? "here" : "of the fleet"
        var lines = ["other rollouts \(place) ('status --rollout NAME' shows one):"]
        for other in others {
            let end = other.run.end.map { "ended \(time($0.time))" } ?? "has no end"
            lines.append(
                "  \(other.run.rollout.visible): \(other.state), run \(other.run.name) \(end), "
                    + other.counts.sentence + (other.isOwn ? " (this machine's journal only)" : "")
            )
        }
        return lines + [""]
    }
}
