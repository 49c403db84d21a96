import Base
import Commands
import Glibc
import Operations
import Rollout
import Show

/// `status --watch` on a machine that belongs to a fleet: the rollout over all gateways, until Ctrl-C.
struct FleetWatch {
    private let options: StatusOptions
    private let context: Context
    private let isLive: Bool

    /// The seconds between two questions to the database.
    private static let pause = 2

    init(_ options: StatusOptions, _ context: Context) {
        self.options = options
        self.context = context
        isLive =
            context.style(noColor: options.common.noColor).isLive && isatty(STDOUT_FILENO) == 1
    }

    func run() async throws(CommandError) -> ExitCode {
        // An error of the first read ends the command.
        var status = try await options.standings.status(of: options.rollout, options.common)
        var picture = StatusPicture(ZoneSource.shown(status.plan, context))
        show(status, &picture)
        let stop = Signals.catchThem()
        let (beats, beat) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let pulse = Pulse.start(isSteady: true) { beat.yield() }
        var count = 0
        for await _ in beats {
            if stop.isRequested { break }
            count += 1
            guard count >= Self.pause * Pulse.perSecond else { continue }
            count = 0
            do throws(CommandError) {
                status = try await options.standings.status(of: options.rollout, options.common)
                show(status, &picture)
            } catch {
                context.console.note(error.text)
            }
        }
        pulse.stop()
        return Signals.received == SIGTERM ? .terminated : .done
    }

    private func show(_ status: RolloutStatus, _ picture: inout StatusPicture) {
        let now = RealTime().wallTime
        guard isLive else {
            let lines = picture.news(status, at: now)
            if !lines.isEmpty { context.console.result(lines.map { $0 + "\n" }.joined()) }
            return
        }
        let lines = picture.lines(
            status,
            at: now,
            width: context.columns ?? 80,
            height: context.lines > 0 ? context.lines : 24
        )
        // Draws over the last screen, and clears the rest of it.
        context.console.result(
            "\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J"
        )
    }
}
