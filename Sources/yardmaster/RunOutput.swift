import Commands
import Domain
import Glibc
import Reports
import Synchronization
import Threads

/// Everything that a run prints: events go in, and each printer's text goes to its place.
final class RunOutput: Sendable {
    fileprivate struct Printers {
        /// What people see while the run goes on.
        var people: People
        var document: JSONReport?
        var lines: EventLine?
        /// Nil when no report is asked for.
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
    private let journal: JournalSocket?

    init(
        _ options: RunOptions,
        _ context: Context,
        journal: @autoclosure () -> JournalSocket? = JournalSocket()
    ) throws(CommandError) {
        self.context = context
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
        // Under --json standard output has the document and nothing else.
        if options.common.wantsJSON { results = .err }
        self.results = results
        let socket = context.console.isJournal && !options.common.isQuiet ? journal() : nil
        self.journal = socket
        let style = context.style(noColor: options.common.noColor)
        let people: People =
            if options.common.isQuiet {
                options.common.wantsJSON ? .none : .quiet(QuietPrinter(results: results))
            } else if socket != nil {
                .journal(JournalPrinter())
            } else if style.isLive {
                .terminal(TerminalPrinter(style: style, results: results))
            } else {
                .plain(PlainPrinter(results: results))
            }
        printers = Mutex(
            Printers(
                people: people,
                document: options.common.wantsJSON ? JSONReport() : nil,
                lines: options.events == .none ? nil : EventLine(),
                story: reports.isEmpty ? nil : RunStory()
            )
        )
    }

    /// Runs `body` with the event file, if there is one, being written beside it.
    func whileWriting<R: Sendable>(_ body: () async -> R) async -> R {
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

    /// Prints an event; returns at once, whatever the readers do.
    func take(_ event: Event, at now: Moment) {
        printers.withLock { printers in
            if let line = printers.lines?.line(event) {
                if let file {
                    file.outlet.write(line, to: file.descriptor, mayDrop: false)
                } else {
                    context.console.result(line)
                }
            }
            if let journal, let record = printers.people.record(event) {
                // One piece is one record. Better lost than waited for.
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

    /// A report that cannot be written is said, and changes nothing about the run.
    private func write(_ story: RunStory) {
        for report in reports {
            guard let reason = report.write(story) else { continue }
            context.console.note(
                "yardmaster: warning: the report \(report.path) was not written: \(reason)\n"
            )
        }
    }

    /// Brings live lines up to date; to be called a few times a second.
    func tick(at now: Moment) {
        let columns = context.columns
        printers.withLock { printers in
            context.console.write(printers.people.tick(at: now, columns: columns))
        }
    }
}

extension RunOutput.People {
    /// What the journal gets, if it is meant.
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

    fileprivate mutating func tick(at now: Moment, columns: Int?) -> [Output] {
        guard case .terminal(var printer) = self else { return [] }
        defer { self = .terminal(printer) }
        if let columns { printer.resize(width: columns) }
        return printer.tick(at: now)
    }
}

/// The file of `--events`, with a writer of its own: a held terminal does not hold it.
private final class EventFile: Sendable {
    let descriptor: CInt
    let outlet: Outlet

    init(_ path: String) throws(CommandError) {
        descriptor = try Descriptor.openForAppending(path)
        do throws(ThreadError) {
            outlet = try Outlet.open(name: "events")
        } catch {
            close(descriptor)
            throw CommandError(.unavailable, "no thread for the events", because: ["\(error)"])
        }
    }

    deinit { close(descriptor) }
}
