import Base
import Rollout
import Show
import Store
import Testing

@Suite struct PlainPrinterTests {
    @Test func `a run is told in lines`() throws {
        try Golden.expect(
            Sample.transcript(PlainPrinter(), try Sample.full()),
            equals: "plain.txt"
        )
    }

    @Test func `neither colour nor a cursor move is ever printed`() throws {
        let text = Sample.transcript(PlainPrinter(), try Sample.full())
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test func `progress has a line each ten seconds at most, for each vehicle on its own`() throws
    {
        let (a, b) = (try Sample.vehicle("a"), try Sample.vehicle("b"))
        var bodies: [(Int, Event.Body)] = []
        for tick in 0..<600 {
            bodies.append((tick * 100, .progress(a, try Sample.progress(tick))))
            bodies.append((tick * 100, .progress(b, try Sample.progress(tick))))
        }
        let lines = Sample.transcript(PlainPrinter(), Sample.events(bodies)).split(separator: "\n")
        #expect(lines.count { $0.contains(" a: ") } == 6)
        #expect(lines.count { $0.contains(" b: ") } == 6)
    }

    @Test func `a clock that is set back does not silence the progress`() throws {
        let a = try Sample.vehicle("a")
        let events = Sample.events([
            (3_600_000, .progress(a, try Sample.progress(1))),
            (0, .progress(a, try Sample.progress(2))),
        ])
        #expect(Sample.transcript(PlainPrinter(), events).split(separator: "\n").count == 4)
    }

    @Test func `who watches is told every 30 seconds what is awaited, and others are not`() throws {
        func lines(_ isWatched: Bool) -> [String] {
            var printer = PlainPrinter(isWatched: isWatched)
            let opens = Sample.start.advanced(by: .seconds(7_200))
            func after(_ seconds: Int) -> (Moment, WallTime) {
                let time = Sample.start.advanced(by: .seconds(seconds))
                return (Moment(nanoseconds: 0).advanced(by: .seconds(seconds)), time)
            }
            var (now, wall) = after(0)
            var outputs = printer.look(.window(opens: opens), at: now, wall: wall)
            for second in 1...65 {
                (now, wall) = after(second)
                outputs += printer.tick(at: now, wall: wall)
            }
            // A change of only the numbers is not reported.
            outputs += printer.look(.work(underWay: 1, waiting: 2, until: nil), at: now, wall: wall)
            outputs += printer.look(.work(underWay: 2, waiting: 1, until: nil), at: now, wall: wall)
            outputs += printer.stopping("INT", at: now, wall: wall)
            return outputs.map(\.text)
        }
        let stop =
            "2026-11-21T03:31:05Z INT: comes to the next safe point and ends; once more (Ctrl-C) "
            + "ends it at once\n"
        #expect(
            lines(true) == [
                "2026-11-21T03:30:00Z waits for the window: opens 05:30:00 UTC, in 2h00m00s\n",
                "2026-11-21T03:30:30Z waits for the window: opens 05:30:00 UTC, in 1h59m30s\n",
                "2026-11-21T03:31:00Z waits for the window: opens 05:30:00 UTC, in 1h59m00s\n",
                "2026-11-21T03:31:05Z at work on 1 vehicle, 2 to come\n", stop,
            ]
        )
        #expect(lines(false) == [stop])
    }

    @Test func `the results go where they are wanted`() throws {
        let events = Sample.events([(0, .runEnded(Sample.end([:])))])
        var printer = PlainPrinter(results: .err)
        #expect(
            printer.print(events[0], at: Moment(nanoseconds: 0)) == [
                Output(
                    .err,
                    """
                    no vehicles in 11m40s: nothing to do for you
                    rollout=tallinn-4.12 ok=0 current=0 deferred=0 unreachable=0 failed=0 exit=0

                    """
                )
            ]
        )
    }
}

@Suite struct ClosingTests {
    /// A run with `count` vehicles that succeeded, and the other ones.
    private func end(_ count: Int, _ others: [Verdict], exit: Int) throws -> String {
        var counts: [Outcome: Int] = [.succeeded: count]
        var bodies: [(Int, Event.Body)] = try (0..<count).map { number in
            let verdict = verdict(.succeeded, from: FirmwareVersion(4, UInt32(number % 2)))
            return (0, .vehicleEnded(try Sample.vehicle("v\(100 + number)"), verdict))
        }
        for (number, verdict) in others.enumerated() {
            counts[verdict.outcome, default: 0] += 1
            bodies.append((0, .vehicleEnded(try Sample.vehicle("w\(number)"), verdict)))
        }
        bodies.append((0, .runEnded(Sample.end(counts, exit: exit, reason: "for a reason"))))
        var printer = PlainPrinter(offers: Sample.offers)
        return Sample.events(bodies).flatMap { printer.print($0, at: Moment(nanoseconds: 0)) }
            .filter { $0.stream == .out }.map(\.text).joined()
    }

    private func verdict(_ outcome: Outcome, from version: FirmwareVersion) -> Verdict {
        Verdict(
            outcome: outcome,
            message: "a message",
            versionBefore: version,
            versionAfter: outcome == .succeeded ? FirmwareVersion(4, 12) : nil,
            attempts: 1,
            bytesSent: .zero,
            took: .zero
        )
    }

    @Test func `a run of many vehicles ends with those that need somebody, and what to do`() throws
    {
        let failed = verdict(.failed, from: FirmwareVersion(4, 1))
        let current = verdict(.alreadyCurrent, from: FirmwareVersion(4, 12))
        #expect(
            try end(12, [failed, current], exit: 10) == """
                6 succeeded: 4.0.0 -> 4.12.0
                6 succeeded: 4.1.0 -> 4.12.0
                1 already-current: 4.12.0
                vehicle  outcome  versions  took  interruptions  message
                w0       failed   4.1.0     -     -              a message
                12 succeeded, 1 already-current, 1 failed in 11m40s: for a reason
                next: yardmaster status --rollout tallinn-4.12 --quiet says what to do about each
                rollout=tallinn-4.12 ok=12 current=1 deferred=0 unreachable=0 failed=1 exit=10

                """
        )
    }

    @Test func `few vehicles have a row each`() throws {
        let text = try end(12, [], exit: 0)
        #expect(text.split(separator: "\n").count == 15 && text.contains("\nv111     succeeded"))
        #expect(!text.contains("next:"), "nobody has to do anything")
        #expect(try end(13, [], exit: 0).split(separator: "\n").count == 4)
    }
}

@Suite struct FoldingTests {
    @Test(arguments: [
        // A row goes on below its last column, a sentence is indented.
        (
            "v1       failed   4.11.3  the module came back with its earlier version twice",
            "v1       failed   4.11.3  the module came back with its\n"
                + "                          earlier version twice"
        ),
        (
            "  paused: a gate has paused the rollout after two of four failures",
            "  paused: a gate has paused the rollout after two of\n    four failures"
        ),
        // A cell that has little room there is below its row.
        (
            "v1  failed  2026-11-29 05:00:00  the module came back with its earlier version twice",
            "v1  failed  2026-11-29 05:00:00\n"
                + "    the module came back with its earlier version twice"
        ),
        // Wide letters count as two.
        (
            "車両一  failed  その装置は古い版のままで再起動後も変わりませんでした",
            "車両一  failed  その装置は古い版のままで再起動後も変わり\n                ませんでした"
        ),
        // A command is copied as one line, and what fits stays as it is.
        (
            "    $ yardmaster run --state /var/lib/yardmaster tallinn.yaml   # or let the timer do it",
            "    $ yardmaster run --state /var/lib/yardmaster tallinn.yaml   # or let the timer do it"
        ),
        (
            "  yardmaster resume --state /var/lib/yardmaster --rollout tallinn",
            "  yardmaster resume --state /var/lib/yardmaster --rollout tallinn"
        ),
        ("v2  ok\n\n  short\n", "v2  ok\n\n  short\n"),
    ])
    func `long lines for people go on below`(text: String, folded: String) {
        #expect(Columns.folded(text, 56) == folded)
    }

    @Test func `a narrow window is left to the terminal`() {
        let text = String(repeating: "word ", count: 30)
        #expect(Columns.folded(text, 39) == text)
        #expect(Columns.folded(text, 40).split(separator: "\n").allSatisfy { $0.count <= 40 })
    }
}

@Suite struct QuietPrinterTests {
    private static let printer = QuietPrinter(offers: Sample.offers)

    @Test func `nothing is printed when all is well`() throws {
        var events = try Sample.full()
        events.removeLast()
        events += Sample.events([(700_000, .runEnded(Sample.end([.succeeded: 6])))])
        #expect(Sample.transcript(Self.printer, events) == "")
    }

    @Test func `otherwise the vehicles that need somebody are, and the last line`() throws {
        try Golden.expect(
            Sample.transcript(Self.printer, try Sample.full()),
            equals: "quiet.txt"
        )
    }
}

@Suite struct LastLineTests {
    @Test(arguments: [
        (
            Sample.end([.succeeded: 41, .alreadyCurrent: 3, .deferred: 2, .unreachable: 1]),
            "rollout=tallinn-4.12 ok=41 current=3 deferred=2 unreachable=1 failed=0 exit=0\n"
        ),
        (
            Sample.end(
                [.failed: 1, .rolledBack: 1, .rejected: 1, .timedOut: 1, .inDoubt: 1],
                exit: 10
            ),
            "rollout=tallinn-4.12 ok=0 current=0 deferred=0 unreachable=0 failed=5 exit=10\n"
        ),
        (
            Sample.end([.skipped: 2, .aborted: 3], unfinished: 4, exit: 13),
            "rollout=tallinn-4.12 ok=0 current=0 deferred=0 unreachable=0 failed=0 "
                + "skipped=2 aborted=3 unfinished=4 exit=13\n"
        ),
    ])
    func `the last line is as scripts expect it`(end: RunEnd, line: String) {
        #expect(Recap.lastLine(end) == line)
    }

    @Test func `a name with white space stays one field`() {
        let end = RunEnd(
            rollout: "a b\nc",
            counts: [:],
            unfinished: 0,
            exitCode: 0,
            reason: "",
            took: .zero
        )
        #expect(Recap.lastLine(end).hasPrefix("rollout=a-b\\u{a}c ok=0 "))
    }
}

@Suite struct EventLineTests {
    @Test func `every event is one line of JSON`() throws {
        let text = Sample.transcript(EventLine(), try Sample.full())
        try Golden.expect(text.replacing("<out>\n", with: ""), equals: "events.jsonl")
    }

    @Test func `every line reads back with its head in order`() throws {
        var printer = EventLine()
        var kinds: Set<String> = []
        for event in try Sample.full() {
            let line = printer.line(event)
            #expect(line.hasSuffix("}\n"))
            #expect(line.count { $0 == "\n" } == 1)
            let value = try JSONValue(json: line)
            let names = value.members?.map(\.name) ?? []
            #expect(names.prefix(5) == ["schema", "number", "time", "kind", "rollout"])
            #expect(value["number"]?.integer == Int64(event.number))
            kinds.insert(value["kind"]?.string ?? "")
        }
        // The sample contains one event of each kind.
        #expect(kinds.count == 15)
        #expect(kinds.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" } })
    }

    @Test(arguments: [Double.nan, .infinity, -1, 1e300])
    func `a rate that makes no sense is left out`(rate: Double) throws {
        var printer = EventLine()
        let body = Event.Body.progress(try Sample.vehicle("a"), try Sample.progress(1, rate: rate))
        let value = try JSONValue(json: printer.line(Sample.events([(0, body)])[0]))
        #expect(value["acknowledged"] == 1_024)
        #expect(value["bytes-per-second"] == nil)
    }

    @Test func `two facts of one name are one member`() throws {
        var printer = EventLine()
        let facts = [Fact("a", "1"), Fact("a", "2"), Fact("b", "3")]
        let body = Event.Body.inspected(try Sample.vehicle("a"), version: nil, facts: facts)
        let value = try JSONValue(json: printer.line(Sample.events([(0, body)])[0]))
        #expect(value["facts"]?.text == #"{"a":"1","b":"3"}"#)
    }

    @Test(arguments: [(UInt64(7), JSONValue.integer(7)), (.max, "18446744073709551615")])
    func `a seed keeps all its digits`(seed: UInt64, value: JSONValue) {
        #expect(JSONValue.seed(seed) == value)
    }

    @Test(arguments: [
        (Duration.zero, "0"), (.seconds(20), "20"), (.milliseconds(74_500), "74.5"),
        (.milliseconds(1), "0.001"), (.nanoseconds(1_999_999), "0.001"),
    ])
    func `seconds are whole where they can be`(duration: Duration, text: String) {
        #expect(JSONValue.seconds(duration).text == text)
    }
}

@Suite struct JSONReportTests {
    @Test func `a run is one document`() throws {
        let text = Sample.transcript(JSONReport(), try Sample.full())
        #expect(text.hasPrefix("<out>\n{"))
        try Golden.expect(text.replacing("<out>\n", with: ""), equals: "report.json")
    }

    @Test func `vehicles are sorted and the exit code says why`() throws {
        let text = Sample.transcript(JSONReport(), try Sample.full())
        let report = try JSONValue(json: text.replacing("<out>\n", with: ""))
        let vehicles = report["vehicles"]?.array?.compactMap { $0["vehicle"]?.string }
        #expect(vehicles == ["bus-2", "v1", "v3 ä🚗", "v4"])
        #expect(report["exit"]?["code"] == 10)
        #expect(report["exit"]?["reason"] == "some vehicles failed")
        #expect(report["counts"]?["succeeded"] == 1)
        #expect(report["counts"]?["skipped"] == 0)
        #expect(report["counts"]?["unfinished"] == 2)
        #expect(report["run"] == 3)
    }

    @Test func `a run that ended before it started is a document too`() throws {
        let events = Sample.events([(0, .runEnded(Sample.end([:], exit: 69, reason: "no radio")))])
        let text = Sample.transcript(JSONReport(), events)
        let report = try JSONValue(json: text.replacing("<out>\n", with: ""))
        #expect(report["vehicles"] == .array([]))
        #expect(report["plan"] == nil)
        #expect(report["exit"]?["code"] == 69)
    }
}
