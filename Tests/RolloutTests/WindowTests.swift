import Base
import Foundation
import Manifest
import Rollout
import Store
import Testing

@Suite struct WindowTests {
    private func zone(_ name: String) throws -> Zone {
        try Zone(Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))))
    }

    private func window(
        _ from: String,
        _ length: Duration,
        _ name: String
    ) throws -> OpenTimes {
        let window = try nightly(from, length, name)
        return window.times(window.openings, in: try zone(name))
    }

    private func nightly(
        _ from: String,
        _ length: Duration,
        _ name: String,
        _ close: Window.Close = .finish
    ) throws -> Window {
        Window(
            [Opening(from: try #require(TimeOfDay(from)), .after(length))],
            zone: name,
            close: close
        )
    }

    private func at(_ text: String) throws -> WallTime {
        let seconds = try Date(text + "Z", strategy: .iso8601).timeIntervalSince1970
        return WallTime(milliseconds: Int64(seconds) * 1_000)
    }

    @Test func `a screen names its zone once, and again when the clocks have changed`() throws {
        let time = try zone("Europe/Tallinn").screen()
        let times = ["00:30:10", "00:59:59", "01:00:00", "01:30:00"].map { "2026-10-25T\($0)" }
        #expect(
            try times.map { time(try at($0)) } == [
                "2026-10-25 03:30 +03:00", "2026-10-25 03:59", "2026-10-25 03:00 +02:00",
                "2026-10-25 03:30",
            ]
        )
    }

    @Test(
        arguments: [
            // A night in winter, and both nights in which the clocks in Tallinn are changed.
            ("2026-01-15T22:59:59", nil as String?, "2026-01-15T23:00:00" as String?),
            ("2026-01-15T23:00:00", "2026-01-16T03:00:00", nil),
            ("2026-01-16T02:59:59", "2026-01-16T03:00:00", nil),
            ("2026-01-16T03:00:00", nil, "2026-01-16T23:00:00"),
            ("2026-03-28T23:00:00", "2026-03-29T03:00:00", nil),
            ("2026-03-29T02:59:59", "2026-03-29T03:00:00", nil),
            ("2026-03-29T03:00:00", nil, "2026-03-29T22:00:00"),
            ("2026-10-24T21:59:59", nil, "2026-10-24T22:00:00"),
            ("2026-10-25T01:59:59", "2026-10-25T02:00:00", nil),
            ("2026-10-25T02:00:00", nil, "2026-10-25T23:00:00"),
        ]
    ) func `a night is as long as others when the clocks are changed`(
        now: String,
        until: String?,
        opens: String?
    ) throws {
        let state = try window("01:00", .seconds(4 * 3_600), "Europe/Tallinn").state(at: at(now))
        if let until { #expect(state == .open(until: try at(until))) }
        if let opens { #expect(state == .closed(opens: try at(opens))) }
    }

    @Test(
        arguments: [
            // The window is open from 22:00 to 04:00.
            ("2026-01-15T12:00:00", 15), ("2026-01-15T22:00:00", 15), ("2026-01-16T00:05:00", 15),
            ("2026-01-16T03:59:59", 15), ("2026-01-16T04:00:00", 16), ("2026-01-16T23:00:00", 16),
        ]
    ) func `a night over midnight belongs to its evening`(now: String, day: Int) throws {
        let window = try window("22:00", .seconds(6 * 3_600), "UTC")
        let first = window.day(of: try at("2026-01-01T12:00:00"))
        #expect(window.day(of: try at(now)) == first + Int64(day) - 1)
    }

    @Test func `a day begins when its window has closed`() throws {
        // Its next window opens on the next day: what is begun now is begun for that one.
        let window = try window("01:00", .seconds(3 * 3_600), "UTC")
        let (night, noon) = (try at("2026-01-15T02:00:00"), try at("2026-01-15T12:00:00"))
        #expect(window.day(of: night) + 1 == window.day(of: noon))
        #expect(window.day(of: noon) == window.day(of: try at("2026-01-16T03:59:00")))
    }

    @Test func `a time that is left out or comes twice opens once`() throws {
        // 03:30 does not exist in Tallinn on 29 March, and occurs twice on 25 October.
        let window = try window("03:30", .seconds(600), "Europe/Tallinn")
        #expect(
            try window.state(at: at("2026-03-29T01:35:00"))
                == .open(until: at("2026-03-29T01:40:00"))
        )
        #expect(
            try window.state(at: at("2026-03-29T00:35:00"))
                == .closed(opens: at("2026-03-29T01:30:00"))
        )
        #expect(
            try window.state(at: at("2026-10-25T00:35:00"))
                == .open(until: at("2026-10-25T00:40:00"))
        )
        #expect(
            try window.state(at: at("2026-10-25T01:35:00"))
                == .closed(opens: at("2026-10-26T01:30:00"))
        )
    }

    @Test(arguments: ["Europe/Tallinn", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
    func `whatever the zone, a year has one window of full length each day`(name: String) throws {
        let window = try window("02:15", .seconds(3_600), name)
        var moment = try at("2026-01-01T00:00:00")
        let end = try at("2027-01-01T00:00:00")
        var openings = 0
        var isOpen = false
        var minutes = 0
        while moment < end {
            if case .open = window.state(at: moment) {
                minutes += 15
                if !isOpen { openings += 1 }
                isOpen = true
            } else {
                isOpen = false
            }
            moment = moment.advanced(by: .seconds(900))
        }
        #expect(openings == 365)
        #expect(minutes == 365 * 60)
    }

    @Test func `a window of a whole day never closes`() throws {
        let window = try window("12:00", .seconds(86_400), "UTC")
        for hour in 0..<72 {
            let now = try at("2026-05-01T00:00:00").advanced(by: .seconds(hour * 3_600))
            guard case .open = window.state(at: now) else {
                Issue.record("closed at \(now)")
                continue
            }
        }
    }

    // MARK: In the scheduler

    private func scheduler(_ close: Window.Close) throws -> Scheduler {
        var vehicle = Dispatch.Vehicle()
        vehicle.signals = [0: -50]
        let dispatch = Dispatch([vehicle, vehicle], adapters: ["hci0"], linksPerAdapter: 1)
        let board = WaveBoard([[0, 1]], strata: ["", ""], rules: WaveBoard.Rules())
        var limits = Scheduler.Limits()
        limits.window = RunWindow(try nightly("01:00", .seconds(3_600), "UTC", close), zone: .utc)
        return Scheduler(dispatch, board, limits)
    }

    private func moment(_ second: Int64) -> Moment { Moment(nanoseconds: second * 1_000_000_000) }

    @Test(
        arguments: [
            (.finish, []), (.safePoint, [.stopAll]), (.stop, [.cutAll]),
        ] as [(Window.Close, [Scheduler.Action])]
    ) func `at its close nothing is begun, and those under way are treated as it says`(
        close: Window.Close,
        actions: [Scheduler.Action]
    ) throws {
        var scheduler = try scheduler(close)
        #expect(
            scheduler.step(at: moment(0), wall: try at("2026-05-01T00:30:00"))
                == [.waiting(until: try at("2026-05-01T01:00:00"))]
        )
        #expect(scheduler.step(at: moment(1), wall: try at("2026-05-01T00:30:01")) == [])
        #expect(
            scheduler.step(at: moment(2), wall: try at("2026-05-01T01:00:00")) == [
                .windowOpened(until: try at("2026-05-01T02:00:00")),
                .waveBegan(0, vehicles: 2), .begin(vehicle: 0, adapter: 0),
            ]
        )
        let drain = RunEnding.workLeft(
            "the window has closed; it opens again at 2026-05-02T01:00:00.000Z"
        )
        #expect(
            scheduler.step(at: moment(3), wall: try at("2026-05-01T02:00:00"))
                == [.drain(drain)] + actions
        )
        #expect(!scheduler.isOver)
        _ = scheduler.ended(0, .succeeded, nil, touched: true, at: moment(4))
        #expect(scheduler.step(at: moment(5), wall: try at("2026-05-01T02:00:09")) == [])
        #expect(scheduler.isOver)
        #expect(scheduler.ending == drain)
    }

    // MARK: Vehicles with times of their own

    /// Vehicle 0 may be begun from 01:00 to 02:00, vehicle 1 from 23:00 to 03:00.
    private func own(adapters: Int, signals: [Int?]) throws -> Scheduler {
        let vehicles = signals.map { signal in
            var vehicle = Dispatch.Vehicle()
            for adapter in 0..<adapters { vehicle.signals[adapter] = signal }
            return vehicle
        }
        let names = (0..<adapters).map { "hci\($0)" }
        let dispatch = Dispatch(vehicles, adapters: names, linksPerAdapter: 1)
        let board = WaveBoard([[0, 1]], strata: ["", ""], rules: WaveBoard.Rules())
        var limits = Scheduler.Limits()
        limits.window = RunWindow(
            Window([try Opening("12:00-13:00")], zone: "UTC", close: .safePoint),
            zone: .utc,
            openings: [[try Opening("01:00-02:00")], [try Opening("23:00-03:00")]]
        )
        return Scheduler(dispatch, board, limits)
    }

    @Test func `a vehicle is begun in its own openings, and the run waits for the first`() throws {
        var scheduler = try own(adapters: 1, signals: [-50, -50])
        #expect(
            scheduler.step(at: moment(0), wall: try at("2026-05-01T12:30:00"))
                == [.waiting(until: try at("2026-05-01T23:00:00"))]
        )
        #expect(
            scheduler.step(at: moment(1), wall: try at("2026-05-01T23:00:00")) == [
                .windowOpened(until: try at("2026-05-02T03:00:00")),
                .own(times: 1, isOpen: true), .waveBegan(0, vehicles: 2),
                .begin(vehicle: 1, adapter: 0),
            ]
        )
        _ = scheduler.ended(1, .succeeded, nil, touched: true, at: moment(2))
        let early = try at("2026-05-02T00:30:00")
        #expect(scheduler.step(at: moment(2), wall: early) == [])
        #expect(scheduler.ending == nil, "the other one's time comes before these close")
        #expect(scheduler.outlook(wall: early) == .window(opens: try at("2026-05-02T01:00:00")))
        #expect(
            scheduler.step(at: moment(3), wall: try at("2026-05-02T01:00:00"))
                == [.own(times: 0, isOpen: true), .begin(vehicle: 0, adapter: 0)]
        )
        let drain = RunEnding.workLeft(
            "the window has closed; it opens again at 2026-05-03T01:00:00.000Z"
        )
        #expect(
            scheduler.step(at: moment(4), wall: try at("2026-05-02T02:00:00"))
                == [.drain(drain), .stopAll]
        )
    }

    @Test func `times that close stop their own vehicles while others go on`() throws {
        var scheduler = try own(adapters: 2, signals: [-50, -50])
        let first = scheduler.step(at: moment(0), wall: try at("2026-05-02T01:00:00"))
        #expect(first.contains(.begin(vehicle: 0, adapter: 0)), "\(first)")
        #expect(first.contains(.begin(vehicle: 1, adapter: 1)), "\(first)")
        #expect(
            scheduler.step(at: moment(1), wall: try at("2026-05-02T02:00:00"))
                == [.own(times: 0, isOpen: false)]
        )
        #expect(scheduler.ending == nil)
        let last = scheduler.step(at: moment(2), wall: try at("2026-05-02T03:00:00"))
        #expect(last.last == .stopAll && scheduler.ending != nil)
    }

    @Test func `a vehicle that waited in the queue is not begun after its times have closed`()
        throws
    {
        var scheduler = try own(adapters: 1, signals: [-70, -50])
        let first = scheduler.step(at: moment(0), wall: try at("2026-05-02T01:00:00"))
        #expect(first.last == .begin(vehicle: 1, adapter: 0))
        #expect(
            scheduler.step(at: moment(1), wall: try at("2026-05-02T02:00:00"))
                == [.own(times: 0, isOpen: false)]
        )
        _ = scheduler.ended(1, .succeeded, nil, touched: true, at: moment(2))
        let next = scheduler.step(at: moment(2), wall: try at("2026-05-02T02:10:00"))
        #expect(next.last == .stopAll && scheduler.ending != nil)
        #expect(scheduler.dispatch.vehicles[0].phase == .closed)
    }

    @Test func `a vehicle whose times open later is listened for from then on`() throws {
        var scheduler = try own(adapters: 1, signals: [nil, -50])
        let first = scheduler.step(at: moment(0), wall: try at("2026-05-01T23:00:00"))
        #expect(first.last == .begin(vehicle: 1, adapter: 0))
        _ = scheduler.ended(1, .succeeded, nil, touched: true, at: moment(1))
        scheduler.listened(0, for: .seconds(3_600))
        #expect(
            scheduler.step(at: moment(2), wall: try at("2026-05-02T01:00:00"))
                == [.own(times: 0, isOpen: true), .listen(adapter: 0)]
        )
    }

    @Test func `a run whose window does not open any more ends at once`() throws {
        let dispatch = Dispatch([Dispatch.Vehicle()], adapters: ["hci0"], linksPerAdapter: 1)
        let board = WaveBoard([[0]], strata: [""], rules: WaveBoard.Rules())
        var limits = Scheduler.Limits()
        let window = Window([try Opening("2026-05-01 01:00-02:00")], zone: "UTC")
        limits.window = RunWindow(window, zone: .utc)
        var scheduler = Scheduler(dispatch, board, limits)
        #expect(
            scheduler.step(at: moment(0), wall: try at("2026-05-01T02:00:00"))
                == [.drain(.workLeft("the window does not open any more"))]
        )
        #expect(scheduler.isOver)
    }

    @Test func `a clock that jumps by an hour moves the window and nothing else`() throws {
        var ahead = try scheduler(.finish)
        _ = ahead.step(at: moment(0), wall: try at("2026-05-01T01:10:00"))
        // One hour forward: the window is over, and the vehicle in work is finished.
        _ = ahead.step(at: moment(1), wall: try at("2026-05-01T02:10:01"))
        #expect(ahead.ending != nil)
        #expect(ahead.dispatch.underWay == 1)
        // One hour back: the window is closed, and this decision stays.
        var back = try scheduler(.finish)
        _ = back.step(at: moment(0), wall: try at("2026-05-01T01:10:00"))
        _ = back.step(at: moment(1), wall: try at("2026-05-01T00:10:01"))
        #expect(back.ending != nil)
        #expect(back.dispatch.airtime(of: 0, at: moment(7)) == .seconds(7), "by the steady clock")
    }

    @Test func `airtime that is used up begins nothing new and ends who took too much`() throws {
        var vehicle = Dispatch.Vehicle()
        vehicle.signals = [0: -50]
        let dispatch = Dispatch([vehicle, vehicle], adapters: ["hci0"], linksPerAdapter: 1)
        let board = WaveBoard([[0, 1]], strata: ["", ""], rules: WaveBoard.Rules())
        var limits = Scheduler.Limits()
        limits.airtime.vehicle = .seconds(30)
        limits.airtime.total = .seconds(45)
        var scheduler = Scheduler(dispatch, board, limits)
        let wall = try at("2026-05-01T01:10:00")
        _ = scheduler.step(at: moment(0), wall: wall)
        #expect(scheduler.step(at: moment(29), wall: wall) == [])
        #expect(scheduler.step(at: moment(30), wall: wall) == [.timeOut(vehicle: 0)])
        #expect(scheduler.step(at: moment(31), wall: wall) == [], "said once")
        _ = scheduler.ended(0, .timedOut, nil, touched: true, at: moment(32))
        #expect(scheduler.step(at: moment(32), wall: wall) == [.begin(vehicle: 1, adapter: 0)])
        #expect(
            scheduler.step(at: moment(45), wall: wall)
                == [.drain(.workLeft("the airtime of 45s is used up"))]
        )
    }
}
