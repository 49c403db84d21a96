import Base
import Show
import Store
import Testing
import Workbench

/// How soon a terminal shows an event, and how often it is drawn when nothing happens.
@Suite struct TerminalPaceTests {
    /// The interval of a run's ticks on a terminal.
    private static let pulse = Duration.milliseconds(250)

    /// A window in which a run is shown, drawn by events and by ticks.
    private struct Window {
        var screen = Screen(width: 100, height: 60)
        var printer = TerminalPrinter(
            style: TerminalStyle(
                isLive: true,
                colourOnOut: false,
                colourOnErr: false,
                isUnicode: true,
                width: 100
            ).with(width: 100, height: 60)
        )
        private var now = Moment(nanoseconds: 0)
        /// The ticks fall between the events, so that each event comes directly after a drawing.
        private var beat = Moment(nanoseconds: 0)

        init() {}

        mutating func show(_ outputs: [Output]) {
            for output in outputs { screen.write(output.text) }
        }

        mutating func say(_ event: Event) {
            let moment = Sample.moment(event)
            pulse(until: moment, wall: event.time)
            show(printer.print(event, at: moment))
            now = max(now, moment)
        }

        mutating func pulse(for time: Duration, wall: WallTime) {
            pulse(until: now.advanced(by: time), wall: wall)
        }

        private mutating func pulse(until end: Moment, wall: WallTime) {
            while beat.advanced(by: TerminalPaceTests.pulse) <= end {
                beat = beat.advanced(by: TerminalPaceTests.pulse)
                show(printer.tick(at: beat, wall: wall))
            }
        }
    }

    @Test func `whatever happens is on the screen within a second`() throws {
        let events = try Sample.full()
        var sentences = 0
        for last in events.indices.dropLast() {
            let event = events[last]
            var window = Window()
            for event in events[...last] { window.say(event) }
            window.pulse(for: .seconds(1), wall: event.time)
            let soon = window.screen.picture
            // A drawing that is certainly not delayed has nothing new: a second was enough.
            window.pulse(for: .seconds(60), wall: event.time)
            #expect(window.screen.picture == soon, "after \(event.body)")
            switch event.body {
            case .progress(let id, let progress):
                let line = soon.split(separator: "\n").last { $0.contains(" \(id.text) ") }
                let percent = progress.acknowledged.bytes * 100 / progress.total.bytes
                #expect(try #require(line).contains(" \(percent)%"), "\(percent): \(line ?? "")")
            case .stateChanged(let id, let state, _, _):
                let line = soon.split(separator: "\n").last { $0.contains(" \(id.text) ") }
                #expect(try #require(line).contains(" \(state.rawValue) "))
            case .warning(let text):
                #expect(soon.contains(try #require(text.split(separator: "\n").first)))
                sentences += 1
            case .notice(let notice):
                #expect(soon.contains(notice.message))
                sentences += 1
            case .vehicleEnded(let id, let verdict):
                #expect(soon.contains("\(id.text.visible): \(verdict.outcome.rawValue)"))
                sentences += 1
            default: break
            }
        }
        #expect(sentences > 8)
    }

    private static func outlooks(at time: WallTime) -> [Outlook] {
        let later = time.advanced(by: .seconds(7_200))
        return [
            .window(opens: later), .work(underWay: 1, waiting: 2, until: later),
            .search(vehicles: 3, until: later), .soak(wave: 1, until: later), .check(wave: 1),
            .host(why: "the service is gone", again: time.advanced(by: .seconds(20)), until: later),
            .draining(underWay: 1, why: "somebody has paused it"), .end,
        ]
    }

    @Test(arguments: outlooks(at: Sample.start))
    func `somebody who waits is told of it at least every 30 seconds`(outlook: Outlook) throws {
        let first = try #require(try Sample.full().first)
        var window = Window()
        window.say(first)
        var lines = PlainPrinter(isWatched: true)
        _ = lines.print(first, at: Sample.moment(first))
        var told = 0
        for second in 0..<600 {
            let moment = Moment(nanoseconds: Int64(second) * 1_000_000_000)
            let wall = Sample.start.advanced(by: .seconds(second))
            if second == 1 {
                window.show(window.printer.look(outlook, at: moment, wall: wall))
                told = lines.look(outlook, at: moment, wall: wall).isEmpty ? 0 : second
                #expect(told == second)
            } else {
                window.show(window.printer.tick(at: moment, wall: wall))
                if !lines.tick(at: moment, wall: wall).isEmpty { told = second }
            }
            guard second > 0 else { continue }
            // The live line is on the screen, with the remaining time.
            #expect(window.screen.text.contains(outlook.text(.utc, at: wall)), "\(second)")
            #expect(second - told <= 30, "\(second)")
        }
    }
}
