package import Base
package import Commands
import Glibc
import Show
package import Store
import Synchronization

/// Everything that a run prints: takes events, and writes each printer's text to its destination.
package final class RunOutput: Sendable {
    fileprivate struct Printers {
        /// The output for people during the run.
        var people: People
        var document: JSONReport?
        var lines: EventLine?
        /// Nil when no report was requested.
        var story: RunStory?
    }

    fileprivate enum People {
        case terminal(TerminalPrinter)
        case plain(PlainPrinter)
        case quiet(QuietPrinter)
        /// The service manager's journal.
        case journal(JournalPrinter)
        case none
    }

    private let context: Context
    private let printers: Mutex<Printers>
    private let file: EventFile?
    private let reports: [ReportFile]
    private let results: Output.Stream
    private let zone: Zone
    private let journal: JournalSocket?
    /// The time of the run, once it has begun.
    private let time = Mutex<(any Timekeeper)?>(nil)
    /// Whether signals and the run's outlook are shown.
    private let isWatched: Bool

    /// `zone` is the time zone of the window; times are shown in it.
    package init(
        _ options: RunOptions,
        _ context: Context,
        zone: Zone = .utc,
        journal: @autoclosure () -> JournalSocket? = JournalSocket()
    ) throws(CommandError) {
        self.context = context
        self.zone = zone
        reports = options.reports
        for report in reports { try report.checkPlace() }
        var results = Output.Stream.out
        switch options.events {
        case .none: file = nil
        case .standardOutput:
            file = nil
            results = .err
        case .file(let path): file = try EventFile(path)
        }
        // With --json, standard output has the document and nothing else.
        if options.common.wantsJSON { results = .err }
        self.results = results
        let socket = context.console.isJournal && !options.common.isQuiet ? journal() : nil
        self.journal = socket
        let people =
            socket == nil
            ? Self.people(options, context, results, zone)
            : People.journal(JournalPrinter(offers: Self.offers(options)))
        isWatched = !options.common.isQuiet && context.isWatched
        printers = Mutex(
            Printers(
                people: people,
                document: options.common.wantsJSON ? JSONReport() : nil,
                lines: options.events == .none ? nil : EventLine(),
                story: reports.isEmpty ? nil : RunStory()
            )
        )
    }

    /// The output for people who read the standard streams.
    private static func people(
        _ options: RunOptions,
        _ context: Context,
        _ results: Output.Stream,
        _ zone: Zone
    ) -> People {
        let style = context.style(noColor: options.common.noColor)
        let offers = offers(options)
        if options.common.isQuiet {
            return options.common.wantsJSON
                ? .none : .quiet(QuietPrinter(results: results, offers: offers))
        }
        guard style.isLive else {
            let isWatched = context.isWatched
            return .plain(
                PlainPrinter(results: results, isWatched: isWatched, zone: zone, offers: offers)
            )
        }
        return .terminal(
            TerminalPrinter(style: style, results: results, zone: zone, offers: offers)
        )
    }

    private static func offers(_ options: RunOptions) -> RunOffers.Maker {
        { rollout in
            options.placeFlags.of(options.state).offers(rollout, again: options.beginsAgain)
        }
    }

    /// Runs `body`; meanwhile the event file, if any, is written and the screen is refreshed.
    package func whileWriting<R: Sendable>(_ body: () async -> R) async -> R {
        let pulse = Pulse.start(isSteady: isWatched) { [tolls = Tolls()] in self.beat(tolls) }
        defer { pulse.stop() }
        return await whileWritingEvents(body)
    }

    /// Whether the signal was shown.
    private final class Tolls: Sendable {
        private let count = Atomic<Int>(0)
        var isFirst: Bool { count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
    }

    private func beat(_ tolls: Tolls) {
        let now = RealTime().now
        if let signal = Signals.name, tolls.isFirst {
            let wall = wall
            printers.withLock { printers in
                context.console.write(printers.people.stopping(signal, at: now, wall: wall))
            }
        }
        tick(at: now)
    }

    private var wall: WallTime { time.withLock { $0?.wallTime } ?? RealTime().wallTime }

    /// The run has begun, and this is its time.
    package func follow(_ time: any Timekeeper) { self.time.withLock { $0 = time } }

    /// Prints what the run awaits from now on.
    package func look(_ outlook: Outlook) {
        let (now, wall) = (RealTime().now, wall)
        printers.withLock { printers in
            context.console.write(printers.people.look(outlook, at: now, wall: wall))
        }
    }

    private func whileWritingEvents<R: Sendable>(_ body: () async -> R) async -> R {
        guard let file else { return await body() }
        async let written: Void = file.outlet.pump()
        let result = await body()
        file.outlet.finish()
        await written
        if let failure = file.outlet.failure(of: file.descriptor) {
            context.console.note(
                "yardmaster: warning: the events were cut off: \(failure)\n"
            )
        }
        return result
    }

    /// Prints an event; returns immediately, whatever the readers do.
    package func take(_ event: Event, at now: Moment) {
        printers.withLock { printers in
            if let line = printers.lines?.line(event) {
                if let file {
                    file.outlet.write(line, to: file.descriptor, mayDrop: false)
                } else {
                    context.console.result(line)
                }
            }
            if let journal, let record = printers.people.record(event) {
                // One write is one record. A lost record is better than a blocked run.
                context.console.outlet.write(record, to: journal.descriptor, mayDrop: true)
            }
            context.console.write(printers.people.print(event, at: now, results: results))
            if let outputs = printers.document?.print(event, at: now) {
                context.console.write(outputs)
            }
            printers.story?.note(event)
            if case .runEnded = event.body, let story = printers.story { write(story) }
        }
    }

    /// Writes the reports; one that cannot be written is reported, and changes nothing about the
    /// run.
    private func write(_ story: RunStory) {
        for report in reports {
            guard let reason = report.write(story, zone: zone) else { continue }
            context.console.note(
                "yardmaster: warning: the report \(report.path) was not written: \(reason)\n"
            )
        }
    }

    /// Updates live lines; to be called a few times a second.
    package func tick(at now: Moment) {
        let (columns, lines, wall) = (context.columns, context.lines, wall)
        printers.withLock { printers in
            context.console.write(
                printers.people.tick(at: now, wall: wall, columns: columns, lines: lines)
            )
        }
    }
}

extension RunOutput.People {
    /// The record for the service manager's journal, if it is the destination.
    fileprivate mutating func record(_ event: Event) -> String? {
        guard case .journal(var printer) = self else { return nil }
        defer { self = .journal(printer) }
        return printer.record(event)
    }

    fileprivate mutating func print(
        _ event: Event,
        at now: Moment,
        results: Output.Stream
    ) -> [Output] {
        switch self {
        case .journal(let printer):
            guard case .runEnded(let end) = event.body else { return [] }
            return [Output(results, printer.results(end))]
        case .terminal(var printer):
            defer { self = .terminal(printer) }
            return printer.print(event, at: now)
        case .plain(var printer):
            defer { self = .plain(printer) }
            return printer.print(event, at: now)
        case .quiet(var printer):
            defer { self = .quiet(printer) }
            return printer.print(event, at: now)
        case .none: return []
        }
    }

    fileprivate mutating func tick(
        at now: Moment,
        wall: WallTime,
        columns: Int?,
        lines: Int
    ) -> [Output] {
        if case .terminal(var printer) = self {
            if let columns { printer.resize(width: columns, height: lines) }
            self = .terminal(printer)
        }
        return change { $0.tick(at: now, wall: wall) }
    }

    fileprivate mutating func look(
        _ outlook: Outlook,
        at now: Moment,
        wall: WallTime
    ) -> [Output] {
        change { $0.look(outlook, at: now, wall: wall) }
    }

    fileprivate mutating func stopping(
        _ signal: String,
        at now: Moment,
        wall: WallTime
    ) -> [Output] {
        change { $0.stopping(signal, at: now, wall: wall) }
    }

    /// Calls the printer of the output that is shown during the run.
    private mutating func change(_ body: (inout any Printer) -> [Output]) -> [Output] {
        var printer: any Printer
        switch self {
        case .terminal(let own): printer = own
        case .plain(let own): printer = own
        case .quiet, .journal, .none: return []
        }
        let outputs = body(&printer)
        if let own = printer as? TerminalPrinter { self = .terminal(own) }
        if let own = printer as? PlainPrinter { self = .plain(own) }
        return outputs
    }
}

/// The file of `--events`, with a writer of its own: a blocked terminal does not block it.
private final class EventFile: Sendable {
    let descriptor: CInt
    let outlet: Outlet

    init(_ path: String) throws(CommandError) {
        descriptor = try Descriptor.openForAppending(path)
        do throws(ThreadError) {
            outlet = try Outlet.open(name: "events", patience: .seconds(60))
        } catch {
            close(descriptor)
            throw CommandError(.unavailable, "no thread for the events", because: ["\(error)"])
        }
    }

    deinit { close(descriptor) }
}
