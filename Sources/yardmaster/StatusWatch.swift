import Base
import Commands
import Glibc
import Manifest
import Operations
import Rollout
import Show
import Store
import Synchronization

/// `status --watch`: the display of a run, made from the journal, until Ctrl-C.
struct StatusWatch {
    private let journal: StandingJournal
    private let rollout: String?
    private let common: CommonOptions
    private let context: Context
    /// Nil when the machine belongs to no fleet, or with `--journal`.
    private let fleet: FleetWatch?

    init(_ options: StatusOptions, _ context: Context) throws(CommandError) {
        guard !options.common.wantsJSON else {
            throw CommandError(
                .usage,
                "--watch is for people",
                hint: "'run --events FILE' writes what happens as JSON; 'serve' reports changes"
            )
        }
        journal = options.standings.journal
        rollout = options.rollout
        common = options.common
        fleet = options.standings.fleet == nil ? nil : FleetWatch(options, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        if let fleet { return try await fleet.run() }
        let screen = Screen(
            journal,
            rollout,
            style: context.style(noColor: common.noColor),
            context
        )
        // A journal that cannot be read is reported before the watch begins.
        try screen.begin()
        let stop = Signals.catchThem()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let pulse = Pulse.start(isSteady: true) {
            if stop.isRequested { end.finish() }
            screen.beat()
        }
        for await _ in ends {}
        pulse.stop()
        screen.leave()
        return Signals.received == SIGTERM ? .terminated : .done
    }
}

/// The display of the newest run, updated by a clock.
private final class Screen: Sendable {
    private struct State {
        var follower = RunFollower()
        var printer: any Printer
        /// The journal mark of the last reading; while it is the same, nothing is read.
        var mark: JournalMark?
        var plan: (run: Int, plan: FrozenPlan?, zone: Zone)?
        /// The run whose end or interruption was already printed.
        var told: Int?
    }

    private let journal: StandingJournal
    private let rollout: String?
    private let style: TerminalStyle
    private let isLive: Bool
    private let context: Context
    private let state: Mutex<State>

    init(
        _ journal: StandingJournal,
        _ rollout: String?,
        style: TerminalStyle,
        _ context: Context
    ) {
        self.journal = journal
        self.rollout = rollout
        self.style = style
        self.context = context
        isLive = style.isLive && isatty(STDOUT_FILENO) == 1
        state = Mutex(State(printer: PlainPrinter()))
    }

    func begin() throws(CommandError) {
        let look = try look(RunFollower())
        guard look == nil else { return }
        if let rollout { throw CommandError.unknown(rollout: rollout) }
        write("nothing has run here yet; waits for the first run\n")
    }

    private func look(_ follower: RunFollower) throws(CommandError) -> RunFollower.Look? {
        try journal.read { view throws(JournalError) in
            try RunFollower.Look(of: rollout, after: follower, in: view)
        }
    }

    /// Reads new events and draws them.
    func beat() {
        let now = RealTime().now
        state.withLock { state in
            let mark = JournalMark(journal.state)
            if mark != state.mark {
                // A journal that is being created cannot be read for a moment.
                if let look = try? look(state.follower) {
                    state.mark = mark
                    take(look, &state, at: now)
                }
            }
            guard state.told != state.follower.number else { return }
            resize(&state)
            write(state.printer.tick(at: now, wall: state.follower.wall(at: RealTime().wallTime)))
        }
    }

    private func take(_ look: RunFollower.Look, _ state: inout State, at now: Moment) {
        if state.plan?.run != look.run.number {
            let plan = PlanArchive(state: journal.state).plan(look.run.plan, of: look.run.rollout)
            let zone = plan.flatMap { try? ZoneSource.zone(of: $0, context) } ?? .utc
            state.plan = (look.run.number, plan, zone)
        }
        let zone = state.plan?.zone ?? .utc
        let wall = RealTime().wallTime
        let isFirst = state.follower.number == nil
        // Events from before the watch are not printed line by line.
        var isPast = false
        for news in state.follower.take(look, plan: state.plan?.plan, zone: zone, at: wall) {
            switch news {
            case .run:
                isPast = isFirst
                state.printer =
                    isLive
                    ? TerminalPrinter(style: style, results: .out, zone: zone)
                    : PlainPrinter(results: .out, isWatched: true, zone: zone)
                state.told = nil
                resize(&state)
            case .event(let event):
                let outputs = state.printer.print(event, at: now)
                if case .runEnded = event.body {
                    write(outputs.filter { !isPast || $0.stream == .out })
                } else if !isPast {
                    write(outputs)
                }
            case .outlook(let outlook):
                if isPast { state.printer.caughtUp() }
                isPast = false
                write(
                    state.printer.look(outlook, at: now, wall: state.follower.wall(at: wall))
                )
            }
        }
        let number = look.run.number
        guard state.told != number else { return }
        if look.run.end != nil {
            state.told = number
            write("waits for the next run\n")
        } else if journal.holder == nil {
            state.told = number
            write(
                "run \(number) was cut off; run it again and it goes on where the modules stand\n"
            )
        }
    }

    private func resize(_ state: inout State) {
        guard var printer = state.printer as? TerminalPrinter, let columns = context.columns else {
            return
        }
        printer.resize(width: columns, height: context.lines)
        state.printer = printer
    }

    private func write(_ text: String) { write([Output(.err, text)]) }

    /// Without a terminal, everything is written to standard output.
    private func write(_ outputs: [Output]) {
        for output in outputs {
            if isLive, output.stream == .err {
                context.console.note(output.text)
            } else {
                context.console.result(output.text)
            }
        }
    }

    /// Keeps the display, and clears the characters that the terminal printed for the keys.
    func leave() {
        if isLive { context.console.note("\r\u{1B}[K") }
    }
}
