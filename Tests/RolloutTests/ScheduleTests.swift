import Base
import Families
import Foundation
import Manifest
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization
import Testing

@Suite struct ScheduleTests {
    private let image = DepotBench.image(bytes: 20_000)
    private var update: [JobStep] { [.update(image)] }

    private func bench(
        _ count: Int,
        seed: UInt64 = 3,
        _ change: @escaping (Int, inout ModulePlan) -> Void = { _, _ in }
    ) -> DepotBench {
        DepotBench(
            seed: seed,
            (1...count).map { number in
                DepotBench.module(number) { change(number, &$0) }
            }
        )
    }

    // MARK: Adapters

    @Test func `four adapters bring every module home, each with one link at a time`() throws {
        let bench = bench(24)
        let night = try bench.nights(update, [DepotBench.schedule([Array(0..<24)])], adapters: 4)[0]
        #expect(night.result.counts == [.succeeded: 24])
        #expect(night.result.adapters.count == 4)
        #expect(night.result.adapters.allSatisfy { $0.busy > .zero })
        #expect(night.rollout?.state == .finished)
    }

    @Test func `taking turns is quicker than waiting, and changes nothing else`() throws {
        func took(_ overlaps: Bool) throws -> (Duration, [Outcome: Int]) {
            let bench = bench(12) { number, plan in
                plan.restartTime = .seconds(2 + number)
                plan.activationTime = .seconds(12)
            }
            let night = try bench.nights(
                update,
                [DepotBench.schedule([Array(0..<12)]) { $0.overlaps = overlaps }]
            )[0]
            return (
                Moment(nanoseconds: 0).duration(to: bench.simulation.time.now), night.result.counts
            )
        }
        let (quick, counts) = try took(true)
        let (slow, same) = try took(false)
        #expect(counts == same)
        #expect(quick * 4 < slow * 3, "\(quick.brief) and \(slow.brief)")
    }

    @Test func `others have the adapter from the moment in which a module restarts`() throws {
        let bench = bench(2) { $1.restartTime = .seconds(5) }
        let night = try bench.nights(update, [DepotBench.schedule([[0, 1]])])[0]
        #expect(night.result.counts == [.succeeded: 2])
        let restart = bench.events.first { event in
            guard case .stateChanged(_, .settling, _, _) = event.body else { return false }
            return true
        }
        let begun = bench.events.filter { event in
            guard case .attemptStarted = event.body else { return false }
            return true
        }
        try #require(begun.count == 2)
        #expect(begun[1].time == restart?.time)
    }

    @Test func `an adapter that is pulled out leaves its vehicles to the others`() throws {
        let bench = bench(8)
        let time = bench.simulation.time
        let night = try bench.nights(
            update,
            [DepotBench.schedule([Array(0..<8)])],
            adapters: 2,
            roster: AirRoster(air: bench.simulation.air, names: ["hci0", "hci1"])
        ) { [air = bench.simulation.air] _, _ in
            time.schedule(at: time.now.advanced(by: .seconds(20))) {
                air.atOnce { $0.removeAdapter("hci1") }
            }
        }[0]
        #expect(night.result.counts == [.succeeded: 8])
        #expect(night.result.adapters[0].busy > night.result.adapters[1].busy * 2)
    }

    @Test func `an adapter that is plugged in takes part`() throws {
        let bench = bench(16)
        let time = bench.simulation.time
        let night = try bench.nights(
            update,
            [DepotBench.schedule([Array(0..<16)])],
            adapters: 1,
            roster: AirRoster(air: bench.simulation.air, names: ["hci0", "hci5"])
        ) { [air = bench.simulation.air] _, _ in
            time.schedule(at: time.now.advanced(by: .seconds(20))) {
                air.atOnce { $0.addAdapter("hci5") }
            }
        }[0]
        #expect(night.result.counts == [.succeeded: 16])
        #expect(night.result.adapters.map(\.name) == ["hci0", "hci5"])
        #expect(night.result.adapters.allSatisfy { $0.busy > .seconds(30) })
    }

    @Test func `a run without an adapter ends, also for those that nobody has heard`() throws {
        let bench = DepotBench(
            seed: 5,
            [DepotBench.module(1) { $0.signal = nil }, DepotBench.module(2), DepotBench.module(3)]
        )
        let (time, air) = (bench.simulation.time, bench.simulation.air)
        let night = try bench.nights(
            update,
            [DepotBench.schedule([[0, 1], [2]])],
            roster: AirRoster(air: air, names: ["hci0"])
        ) { _, _ in
            time.schedule(at: time.now.advanced(by: .seconds(5))) {
                air.atOnce { $0.removeAdapter("hci0") }
            }
            time.schedule(at: time.now.advanced(by: .seconds(7_200))) { bench.stop.request() }
        }[0]
        // The module that was in the middle of its image has a debt.
        #expect(night.result.counts == [.deferred: 2, .failed: 1])
        for record in night.records {
            let end = try #require(record.end, "\(record.vehicle) has no verdict")
            let isFailed = end.outcome == .failed
            #expect(isFailed || end.message.contains("adapter is gone"), "\(end.message)")
        }
        #expect(!bench.stop.isRequested)
    }

    // MARK: Gates

    @Test func `the second failure of twelve pauses, and nothing new is begun before resume`()
        throws
    {
        let bench = bench(12) { number, plan in
            if number == 3 || number == 5 { plan.faults = [.init(.returnUnchanged)] }
        }
        let schedule = DepotBench.schedule([Array(0..<12)]) {
            $0.rules.pause = PauseRule(failed: .count(1), atLeast: 1)
        }
        let nights = try bench.nights(update, [schedule, schedule, schedule]) { night, journal in
            guard night == 2 else { return }
            _ = try await journal.resume("test")
        }
        guard case .paused(let why) = nights[0].result.ending else {
            Issue.record("it went on: \(nights[0].result)")
            return
        }
        #expect(why.hasPrefix("the gate: 2 of "))
        #expect(nights[0].result.counts[.failed] == 2)
        #expect(nights[0].result.unfinished > 0)
        #expect(nights[0].inBootloader.allSatisfy { !$0 }, "what was begun was finished")
        #expect(nights[1].result.ending == .paused(why), "without a person it stays paused")
        #expect(nights[1].records == nights[0].records)
        #expect(nights[2].result.ending == .complete)
        #expect(nights[2].result.unfinished == 0)
        #expect(nights[2].versions.allSatisfy { $0 == image.version })
    }

    @Test func `a gate knows what an earlier run has counted`() throws {
        let bench = bench(3) { number, plan in
            if number <= 2 { plan.faults = [.init(.returnUnchanged, times: 9)] }
        }
        func schedule(_ airtime: Duration?) -> Schedule {
            DepotBench.schedule([[0], [1], [2]]) {
                $0.rules.pause = PauseRule(failed: .count(1), atLeast: 1)
                $0.limits.airtime.total = airtime
            }
        }
        let nights = try bench.nights(update, [schedule(.seconds(5)), schedule(nil)])
        #expect(nights[0].result.counts[.failed] == 1 && nights[0].result.unfinished == 2)
        guard case .paused(let why) = nights[1].result.ending else {
            Issue.record("it went on: \(nights[1].result)")
            return
        }
        #expect(why.hasPrefix("the gate: 2 of 2 "))
        #expect(nights[1].versions[2] != image.version, "nobody is begun after the second failure")
    }

    @Test func `a verdict that trips the gate pauses the rollout in its own transaction`() throws {
        var (cuts, paused) = (0, 0)
        for cut in 1... {
            let bench = bench(4) { number, plan in
                if number <= 2 { plan.faults = [.init(.returnUnchanged, times: 9)] }
            }
            let schedule = DepotBench.schedule([Array(0..<4)]) {
                $0.rules.pause = PauseRule(failed: .count(0), atLeast: 1)
            }
            let found = Mutex<(failed: Int, hold: Hold?)>((0, nil))
            let nights = try bench.nights(
                [.update(DepotBench.image(bytes: 600))],
                [schedule, schedule]
            ) { night, journal in
                if night == 0 { return try await journal.cut(after: cut) }
                try await journal.cut(after: nil)
                let records = try await journal.executions(rollout: "test")
                let hold = try await journal.hold(on: "test")
                found.withLock { $0 = (records.count { $0.end?.outcome == .failed }, hold) }
            }
            let (failed, hold) = found.withLock { $0 }
            #expect((failed > 0) == (hold != nil), "cut after \(cut)")
            if hold != nil { paused += 1 }
            if hold != nil, case .paused? = nights.last?.result.ending {
            } else {
                #expect(hold == nil, "the next run begins nothing, cut after \(cut)")
            }
            #expect(nights.last?.records.count { $0.end?.outcome == .failed } ?? 0 <= 1)
            if nights.count == 2 { break }
            cuts += 1
        }
        #expect(cuts > 12 && paused > 1, "\(cuts) cuts, \(paused) of them after the verdict")
    }

    /// The first vehicle fails after the person's answer: the abort of its gate is graver.
    @Test func `a gate aborts though a person has paused before, and resume does not lift it`()
        throws
    {
        let bench = bench(3) { number, plan in
            if number == 1 { plan.faults = [.init(.returnUnchanged, times: 9)] }
        }
        let schedule = DepotBench.schedule([Array(0..<3)]) {
            $0.rules.pause = PauseRule(failed: .count(0), atLeast: 1, action: .abort)
        }
        let time = bench.simulation.time
        let found = Mutex<(hold: Hold?, answer: VerbAnswer?)>((nil, nil))
        let nights = try bench.nights(update, [schedule, schedule]) { night, journal in
            guard night == 0 else {
                let hold = try await journal.hold(on: "test")
                let answer = try await journal.resume("test")
                return found.withLock { $0 = (hold, answer) }
            }
            time.schedule(at: time.now.advanced(by: .seconds(20))) {
                journal.assumeIsolated { journal in
                    let lunch = Hold(
                        .paused,
                        "test",
                        reason: "lunch",
                        author: "anna",
                        at: time.wallTime
                    )
                    do { try journal.set(lunch, isAtWork: true) } catch { Issue.record(error) }
                }
            }
        }
        #expect(nights[0].records.map { $0.end?.outcome } == [.failed, .aborted, .aborted])
        let (hold, answer) = found.withLock { $0 }
        #expect(hold?.kind == .aborted && hold?.isByGate == true)
        #expect(hold?.reason.hasSuffix("before that, by anna: lunch") == true, "\(hold as Any)")
        guard case .refused = answer, case .aborted(let why) = nights[0].result.ending else {
            Issue.record("\(answer as Any), \(nights[0].result)")
            return
        }
        #expect(why == hold?.reason)
        guard case .aborted = nights[1].result.ending else {
            Issue.record("\(nights[1].result)")
            return
        }
        #expect(nights[1].versions.dropFirst().allSatisfy { $0 == FirmwareVersion(4, 11, 3) })
    }

    @Test func `eight links in flight do not overshoot a gate of one`() throws {
        let bench = bench(24) { _, plan in plan.faults = [.init(.returnUnchanged, times: 9)] }
        let night = try bench.nights(
            update,
            [
                DepotBench.schedule([Array(0..<24)]) {
                    $0.rules.pause = PauseRule(failed: .count(1), atLeast: 1)
                    $0.linksPerAdapter = 2
                }
            ],
            adapters: 4
        )[0]
        #expect(night.result.counts[.failed] == 2)
        #expect(night.result.unfinished == 22)
    }

    @Test func `the unreachable never trip a gate and do not hold the line`() throws {
        let bench = bench(10) { number, plan in if number.isMultiple(of: 2) { plan.signal = nil } }
        let night = try bench.nights(
            update,
            [
                DepotBench.schedule([Array(0..<10)]) {
                    $0.rules.pause = PauseRule(failed: .count(0), atLeast: 1)
                }
            ]
        )[0]
        #expect(night.result.ending == .complete)
        #expect(night.result.counts == [.succeeded: 5, .unreachable: 5])
        let ends = night.records.compactMap { record in
            record.end.map { (record.vehicle.text, $0.outcome, $0.time) }
        }
        let reached = ends.filter { $0.1 == .succeeded }.map(\.2).max()
        let missed = ends.filter { $0.1 == .unreachable }.map(\.2).min()
        #expect(try #require(reached) <= #require(missed), "those that are there come first")
    }

    @Test func `a canary that is away is replaced, and everybody can see it`() throws {
        let bench = bench(6) { number, plan in if number == 1 { plan.signal = nil } }
        let night = try bench.nights(
            update,
            [
                DepotBench.schedule([[0, 1], [2, 3, 4, 5]]) {
                    $0.limits.canaryPatience = .seconds(30)
                }
            ]
        )[0]
        #expect(night.result.counts == [.succeeded: 5, .unreachable: 1])
        let notice = try #require(bench.notices(.replaced).first)
        #expect(notice.vehicle?.text == "v1")
        #expect(notice.message == "is not heard; v3 takes its place in wave 1")
        #expect(notice.wave == 1)
    }

    @Test func `a rollout over its waves goes on with the wave that it was at`() throws {
        let bench = bench(4)
        let schedule = DepotBench.schedule([[0], [1], [2, 3]]) { $0.rules.between.asks = true }
        let nights = try bench.nights(update, [schedule, schedule, schedule]) { night, journal in
            guard night > 0 else { return }
            _ = try await journal.resume("test")
        }
        #expect(nights.map { $0.records.count { $0.end != nil } } == [1, 2, 4])
        #expect(
            nights[0].result.ending == .paused("wave 1 has ended, and a person is to look at it")
        )
        #expect(nights[2].result.ending == .complete)
        #expect(nights[2].result.counts == [.succeeded: 2, .alreadyCurrent: 2])
    }

    /// In the soak a person pauses the rollout, and resumes it when the run has drained.
    @Test func `a pause within a soak takes nothing from the soak and the question after it`()
        throws
    {
        let bench = bench(2)
        let schedule = DepotBench.schedule([[0], [1]]) {
            $0.rules.between.soak = .seconds(7_200)
            $0.rules.between.asks = true
        }
        let time = bench.simulation.time
        let nights = try bench.nights(update, [schedule, schedule, schedule]) { night, journal in
            guard night == 0 else {
                _ = try await journal.resume("test")
                return
            }
            time.schedule(at: time.now.advanced(by: .seconds(3_600))) {
                journal.assumeIsolated {
                    let hold = Hold(
                        .paused,
                        "test",
                        reason: "rain",
                        author: "anna",
                        at: time.wallTime
                    )
                    _ = try? $0.set(hold, isAtWork: true)
                }
            }
        }
        #expect(nights[0].result.ending == .paused("rain"))
        #expect(
            nights[1].result.ending == .paused("wave 1 has ended, and a person is to look at it")
        )
        #expect(nights.map { $0.records.count { $0.end != nil } } == [1, 1, 2])
        // The rest of the soak: the question came two hours after the end of the wave.
        let ended = try #require(bench.events.first { Self.isNotice($0, .waveEnded) }?.time)
        let asked = try #require(
            bench.events.last { event in
                guard case .notice(let notice) = event.body else { return false }
                return notice.kind == .draining && notice.message.contains("to look at it")
            }?.time
        )
        #expect(ended.duration(to: asked) >= .seconds(7_200))
    }

    private static func isNotice(_ event: Event, _ kind: Notice.Kind) -> Bool {
        if case .notice(let notice) = event.body { notice.kind == kind } else { false }
    }

    // MARK: Requests

    @Test(arguments: [Hold.Kind.paused, .aborted, nil])
    func `what is asked of a rollout is taken up by the run under way`(kind: Hold.Kind?) throws {
        let bench = bench(6)
        let time = bench.simulation.time
        let night = try bench.nights(update, [DepotBench.schedule([Array(0..<6)])]) { _, journal in
            // The request is made after the first look at the journal, and found at a later one.
            let later = time.wallTime.advanced(by: .seconds(20))
            time.schedule(at: time.now.advanced(by: .seconds(20))) {
                journal.assumeIsolated {
                    guard let kind else {
                        try? $0.leave(ControlRequest(.yield, rollout: "test", at: later))
                        return
                    }
                    let hold = Hold(kind, "test", reason: "brakes", author: "anna", at: later)
                    _ = try? $0.set(hold, isAtWork: true)
                }
            }
        }[0]
        switch kind {
        case .paused:
            #expect(night.result.ending == .paused("brakes"))
            #expect(night.rollout?.hold?.kind == .paused)
            #expect(night.rollout?.hold?.author == "anna")
        case .aborted:
            #expect(night.result.ending == .aborted("brakes"))
            #expect(night.result.counts[.aborted] ?? 0 > 0)
            #expect(night.result.unfinished == 0)
            #expect(night.inBootloader.allSatisfy { !$0 })
        case .recalled:
            #expect(night.result.ending == .aborted("brakes"))
            #expect(night.rollout?.hold?.kind == .recalled)
        case nil:
            #expect(bench.notices(.request).count == 1)
            #expect(night.result.ending == .replaced)
            #expect(night.result.unfinished > 0)
        }
    }

    @Test func `an inhibited vehicle is left alone and told why`() throws {
        let bench = bench(3)
        let night = try bench.nights(update, [DepotBench.schedule([[0, 1, 2]])]) { _, journal in
            try await journal.inhibit(
                Inhibit(
                    VehicleID("v2"),
                    reason: "in the workshop",
                    expires: nil,
                    at: bench.simulation.time.wallTime
                )
            )
        }[0]
        #expect(night.result.counts == [.succeeded: 2, .deferred: 1])
        #expect(
            night.records.first { $0.vehicle.text == "v2" }?.end?.message
                == "inhibited: in the workshop"
        )
        #expect(night.versions[1] == FirmwareVersion(4, 11, 3))
    }

    @Test func `a vehicle that fails again and again is left alone until it is cleared`() throws {
        let bench = bench(2) { number, plan in
            if number == 1 { plan.faults = [.init(.returnUnchanged, times: 2)] }
        }
        let schedule = DepotBench.schedule([[0, 1]]) { $0.quarantineAfter = 2 }
        let nights = try bench.nights(
            update,
            [schedule, schedule, schedule, schedule]
        ) { night, journal in
            if night == 3 { _ = try await journal.clearFailures(of: VehicleID("v1")) }
        }
        #expect(nights[1].result.counts == [.failed: 1, .alreadyCurrent: 1])
        let third = nights[2].records.first { $0.vehicle.text == "v1" }
        #expect(third?.end?.message.hasPrefix("in quarantine after 2 failures") == true)
        #expect(nights[2].versions[0] == FirmwareVersion(4, 11, 3))
        #expect(nights[3].result.counts == [.succeeded: 1, .alreadyCurrent: 1])
    }

    // MARK: Windows and budgets

    @Test(arguments: [Window.Close.finish, .safePoint, .stop])
    func `a window that closes in mid-transfer ends as its rule says, and the next run goes on`(
        close: Window.Close
    ) throws {
        // The simulation begins at 22:00 UTC; each image takes most of a minute.
        let bench = bench(3) { _, plan in plan.link.interval = .milliseconds(200) }
        let image = DepotBench.image(bytes: 300_000)
        let update = [JobStep.update(image)]
        func schedule() throws -> Schedule {
            let opens = try #require(TimeOfDay("22:00"))
            let window = Window(
                [Opening(from: opens, .after(.seconds(90)))],
                zone: "UTC",
                close: close
            )
            return DepotBench.schedule([Array(0..<3)]) {
                $0.limits.window = RunWindow(window, zone: .utc)
            }
        }
        let open = DepotBench.schedule([Array(0..<3)])
        let nights = try bench.nights(update, [try schedule(), open])
        guard case .workLeft(let why) = nights[0].result.ending else {
            Issue.record("\(nights[0].result)")
            return
        }
        #expect(why.hasPrefix("the window has closed; it opens again at 2026-01-06T22:00"))
        #expect(nights[0].result.unfinished > 0)
        let isBegun = nights[0].records.contains { $0.end == nil && $0.state != .queued }
        #expect(isBegun == (close != .finish), "\(nights[0].records.map(\.state))")
        #expect(nights[1].result.ending == .complete)
        #expect(nights[1].versions.allSatisfy { $0 == image.version })
        // Bytes that a module already has are not sent again.
        let resumed = bench.events.contains { event in
            if case .progress(_, let progress) = event.body { return progress.resumedFrom > .zero }
            return false
        }
        #expect(resumed || close == .finish)
    }

    @Test func `what is awaited, and until when, is said all the time`() throws {
        // The simulation begins at 22:00 UTC; the second vehicle is away.
        let bench = bench(3) { number, plan in if number == 2 { plan.signal = nil } }
        let opens = try #require(TimeOfDay("23:00"))
        let window = Window(
            [Opening(from: opens, .after(.seconds(3_600)))],
            zone: "UTC",
            close: .finish
        )
        let start = bench.simulation.time.wallTime
        _ = try bench.nights(
            update,
            [
                DepotBench.schedule([[0], [1, 2]]) {
                    $0.limits.window = RunWindow(window, zone: .utc)
                    $0.rules.between.soak = .seconds(600)
                }
            ]
        )
        var kinds: [String] = []
        var ends: [String: [Duration]] = [:]
        for outlook in bench.outlooks {
            let (kind, until): (String, WallTime?) =
                switch outlook {
                case .window(let opens): ("window", opens)
                case .work(_, _, let until): ("work", until)
                case .search(let vehicles, let until): ("search \(vehicles)", until)
                case .soak(let wave, let until): ("soak \(wave)", until)
                case .check: ("check", nil)
                case .host: ("host", nil)
                case .draining: ("draining", nil)
                case .end: ("end", nil)
                }
            if kinds.last != kind { kinds.append(kind) }
            if let until { ends[kind, default: []].append(start.duration(to: until)) }
        }
        #expect(
            kinds == ["window", "search 1", "work", "soak 1", "work", "search 1", "end"],
            "\(bench.outlooks)"
        )
        #expect(ends["window"] == [.seconds(3_600)])
        #expect(ends["work"]?.allSatisfy { $0 == .seconds(7_200) } == true)
        // It is reported once: the end time does not move while a person watches.
        #expect(ends["soak 1"]?.count == 1)
        let searches = ends["search 1"] ?? []
        #expect(searches.count == 2, "\(searches)")
        let given = try #require(bench.events.last { $0.body.kind == "vehicle-ended" }).time
        let said = try #require(searches.last)
        #expect(abs((start.duration(to: given) - said) / .seconds(1)) < 31, "\(given), \(said)")
    }

    @Test func `a run without its adapter says when it is tried again`() throws {
        let bench = DepotBench(seed: 5, [DepotBench.module(1), DepotBench.module(2)])
        let (time, air) = (bench.simulation.time, bench.simulation.air)
        _ = try bench.nights(
            update,
            [DepotBench.schedule([[0, 1]])],
            roster: AirRoster(air: air, names: ["hci0"])
        ) { _, _ in
            time.schedule(at: time.now.advanced(by: .seconds(5))) {
                air.atOnce { $0.removeAdapter("hci0") }
            }
        }
        let hosts = bench.outlooks.compactMap { outlook -> (WallTime, WallTime)? in
            if case .host(_, let again, let until) = outlook { return (again, until) }
            return nil
        }
        #expect(hosts.allSatisfy { $0.0 <= $0.1 }, "\(hosts)")
        let given = try #require(bench.events.last { $0.body.kind == "vehicle-ended" }).time
        let said = try #require(hosts.last).1
        #expect(abs(given.duration(to: said) / .seconds(1)) < 31, "\(given), \(said)")
    }

    @Test func `a retry budget is shared by all`() throws {
        let bench = bench(6) { _, plan in plan.faults = [.init(.refuseBootloader, times: 3)] }
        var rules = try DepotBench.rules()
        rules.retryBudget = RetryBudget(2)
        let night = try bench.nights(
            update,
            [DepotBench.schedule([Array(0..<6)])],
            rules: rules
        )[0]
        let attempts = night.records.reduce(0) { $0 + $1.attempt }
        #expect(attempts == 8, "one each, and two more")
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `whatever the seed, a night over four adapters ends right`(seed: UInt64) throws {
        let bench = bench(20, seed: seed) { number, plan in
            switch number {
            case 3: plan.faults = [.init(.linkLost(at: 7_000), times: 2)]
            case 7: plan.faults = [.init(.restart(at: 11_000))]
            case 11: plan.signal = nil
            case 13: plan.faults = [.init(.flap(total: .seconds(45), period: .seconds(8)))]
            case 17: plan.faults = [.init(.neverReturn)]
            default: break
            }
        }
        let night = try bench.nights(
            update,
            [DepotBench.schedule([[0, 1, 2], Array(3..<20)]) { $0.linksPerAdapter = 2 }],
            adapters: 4
        )[0]
        #expect(night.result.counts == [.succeeded: 18, .unreachable: 1, .failed: 1])
    }
}

/// The adapters that are currently in simulated air.
private struct AirRoster: AdapterRoster {
    let air: Air
    let names: [String]

    func present() async -> [any Central]? {
        let there = await air.adapterNames
        return names.filter { there.contains($0) }.map { SimulatedRadio(adapter: $0, air: air) }
    }
}
