package import Base
package import Commands
import Glibc
import Show
package import Store
import Synchronization

/// Everything that a run prints: takes events, and writes each printer's text to its destination.
package final class RunOutput: Sendable {
    fileprivate struct Printers {
        /// The output for people during the run; nil for none, or where it goes to the service
        /// manager's journal.
        var people: (any Printer)?
        var records: JournalPrinter?
        var document: JSONReport?
        var lines: EventLine?
        /// Nil when no report was requested.
        var story: RunStory?
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
        isWatched = !options.common.isQuiet && context.isWatched
        printers = Mutex(
            Printers(
                people: socket == nil ? Self.people(options, context, results, zone) : nil,
                records: socket.map { _ in JournalPrinter(offers: Self.offers(options)) },
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
    ) -> (any Printer)? {
        let style = context.style(noColor: options.common.noColor)
        let offers = offers(options)
        if options.common.isQuiet {
            return options.common.wantsJSON
                ? nil : QuietPrinter(results: results, offers: offers)
        }
        guard style.isLive else {
            let isWatched = context.isWatched
            return PlainPrinter(results: results, isWatched: isWatched, zone: zone, offers: offers)
        }
        return TerminalPrinter(style: style, results: results, zone: zone, offers: offers)
    }

    private static func offers(_ options: RunOptions) -> RunOffers.Maker {
        { rollout in
            options.placeFlags.of(options.state).offers(
                rollout,
                again: options.beginsAgain,
                goesOn: options.origin.goesOn
            )
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
                let outputs = printers.people?.stopping(signal, at: now, wall: wall)
                context.console.write(outputs ?? [])
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
            context.console.write(printers.people?.look(outlook, at: now, wall: wall) ?? [])
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
            if let journal, let record = printers.records?.record(event) {
                // One write is one record. A lost record is better than a blocked run.
                context.console.outlet.write(record, to: journal.descriptor, mayDrop: true)
            }
            context.console.write(printers.people?.print(event, at: now) ?? [])
            if case .runEnded(let end) = event.body, let text = printers.records?.results(end) {
                context.console.write([Output(results, text)])
            }
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
            if let columns { printers.people?.resize(width: columns, height: lines) }
            context.console.write(printers.people?.tick(at: now, wall: wall) ?? [])
        }
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
