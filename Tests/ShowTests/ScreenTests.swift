import Base
import Rollout
import Show
import Store
import Testing
import Workbench

/// The terminal of a person during a night, as whole windows of two usual sizes.
@Suite struct ScreenTests {
    /// A window in which a run is shown.
    private struct Window {
        var screen: Screen
        var printer: TerminalPrinter
        /// Seconds since the run began.
        var seconds = 0

        init(_ width: Int, _ height: Int) {
            screen = Screen(width: width, height: height)
            let style = TerminalStyle(
                isLive: true,
                colourOnOut: true,
                colourOnErr: true,
                isUnicode: true,
                width: width
            )
            printer = TerminalPrinter(style: style.with(width: width, height: height))
            // Earlier text must stay above the run.
            screen.write("crew@north-1:~$ yardmaster run tallinn.yaml\n")
        }

        private var moment: Moment { Moment(nanoseconds: Int64(seconds) * 1_000_000_000) }
        var wall: WallTime { Sample.start.advanced(by: .seconds(seconds)) }

        private mutating func show(_ outputs: [Output]) {
            for output in outputs { screen.write(output.text) }
        }

        /// Prints an event `seconds` after the previous one.
        mutating func say(_ body: Event.Body, after seconds: Int = 1) {
            self.seconds += seconds
            let event = Event(number: self.seconds, time: wall, body: body)
            show(printer.print(event, at: moment))
        }

        mutating func look(_ outlook: Outlook) {
            seconds += 1
            show(printer.look(outlook, at: moment, wall: wall))
        }

        mutating func resize(_ width: Int, _ height: Int) {
            screen.resize(width: width, height: height)
            printer.resize(width: width, height: height)
            seconds += 1
            show(printer.tick(at: moment, wall: wall))
        }

        mutating func interrupt() {
            seconds += 1
            // The terminal itself echoes the key.
            screen.write("^C")
            show(printer.stopping("INT", at: moment, wall: wall))
        }

        /// A window of each kind is kept; in other sizes only its marks are checked.
        func expect(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(screen.strange == [], sourceLocation: sourceLocation)
            guard screen.width == 80 || name == "night" else { return }
            try Golden.expect(
                screen.picture,
                equals: "screen-\(name)-\(screen.width)x\(screen.height ?? 0).txt",
                sourceLocation: sourceLocation
            )
        }
    }

    private static func vehicle(_ number: Int) throws -> VehicleID {
        let digits = String(number)
        return try Sample.vehicle("bus-" + String(repeating: "0", count: 3 - digits.count) + digits)
    }

    private func begun(_ width: Int, _ height: Int) throws -> Window {
        let plan = try #require(SHA256Digest(String(repeating: "1a2b3c4d", count: 8)))
        var window = Window(width, height)
        window.say(
            .runStarted(
                RunStart(
                    rollout: "tallinn-4.12",
                    plan: plan,
                    vehicles: 300,
                    adapters: ["hci0", "hci1"],
                    run: 3,
                    seed: nil
                )
            )
        )
        window.say(
            .imageReady(
                name: "city-4.12",
                digest: plan,
                size: try Sample.bytes(512 << 10),
                provenance: []
            )
        )
        return window
    }

    private func verdict(_ outcome: Outcome, _ message: String) throws -> Verdict {
        Verdict(
            outcome: outcome,
            failure: outcome == .failed ? .device : outcome == .unreachable ? .unreachable : nil,
            message: message,
            versionBefore: FirmwareVersion(4, 11, 3),
            versionAfter: outcome == .succeeded ? FirmwareVersion(4, 12) : nil,
            attempts: 1,
            bytesSent: try Sample.bytes(512 << 10),
            took: .seconds(58)
        )
    }

    private func end(
        _ window: inout Window,
        _ numbers: ClosedRange<Int>,
        _ outcome: Outcome,
        _ message: String
    ) throws {
        let serial = try #require(Serial("00a1"))
        for number in numbers {
            let id = try Self.vehicle(number)
            window.say(.attemptStarted(id, serial: serial, attempt: 1, position: number))
            window.say(.vehicleEnded(id, try verdict(outcome, message)), after: 58)
        }
    }

    /// A window when forty vehicles have ended and seven are in work, each with something else.
    private func midNight(_ width: Int, _ height: Int) throws -> Window {
        var window = try begun(width, height)
        window.say(
            .notice(
                Notice(
                    .waveBegan,
                    wave: 2,
                    of: 3,
                    vehicles: try (1...60).map(Self.vehicle),
                    "wave 2 of 3: 60 vehicles"
                )
            )
        )
        try end(&window, 1...36, .succeeded, "the module reports 4.12.0")
        try end(&window, 37...37, .failed, "the module answered 'operation failed' to every object")
        try end(&window, 38...39, .unreachable, "not heard for 30s on hci0 and hci1")
        try end(&window, 40...40, .deferred, "state_of_charge is 31 %, must be >= 40 %")
        let serial = try #require(Serial("00a1"))
        let ids = try (41...47).map(Self.vehicle)
        for (place, id) in ids.enumerated() {
            window.say(.attemptStarted(id, serial: serial, attempt: 1, position: 41 + place))
        }
        func progress(_ kibibytes: Int, from resumed: Int = 0, _ left: Int) throws -> Progress {
            try Sample.progress(kibibytes, resumedFrom: resumed, remaining: .seconds(left))
        }
        let bodies: [Event.Body] = [
            .stateChanged(ids[0], .transferring, adapter: "hci0", detail: nil),
            .stateChanged(ids[1], .transferring, adapter: "hci0", detail: nil),
            .stateChanged(ids[2], .settling, adapter: "hci0", detail: "restarting"),
            .stateChanged(ids[3], .connecting, adapter: "hci1", detail: nil),
            .interrupted(ids[4], cause: "link lost (supervision timeout)", count: 1),
            .retrying(ids[5], .device, message: "the module answered 'busy'", pause: .seconds(95)),
            .progress(ids[0], try progress(300, 19)),
            .progress(ids[1], try progress(60, from: 40, 41)),
        ]
        for body in bodies { window.say(body) }
        window.look(
            .work(
                underWay: 7,
                waiting: 253,
                until: Sample.start.advanced(by: .seconds(2 * 3_600))
            )
        )
        return window
    }

    @Test(arguments: [(80, 24), (120, 40)])
    func `a window shows what is awaited, what is done, and what came of it`(
        width: Int,
        height: Int
    ) throws {
        var waiting = try begun(width, height)
        waiting.look(.window(opens: waiting.wall.advanced(by: .seconds(3_600 + 754))))
        try waiting.expect("waiting")

        try midNight(width, height).expect("night")

        var interrupted = try midNight(width, height)
        interrupted.interrupt()
        try interrupted.expect("interrupted")

        var finished = try midNight(width, height)
        try end(&finished, 41...300, .succeeded, "the module reports 4.12.0")
        finished.say(
            .runEnded(
                Sample.end(
                    [.succeeded: 296, .failed: 1, .unreachable: 2, .deferred: 1],
                    exit: 10,
                    reason: "some vehicles failed",
                    took: .seconds(18_000)
                )
            )
        )
        try finished.expect("finished")

        var bad = try midNight(width, height)
        try end(&bad, 48...60, .failed, "the module reports 4.11.3 after its restart, not 4.12.0")
        bad.say(
            .runEnded(
                Sample.end(
                    [.succeeded: 36, .failed: 14, .unreachable: 2, .deferred: 1],
                    unfinished: 247,
                    exit: 12,
                    reason: "the gate of wave 2 paused the rollout: 14 of 53 failed, 5 may"
                )
            )
        )
        try bad.expect("bad")
    }

    @Test(arguments: [(80, 24, 120, 40), (120, 40, 80, 24), (80, 24, 42, 16)])
    func `another size tears nothing`(width: Int, height: Int, toWidth: Int, toHeight: Int) throws {
        var window = try midNight(width, height)
        window.resize(toWidth, toHeight)
        #expect(window.screen.strange == [])
        if toWidth == 42 {
            try Golden.expect(window.screen.picture, equals: "screen-resized-from-80-42x16.txt")
        }
        // The live part appears once, and later drawings replace it.
        let id = try Self.vehicle(44)
        window.say(.stateChanged(id, .authenticating, adapter: "hci1", detail: nil))
        window.say(.stateChanged(id, .inspecting, adapter: "hci1", detail: nil))
        for words in ["vehicles ended", "bus-044", "wave 2 of 3  "] {
            #expect(window.screen.text.components(of: words) == 1, "\(words)")
        }
    }
}

extension String {
    /// The number of lines that contain the words.
    fileprivate func components(of words: String) -> Int {
        split(separator: "\n").filter { $0.contains(words) }.count
    }
}
