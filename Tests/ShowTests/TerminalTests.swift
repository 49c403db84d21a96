import Base
import Show
import Store
import Testing
import Workbench

@Suite struct TerminalPrinterTests {
    private func style(
        width: Int = 80,
        colour: Bool = false,
        unicode: Bool = true
    ) -> TerminalStyle {
        TerminalStyle(
            isLive: true,
            colourOnOut: colour,
            colourOnErr: colour,
            isUnicode: unicode,
            width: width
        )
    }

    @Test(arguments: [("terminal.txt", false, true), ("terminal-colour.txt", true, true)])
    func `a run is drawn`(name: String, colour: Bool, unicode: Bool) throws {
        let printer = TerminalPrinter(style: style(colour: colour, unicode: unicode))
        try Golden.expect(
            Sample.transcript(printer, try Sample.full())
                .replacing("\u{1B}", with: "<esc>").replacing("\r", with: "<cr>"),
            equals: name
        )
    }

    @Test func `without UTF-8 every byte is ASCII`() throws {
        let printer = TerminalPrinter(style: style(unicode: false))
        let text = Sample.transcript(printer, try Sample.full())
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        #expect(text.contains("[##"))
        #expect(text.contains("v3 \\u{e4}\\u{1f697}: failed"))
    }

    @Test func `what scrolled up stays and the live lines are gone at the end`() throws {
        var screen = Screen(width: 120)
        var printer = TerminalPrinter(style: style(width: 120))
        for event in try Sample.full() {
            for output in printer.print(event, at: Sample.moment(event)) {
                screen.write(output.text)
            }
        }
        let text = screen.text
        #expect(text.contains("v1: succeeded, 4.11.3 -> 4.12.0, in 1m14s"))
        #expect(!text.contains("vehicles ended"))
        #expect(!text.contains("█"))
        #expect(text.hasSuffix("unreachable=1 failed=1 unfinished=2 exit=10\n"))
    }

    @Test func `the screen shows who is under way below what scrolled up`() throws {
        var screen = Screen(width: 80)
        var printer = TerminalPrinter(style: style())
        // The events up to the transfer that continues after its interruption.
        for event in try Sample.full().prefix(23) {
            for output in printer.print(event, at: Sample.moment(event)) {
                screen.write(output.text)
            }
        }
        let last = screen.text.split(separator: "\n").suffix(5).map { String($0) }
        #expect(
            last == [
                "v4: is not heard; v1 takes its place in wave 1",
                "hci0  v1    transferring    [████████░░░░░]  62%  11.2 KiB/s  17s left  resumed",
                "hci1  idle",
                "wave 1 of 3  [██████████░░░░░░░░░░] 1 of 2",
                "1 of 6 vehicles ended, 0 failed",
            ]
        )
    }

    @Test func `vehicles stand with their adapters, and one without is last`() throws {
        var screen = Screen(width: 80)
        var printer = TerminalPrinter(style: style())
        let serial = try #require(Serial("0a"))
        let (a, b, c) = (
            try Sample.vehicle("a"), try Sample.vehicle("b"), try Sample.vehicle("c")
        )
        let started = try #require(try Sample.full().first?.body)
        var bodies =
            [started]
            + [a, b, c].map {
                .attemptStarted($0, serial: serial, attempt: 1, position: 1)
            }
        bodies += [
            .stateChanged(b, .connecting, adapter: "hci0", detail: nil),
            .stateChanged(a, .acting, adapter: "hci1", detail: nil),
        ]
        for event in Sample.events(bodies.enumerated().map { ($0 * 1_000, $1) }) {
            for output in printer.print(event, at: Sample.moment(event)) {
                screen.write(output.text)
            }
        }
        let lines = screen.text.split(separator: "\n").suffix(4).map { String($0) }
        #expect(
            lines == [
                "hci0  b     connecting", "hci1  a     acting", "-     c     seeking",
                "0 of 6 vehicles ended, 0 failed",
            ]
        )
    }

    @Test(arguments: [10, 20, 30, 40, 60, 80, 120, 200])
    func `no live line is as wide as the window`(width: Int) throws {
        var screen = Screen(width: width)
        var printer = TerminalPrinter(style: style(width: width))
        var drawings = 0
        let names = ["a", "ä🚗", String(repeating: "long", count: 10)]
        var bodies: [(Int, Event.Body)] = []
        for (place, name) in names.enumerated() {
            let id = try Sample.vehicle(name)
            let serial = try #require(Serial("0a"))
            bodies.append((0, .attemptStarted(id, serial: serial, attempt: 1, position: place)))
            bodies.append((0, .stateChanged(id, .transferring, adapter: "hci0", detail: nil)))
            bodies.append((0, .progress(id, try Sample.progress(300, resumedFrom: 100))))
        }
        let id = try Sample.vehicle("a")
        bodies.append((0, .interrupted(id, cause: String(repeating: "why ", count: 50), count: 2)))
        for (index, event) in Sample.events(bodies).enumerated() {
            let now = Moment(nanoseconds: Int64(index) * 1_000_000_000)
            for output in printer.print(event, at: now) {
                drawings += 1
                screen.write(output.text)
            }
        }
        // A drawing that would look the same is skipped.
        #expect(drawings > names.count && drawings <= bodies.count)
        // If a line had wrapped, moving the cursor up would have left a line behind.
        #expect(screen.text.split(separator: "\n").count == names.count)
    }

    @Test func `it draws ten times a second at most and nothing is lost`() throws {
        let a = try Sample.vehicle("a")
        let serial = try #require(Serial("0a"))
        var printer = TerminalPrinter(style: style())
        var drawings = 0
        var screen = Screen(width: 80)
        var bodies: [(Int, Event.Body)] = [
            (0, .attemptStarted(a, serial: serial, attempt: 1, position: 1))
        ]
        for tick in 1..<2_000 { bodies.append((tick, .warning("number \(tick)"))) }
        for event in Sample.events(bodies) {
            for output in printer.print(event, at: Sample.moment(event)) {
                drawings += 1
                screen.write(output.text)
            }
        }
        #expect(drawings == 20)
        let late = Moment(nanoseconds: 5_000_000_000)
        for output in printer.tick(at: late, wall: Sample.start) { screen.write(output.text) }
        #expect(printer.tick(at: late.advanced(by: .seconds(1)), wall: Sample.start) == [])
        let lines = screen.text.split(separator: "\n").map { String($0) }
        #expect(lines.dropLast() == (1..<2_000).map { "warning: number \($0)" }[...])
        #expect(lines.last?.hasPrefix("a     seeking") == true)
    }

    @Test func `more vehicles than fit are counted`() throws {
        var screen = Screen(width: 80)
        var printer = TerminalPrinter(style: style())
        let serial = try #require(Serial("0a"))
        let bodies = try (10..<30).map { number -> (Int, Event.Body) in
            let id = try Sample.vehicle("v\(number)")
            return (0, .attemptStarted(id, serial: serial, attempt: 1, position: number))
        }
        for (index, event) in Sample.events(bodies).enumerated() {
            let now = Moment(nanoseconds: Int64(index) * 1_000_000_000)
            for output in printer.print(event, at: now) { screen.write(output.text) }
        }
        let lines = screen.text.split(separator: "\n")
        #expect(lines.count == 13)
        #expect(lines.last == "and 8 more")
    }
}

@Suite struct TerminalStyleTests {
    private func style(
        _ environment: [String: String],
        terminal: (out: Bool, err: Bool) = (true, true),
        noColor: Bool = false,
        columns: Int? = nil
    ) -> TerminalStyle {
        TerminalStyle(
            environment: { environment[$0] },
            outIsTerminal: terminal.out,
            errIsTerminal: terminal.err,
            noColor: noColor,
            columns: columns
        )
    }

    @Test func `a terminal has colour and live lines, each stream on its own`() {
        let both = style(["TERM": "xterm", "LANG": "en_GB.UTF-8"], columns: 120)
        #expect(both.isLive && both.colourOnOut && both.colourOnErr && both.isUnicode)
        #expect(both.width == 120)
        let piped = style(["TERM": "xterm"], terminal: (false, true))
        #expect(piped.isLive && !piped.colourOnOut && piped.colourOnErr)
        let logged = style(["TERM": "xterm"], terminal: (true, false))
        #expect(!logged.isLive && logged.colourOnOut && !logged.colourOnErr)
    }

    @Test(arguments: [["TERM": "dumb"], ["TERM": ""], [:]])
    func `a dumb terminal has neither`(environment: [String: String]) {
        let style = style(environment)
        #expect(!style.isLive && !style.colourOnOut && !style.colourOnErr)
    }

    @Test func `no colour means no colour, but the bars stay`() {
        #expect(!style(["TERM": "xterm", "NO_COLOR": "1"]).colourOnErr)
        #expect(style(["TERM": "xterm", "NO_COLOR": "1"]).isLive)
        #expect(style(["TERM": "xterm", "NO_COLOR": ""]).colourOnErr)
        #expect(!style(["TERM": "xterm"], noColor: true).colourOnOut)
    }

    @Test(arguments: [
        (["LC_ALL": "C", "LANG": "en_GB.UTF-8"], false), (["LC_ALL": "", "LANG": "C.utf8"], true),
        (["LC_CTYPE": "et_EE.UTF-8", "LANG": "C"], true), (["LANG": "POSIX"], false), ([:], false),
    ])
    func `the locale says whether UTF-8 arrives`(environment: [String: String], isUnicode: Bool) {
        #expect(style(environment).isUnicode == isUnicode)
    }

    @Test func `a width of nothing is 80`() {
        #expect(style([:]).width == 80)
        #expect(style([:], columns: 0).width == 80)
        #expect(style([:], columns: 132).with(width: 0).width == 132)
    }
}
