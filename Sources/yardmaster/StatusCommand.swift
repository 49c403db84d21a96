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
        let common = options.common
        let isBrief = !common.wantsJSON && !common.selects && options.reports.isEmpty
        let status = try await options.standings.status(
            of: options.rollout,
            common,
            whole: isBrief ? RolloutStatus.mostListed : .max
        )
        for report in options.reports {
            try report.write(
                of: status.story(
                    at: RealTime().wallTime,
                    of: options.standings.journal
                ),
                zone: ZoneSource.shown(status.plan, context)
            )
        }
        if common.wantsJSON {
            context.console.result(status.json.text + "\n")
        } else if !common.isQuiet || options.reports.isEmpty {
            let text = StatusText(
                status,
                options.standings.journal.holder,
                isQuiet: common.isQuiet,
                listsAll: common.selects,
                time: ZoneSource.shown(status.plan, context).screen()
            )
            context.show(text.text(hasOthers: options.rollout == nil))
        }
        return status.exitCode
    }
}
