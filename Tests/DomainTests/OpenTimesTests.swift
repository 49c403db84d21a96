import Base
import Foundation
import Testing

/// When something is open: the grammar, days, freezes, zones, and the same from another program.
@Suite struct OpenTimesTests {
    private func zone(_ name: String) throws -> Zone {
        try Zone(Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))))
    }

    private func at(_ text: String) throws -> WallTime {
        let seconds = try Date(text + "Z", strategy: .iso8601).timeIntervalSince1970
        return WallTime(milliseconds: Int64(seconds) * 1_000)
    }

    private func times(_ opens: [String], not days: String = "", _ name: String = "UTC") throws
        -> OpenTimes
    {
        OpenTimes(
            try opens.map { try Opening($0) },
            not: days.isEmpty ? [] : try DayRule.list(days),
            zone: name == "UTC" ? .utc : try zone(name)
        )
    }

    // MARK: The grammar

    @Test(arguments: [
        ("22:00-05:00", "22:00-05:00"), ("mon-thu 22:00-05:00", "mon-thu 22:00-05:00"),
        ("Sat, Sunday 08:00-18:00", "sat,sun 08:00-18:00"),
        ("LAST Friday 22:00 for 4h", "last fri 22:00 for 4h"),
        ("2026-12-24 10:00-12:00", "2026-12-24 10:00-12:00"),
        ("12-20..01-06 00:00-24:00", "12-20..01-06 00:00-24:00"),
        (
            "2026-01-01..2026-01-31,first mon 22:00-00:00",
            "2026-01-01..2026-01-31,first mon 22:00-24:00"
        ),
        ("02-29 01:00 for 90m", "02-29 01:00 for 1h30m"),
        ("fri-mon 01:00-02:00", "fri-mon 01:00-02:00"),
        ("01:00 for 3661s", "01:00 for 3661000ms"),
    ])
    func `an opening is written in one way, and read again from that`(text: String, same: String)
        throws
    {
        let opening = try Opening(text)
        #expect(opening.description == same)
        #expect(try Opening(same) == opening)
    }

    @Test(arguments: [
        ("", "it does not end with times such as 22:00-05:00"),
        ("mon", "it does not end with times such as 22:00-05:00"),
        ("22:00-22:00", "it opens and closes at 22:00; a whole day is 00:00-24:00"),
        ("25:00-05:00", "`25:00` is no time of day"),
        ("tuse 22:00-05:00", "`tuse` is no day"), ("mon,,tue 22:00-05:00", "a day is missing"),
        ("mon-tue-wed 22:00-05:00", "`mon-tue-wed` is no day"),
        ("fifth mon 22:00-05:00", "`fifth mon` is no day"),
        ("02-30 22:00-05:00", "`02-30` is no date"),
        ("2026-02-29 22:00-05:00", "`2026-02-29` is no date"),
        ("2026-12-24..2026-12-20 22:00-05:00", "2026-12-24..2026-12-20 ends before it begins"),
        ("12-24.12-26 22:00-05:00", "`12-24.12-26` is no range of days"),
        ("22:00 for 25h", "a length is 1m to 24h"), ("22:00 for ever", "a length is 1m to 24h"),
    ])
    func `what is no opening is refused with the reason`(text: String, reason: String) {
        let fault = #expect(throws: CalendarFault.self) { try Opening(text) }
        #expect(fault?.description == reason)
    }

    // MARK: Days

    /// The days of December 2026 on which it opens; the first is a Tuesday.
    @Test(arguments: [
        ("tue", [1, 8, 15, 22, 29]),
        ("fri-mon", [4, 5, 6, 7, 11, 12, 13, 14, 18, 19, 20, 21, 25, 26, 27, 28]),
        ("first tue", [1]), ("second fri", [11]), ("fourth mon", [28]), ("last mon", [28]),
        ("last thu", [31]), ("12-24", [24]), ("12-30..01-02", [30, 31]), ("11-15..12-02", [1, 2]),
        ("2026-12-30..2027-02-01", [30, 31]), ("2025-12-24", []), ("12-05,12-01", [1, 5]),
    ])
    func `a rule names its days`(rule: String, days: [Int]) throws {
        let times = try times(["\(rule) 10:00-11:00"])
        let open = try (1...31).filter { day in
            let noon = try at("2026-12-\(day < 10 ? "0" : "")\(day)T10:30:00")
            if case .open = times.state(at: noon) { return true }
            return false
        }
        #expect(open == days)
    }

    @Test func `on a day of a freeze nothing begins, and what began before it goes on`() throws {
        let times = try times(["22:00-05:00"], not: "fri,12-20..01-06")
        // A Thursday's opening ends on the Friday, and the Friday's does not take place.
        #expect(
            try times.state(at: at("2026-12-04T04:00:00"))
                == .open(until: at("2026-12-04T05:00:00"))
        )
        #expect(
            try times.state(at: at("2026-12-04T23:00:00"))
                == .closed(opens: at("2026-12-05T22:00:00"))
        )
        #expect(
            try times.state(at: at("2026-12-05T01:00:00"))
                == .closed(opens: at("2026-12-05T22:00:00"))
        )
        #expect(
            try times.state(at: at("2026-12-20T05:00:00"))
                == .closed(opens: at("2027-01-07T22:00:00"))
        )
    }

    @Test func `openings that touch are one, and the next ones follow in order`() throws {
        let times = try times(["mon-fri 22:00-24:00", "tue 00:00-02:00", "2026-12-06 10:00-12:00"])
        let next = try times.next(3, after: at("2026-12-04T23:00:00"))
        #expect(
            next.map(\.opens) == [
                try at("2026-12-06T10:00:00"), try at("2026-12-07T22:00:00"),
                try at("2026-12-08T22:00:00"),
            ]
        )
        #expect(
            next.map(\.closes) == [
                try at("2026-12-06T12:00:00"), try at("2026-12-08T02:00:00"),
                try at("2026-12-09T00:00:00"),
            ]
        )
    }

    @Test func `what does not open any more says so`() throws {
        let times = try times(["2026-12-24 10:00-12:00"])
        #expect(
            try times.state(at: at("2020-01-01T00:00:00"))
                == .closed(opens: at("2026-12-24T10:00:00"))
        )
        #expect(try times.state(at: at("2026-12-24T12:00:00")) == .closed(opens: nil))
        #expect(try times.next(3, after: at("2026-12-24T12:00:00")) == [])
        #expect(
            try self.times(["fri 10:00-12:00"], not: "mon-sun").state(at: at("2026-12-01T00:00:00"))
                == .closed(opens: nil)
        )
    }

    @Test func `the rarest day is found`() throws {
        let times = try times(["02-29 10:00-12:00"], not: "tue-sun")
        #expect(
            try times.state(at: at("2072-03-01T00:00:00"))
                == .closed(opens: at("2112-02-29T10:00:00"))
        )
    }

    /// It is Friday 4 December 2026, 12:00 in Tallinn.
    @Test(arguments: [
        ("18:00", "2026-12-04T16:00:00"), ("12:00", "2026-12-05T10:00:00"),
        ("fri 18:00", "2026-12-04T16:00:00"),
        ("Friday 06:00", "2026-12-11T04:00:00"), ("mon", "2026-12-06T22:00:00"),
        ("12-24 18:00", "2026-12-24T16:00:00"), ("2026-12-24", "2026-12-23T22:00:00"),
        ("last friday 22:00", "2026-12-25T20:00:00"), ("2026-12-01 10:00", nil), ("tomorrow", nil),
        ("", nil), ("18:00 fri", nil), ("25:00", nil),
    ])
    func `the next time is found by the same words`(text: String, time: String?) throws {
        let found = try zone("Europe/Tallinn").next(text, after: at("2026-12-04T10:00:00"))
        #expect(try found == time.map { try at($0) })
    }

    // MARK: Clocks that are changed

    @Test func `it closes when clocks show the time, and after a length in any case`() throws {
        let clock = try times(["22:00-05:00"], "Europe/Berlin")
        let length = try times(["22:00 for 7h"], "Europe/Berlin")
        // At night from 28 to 29 March an hour is left out, and from 24 to 25 October one comes twice.
        let (spring, autumn) = (try at("2026-03-28T22:00:00"), try at("2026-10-24T21:00:00"))
        #expect(try clock.state(at: spring) == .open(until: at("2026-03-29T03:00:00")))
        #expect(try length.state(at: spring) == .open(until: at("2026-03-29T04:00:00")))
        #expect(try clock.state(at: autumn) == .open(until: at("2026-10-25T04:00:00")))
        #expect(try length.state(at: autumn) == .open(until: at("2026-10-25T03:00:00")))
    }

    @Test func `an opening that the clocks leave out does not take place`() throws {
        let times = try times(["02:30-03:00"], "Europe/Berlin")
        #expect(
            try times.next(2, after: at("2026-03-28T12:00:00")).map(\.opens) == [
                try at("2026-03-30T00:30:00"), try at("2026-03-31T00:30:00"),
            ]
        )
    }

    // MARK: Another program

    private static let zones = """
        Europe/Tallinn Europe/Berlin Europe/London Europe/Dublin Europe/Lisbon Europe/Istanbul Europe/Moscow
        Europe/Kyiv Atlantic/Azores Atlantic/Reykjavik America/New_York America/Chicago America/Denver
        America/Phoenix America/Los_Angeles America/Anchorage America/Adak America/St_Johns America/Halifax
        America/Havana America/Sao_Paulo America/Santiago America/Asuncion America/Nuuk America/Caracas
        Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Juba Asia/Tehran Asia/Amman Asia/Beirut
        Asia/Gaza Asia/Kolkata Asia/Kathmandu Asia/Tokyo Australia/Lord_Howe Australia/Sydney Pacific/Apia
        Pacific/Chatham
        """.split { $0 == " " || $0 == "\n" }.map { String($0) }

    private static let windows: [(opens: [String], not: String)] = [
        (["22:00-05:00"], ""),
        (
            ["mon-thu 22:00-05:00", "sat,sun 08:00-18:00", "2026-12-24 10:00-12:00"],
            "12-20..01-06,last fri,2026-05-01"
        ),
        (
            [
                "00:00-01:30", "fri-mon 02:15-02:45", "first sun,third wed 02:30-03:00",
                "03-20..04-05 01:30-02:30",
            ],
            "second tue,2024-02-20..2024-03-02"
        ),
        (["00:00-24:00"], "sat-tue,fourth thu,02-29"),
        (["last sat 23:30-23:00", "fourth sun 00:00-24:00", "10-20..11-10 01:00-02:00"], ""),
    ]

    /// One of the windows in each of 40 zones, over the ten years from 2 January 2020.
    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "needs python3"))
    func `another program finds the same openings`() throws {
        #expect(Self.zones.count == 40)
        var cases: [(zone: String, window: (opens: [String], not: String))] = []
        for (index, zone) in Self.zones.enumerated() {
            cases.append((zone, Self.windows[index % Self.windows.count]))
        }
        let input = cases.map {
            "\($0.zone)|\($0.window.opens.joined(separator: ";"))|\($0.window.not)\n"
        }.joined()
        let answers = try run(Self.oracle, input).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        try #require(answers.count == cases.count + 1)
        let start = try at("2020-01-02T00:00:00")
        for ((name, window), answer) in zip(cases, answers) {
            let wanted = answer.split(separator: " ").map { String($0) }
            #expect(wanted.count > 100, "\(name)")
            let times = try times(window.opens, not: window.not, name)
            let found = times.next(wanted.count, after: start).map {
                "\($0.opens.milliseconds / 1_000)-\($0.closes.milliseconds / 1_000)"
            }
            let first = zip(found, wanted).first { $0 != $1 }
            #expect(found == wanted, "\(name), \(window.opens): \(String(describing: first))")
        }
    }

    private func run(_ script: String, _ input: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", script]
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }

    /// Reads `ZONE|OPENING;OPENING|DAYS,DAYS` from each line, and writes the openings as seconds.
    private static let oracle = """
        import calendar, datetime, functools, re, sys, zoneinfo
        names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        @functools.cache
        def matches(rule, day):
            words = rule.split()
            if len(words) == 2:
                week = [w[names.index(words[1])] for w in calendar.monthcalendar(day.year, day.month)]
                dates = [date for date in week if date]
                order = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}[words[0]]
                return dates[order] == day.day
            if rule[0].isalpha():
                ends = [names.index(name) for name in rule.split("-")]
                number = ends[0]
                while True:
                    if number == day.weekday(): return True
                    if number == ends[-1]: return False
                    number = (number + 1) % 7
            ends = rule.split("..")
            if len(ends[0]) == 10: return ends[0] <= day.isoformat() <= ends[-1]
            date = day.isoformat()[5:]
            if ends[0] <= ends[-1]: return ends[0] <= date <= ends[-1]
            return not ends[-1] < date < ends[0]
        def moment(zone, day, clock):
            hours, minutes = map(int, clock.split(":"))
            day += datetime.timedelta(hours // 24)
            local = datetime.datetime(day.year, day.month, day.day, hours % 24, minutes, tzinfo=zone)
            return int(local.timestamp())
        def spans(zone, opens, closed, first, last):
            found = []
            day = first
            while day < last:
                if not any(matches(rule, day) for rule in closed):
                    for text in opens:
                        days, begin, end = re.fullmatch(r"(?:(.*) )?(..:..)-(..:..)", text).groups()
                        if days and not any(matches(rule, day) for rule in days.split(",")): continue
                        until = day if end > begin else day + datetime.timedelta(1)
                        pair = (moment(zone, day, begin), moment(zone, until, end))
                        if pair[0] < pair[1]: found.append(pair)
                day += datetime.timedelta(1)
            joined = []
            for begin, end in sorted(found):
                if joined and begin <= joined[-1][1]: joined[-1][1] = max(joined[-1][1], end)
                else: joined.append([begin, end])
            return joined
        for line in sys.stdin:
            name, opens, closed = line.rstrip("\\n").split("|")
            zone = zoneinfo.ZoneInfo(name)
            rules = closed.split(",") if closed else []
            found = spans(zone, opens.split(";"), rules, datetime.date(2020, 1, 1), datetime.date(2030, 1, 10))
            start, stop = 1577923200, 1893456000
            print(" ".join(f"{a}-{b}" for a, b in found if start < a < stop))
        """
}
