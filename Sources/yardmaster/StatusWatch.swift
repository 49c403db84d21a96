import Base
import Commands
import Glibc
import Manifest
import Operations
import Rollout
import Show
import Site
import Store

/// `status --watch`: the display of a rollout at work, until Ctrl-C.
struct StatusWatch {
    private let options: StatusOptions
    private let context: Context
    private let style: TerminalStyle
    private let isLive: Bool

    init(_ options: StatusOptions, _ context: Context) throws(CommandError) {
        guard !options.common.wantsJSON else {
            throw CommandError(
                .usage,
                "--watch is for people",
                hint: "'run --events FILE' writes what happens as JSON; 'serve' reports changes"
            )
        }
        self.options = options
        self.context = context
        style = context.style(noColor: options.common.noColor)
        isLive = style.isLive && isatty(STDOUT_FILENO) == 1
    }

    func run() async throws(CommandError) -> ExitCode {
        let terminal = isLive ? style : nil
        var feed: any StatusFeed =
            options.standings.fleet == nil
            ? JournalFeed(options, terminal, context) : FleetFeed(options, terminal, context)
        // What cannot be read is reported before the watch begins.
        write(try await feed.begin())
        let stop = Signals.catchThem()
        let (beats, beat) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let pulse = Pulse.start(isSteady: true) { beat.yield() }
        for await _ in beats {
            if stop.isRequested { break }
            if let columns = context.columns { feed.resize(width: columns, height: context.lines) }
            write(await feed.beat(at: RealTime().now))
        }
        pulse.stop()
        // Keeps the display, and clears the characters that the terminal printed for the keys.
        if isLive { context.console.note("\r\u{1B}[K") }
        return Signals.received == SIGTERM ? .terminated : .done
    }

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
}

/// The source of a watch, which reads and says what is new.
private protocol StatusFeed {
    mutating func begin() async throws(CommandError) -> [Output]
    mutating func beat(at now: Moment) async -> [Output]
    mutating func resize(width: Int, height: Int)
}

/// The rollout of a fleet over all gateways, from its database.
private struct FleetFeed: StatusFeed {
    private let options: StatusOptions
    private let context: Context
    private let terminal: TerminalStyle?
    private var printer = StatusPrinter(nil, .utc)
    private var count = 0
    /// Why the last question had no answer.
    private var fault: String?

    /// The seconds between two questions to the database.
    private static let pause = 2

    init(_ options: StatusOptions, _ terminal: TerminalStyle?, _ context: Context) {
        (self.options, self.context, self.terminal) = (options, context, terminal)
    }

    mutating func begin() async throws(CommandError) -> [Output] {
        let status = try await options.standings.status(of: options.rollout, options.common)
        printer = StatusPrinter(terminal, ZoneSource.shown(status.plan, context))
        return printer.print(status, at: RealTime().now, wall: RealTime().wallTime)
    }

    mutating func beat(at now: Moment) async -> [Output] {
        let wall = RealTime().wallTime
        count = (count + 1) % (Self.pause * Pulse.perSecond)
        guard count == 0 else { return printer.tell([], at: now, wall: wall) }
        do throws(CommandError) {
            let status = try await options.standings.status(of: options.rollout, options.common)
            fault = nil
            return printer.print(status, at: now, wall: wall)
        } catch {
            let isNews = fault != error.text
            fault = error.text
            let lines = error.text.split(separator: "\n").map(String.init)
            return printer.tell(isNews ? lines : [], at: now, wall: wall)
        }
    }

    mutating func resize(width: Int, height: Int) { printer.resize(width: width, height: height) }
}

/// The newest run, from the events in the journal of this machine.
private struct JournalFeed: StatusFeed {
    private let journal: StandingJournal
    private let rollout: String?
    private let terminal: TerminalStyle?
    private let context: Context
    private var follower = RunFollower()
    private var printer: any Printer = PlainPrinter()
    /// The journal mark of the last reading; while it is the same, nothing is read.
    private var mark: JournalMark?
    private var plan: (run: Int, plan: FrozenPlan?, zone: Zone)?
    /// The run whose end or interruption was already printed.
    private var told: Int?

    init(_ options: StatusOptions, _ terminal: TerminalStyle?, _ context: Context) {
        journal = options.standings.journal
        rollout = options.rollout
        self.terminal = terminal
        self.context = context
    }

    mutating func begin() throws(CommandError) -> [Output] {
        guard try look() == nil else { return [] }
        if let rollout { throw CommandError.unknown(rollout: rollout) }
        return [Output(.err, "nothing has run here yet; waits for the first run\n")]
    }

    private func look() throws(CommandError) -> RunFollower.Look? {
        try journal.read { [rollout, follower] view throws(JournalError) in
            try RunFollower.Look(of: rollout, after: follower, in: view)
        }
    }

    mutating func resize(width: Int, height: Int) { printer.resize(width: width, height: height) }

    mutating func beat(at now: Moment) -> [Output] {
        var outputs: [Output] = []
        let mark = JournalMark(journal.state)
        // A journal that is being created cannot be read for a moment.
        if mark != self.mark, let look = try? look() {
            self.mark = mark
            outputs = take(look, at: now)
        }
        guard told != follower.number else { return outputs }
        return outputs + printer.tick(at: now, wall: follower.wall(at: RealTime().wallTime))
    }

    private mutating func take(_ look: RunFollower.Look, at now: Moment) -> [Output] {
        let number = look.run.number
        if plan?.run != number {
            let plan = PlanArchive(state: journal.state).plan(look.run.plan, of: look.run.rollout)
            let zone = plan.flatMap { try? ZoneSource.zone(of: $0, context) } ?? .utc
            self.plan = (number, plan, zone)
        }
        let zone = plan?.zone ?? .utc
        let wall = RealTime().wallTime
        let isFirst = follower.number == nil
        // Events from before the watch are not printed line by line.
        var isPast = false
        var outputs: [Output] = []
        for news in follower.take(look, plan: plan?.plan, zone: zone, at: wall) {
            switch news {
            case .run:
                isPast = isFirst
                printer =
                    terminal.map { TerminalPrinter(style: $0, zone: zone) }
                    ?? PlainPrinter(isWatched: true, zone: zone)
                if let columns = context.columns {
                    printer.resize(width: columns, height: context.lines)
                }
                told = nil
            case .event(let event):
                let said = printer.print(event, at: now)
                if case .runEnded = event.body {
                    outputs += said.filter { !isPast || $0.stream == .out }
                } else if !isPast {
                    outputs += said
                }
            case .outlook(let outlook):
                if isPast { printer.caughtUp() }
                isPast = false
                outputs += printer.look(outlook, at: now, wall: follower.wall(at: wall))
            }
        }
        guard told != number, look.run.end != nil || journal.holder == nil else { return outputs }
        told = number
        let end =
            look.run.end != nil
            ? "waits for the next run"
            : "run \(number) was cut off; \(look.run.cutOff)"
        return outputs + [Output(.err, end + "\n")]
    }
}
