import Base
import Moments
import Radio
import Testing

private let old = FirmwareVersion(4, 11)
private let new = FirmwareVersion(4, 12)

/// The default rules: quiet 20 s, gap 2 s, 10 min in all, grace 60 s, a look every 5 s.
private func machine(
    rules: SettleRules? = SettleRules(),
    left: Int64 = 600,
    restarts: Int = 0
) throws -> SettleMachine {
    SettleMachine(
        target: new,
        rules: try #require(rules),
        deadline: wall(left),
        now: at(0),
        wallTime: wall(0),
        restarts: restarts
    )
}

private func saw(
    _ version: FirmwareVersion?,
    ongoing: Bool = false,
    boot: UInt32? = nil
) -> Observation {
    Observation(ongoing: ongoing, version: version, bootCount: boot)
}

/// Makes each look that the machine asks for, and returns its first other action with the time.
private func follow(
    _ machine: inout SettleMachine,
    _ first: SettleMachine.Action,
    seeing observation: (Moment) -> Observation
) -> (SettleMachine.Action, Moment) {
    var action = first
    var now = at(0)
    for _ in 0..<1_000 {
        guard case .observe(let moment) = action else { return (action, now) }
        now = moment
        action = machine.observed(observation(now), at: now)
    }
    return (action, now)
}

@Suite struct SettleMachineTests {
    @Test func `the target read at the start and the end of the quiet time is confirmed`() throws {
        var settle = try machine()
        #expect(settle.begin(at: at(0)) == .seek(from: at(0)))
        #expect(settle.connected(at: at(10)) == .observe(at: at(10)))
        #expect(settle.observed(saw(new), at: at(10)) == .observe(at: at(15)))
        #expect(settle.observed(saw(new), at: at(15)) == .observe(at: at(20)))
        #expect(settle.observed(saw(new), at: at(20)) == .observe(at: at(25)))
        #expect(settle.observed(saw(new), at: at(25)) == .observe(at: at(30)))
        #expect(settle.observed(saw(new), at: at(30)) == .finished(.confirmed(new)))
        #expect(settle.nextDeadline == nil)
    }

    @Test func `the quiet time alone does not do without a second reading`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        #expect(settle.observed(saw(new), at: at(25)) == .observe(at: at(27)))
        #expect(settle.observed(saw(new), at: at(27)) == .finished(.confirmed(new)))
    }

    @Test func `with no quiet and no gap two readings are still two`() throws {
        var settle = try machine(rules: SettleRules(quiet: .zero, confirmGap: .zero))
        _ = settle.connected(at: at(1))
        #expect(settle.observed(saw(new), at: at(1)) == .observe(at: at(1)))
        #expect(settle.observed(saw(new), at: at(1)) == .finished(.confirmed(new)))
    }

    @Test func `a sign of ongoing begins the quiet time again`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        #expect(settle.observed(saw(new, ongoing: true), at: at(18)) == .observe(at: at(23)))
        #expect(settle.observed(saw(new), at: at(23)) == .observe(at: at(28)))
        #expect(settle.observed(saw(new), at: at(37)) == .observe(at: at(38)))
        #expect(settle.observed(saw(new), at: at(38)) == .finished(.confirmed(new)))
    }

    @Test func `time without a link is no quiet time, and a lost link counts as a restart`() throws
    {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        _ = settle.observed(saw(new), at: at(19))
        #expect(settle.disconnected(at: at(19.5)) == .seek(from: at(19.5)))
        #expect(settle.restarts == 1)
        #expect(settle.connected(at: at(100)) == .observe(at: at(100)))
        #expect(settle.observed(saw(new), at: at(100)) == .observe(at: at(105)))
        let (action, when) = follow(&settle, .observe(at: at(105))) { _ in saw(new) }
        #expect(action == .finished(.confirmed(new)))
        #expect(when == at(120))
    }

    @Test func `a restart that only the boot counter shows begins everything again`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new, boot: 7), at: at(0))
        #expect(settle.observed(saw(new, boot: 8), at: at(19)) == .observe(at: at(24)))
        #expect(settle.restarts == 1)
        let (action, when) = follow(&settle, .observe(at: at(24))) { _ in saw(new, boot: 8) }
        #expect(action == .finished(.confirmed(new)))
        #expect(when == at(39))
    }

    @Test func `a counter that is there only now and then is no restart`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new, boot: 7), at: at(0))
        _ = settle.observed(saw(new), at: at(10))
        #expect(settle.observed(saw(new, boot: 7), at: at(20)) == .finished(.confirmed(new)))
        #expect(settle.restarts == 0)
    }

    @Test func `a second link without the end of the first counts as a restart`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        #expect(settle.connected(at: at(19)) == .observe(at: at(19)))
        #expect(settle.restarts == 1)
        #expect(settle.observed(saw(new), at: at(20)) == .observe(at: at(25)))
    }

    @Test func `a late hand-over is waited for and confirmed`() throws {
        var settle = try machine()
        let (action, when) = follow(&settle, settle.connected(at: at(5))) {
            saw($0 < at(50) ? old : new)
        }
        #expect(action == .finished(.confirmed(new)))
        #expect(when == at(70))
    }

    @Test func `the old version at rest is believed after the grace`() throws {
        var settle = try machine()
        let (action, when) = follow(&settle, settle.connected(at: at(5))) { _ in saw(old) }
        #expect(action == .finished(.wrongVersion(old)))
        #expect(when == at(65))
    }

    @Test(
        arguments: [
            (Observation.Remains.tried, SettleVerdict.rolledBack(to: old), 25.0),
            (.nothing, .refused(runs: old), 25), (.waiting, .wrongVersion(old), 65),
        ]
    )
    func `a module that says what became of the image is not waited for`(
        remains: Observation.Remains,
        verdict: SettleVerdict,
        second: Double
    ) throws {
        var settle = try machine()
        let (action, when) = follow(&settle, settle.connected(at: at(5))) { _ in
            Observation(ongoing: false, version: old, remains: remains)
        }
        #expect(action == .finished(verdict))
        #expect(when == at(second))
    }

    @Test func `the old version is not believed while work goes on`() throws {
        var settle = try machine()
        let (action, when) = follow(&settle, settle.connected(at: at(5))) {
            saw(old, ongoing: $0 < at(300))
        }
        #expect(action == .finished(.wrongVersion(old)))
        #expect(when == at(355))
    }

    @Test func `the target and then the old version is a rollback`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        _ = settle.disconnected(at: at(10))
        let (action, _) = follow(&settle, settle.connected(at: at(20))) { _ in saw(old) }
        #expect(action == .finished(.rolledBack(to: old)))
    }

    @Test func `never seen by the deadline is no return`() throws {
        var settle = try machine()
        _ = settle.begin(at: at(0))
        #expect(settle.nextDeadline == at(600))
        #expect(settle.tick(at: at(599)) == .seek(from: at(599)))
        #expect(settle.tick(at: at(600)) == .finished(.noReturn))
    }

    @Test func `a search that found nothing is followed by another one`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.disconnected(at: at(10))
        #expect(settle.tick(at: at(40)) == .seek(from: at(40)))
        #expect(settle.tick(at: at(70)) == .seek(from: at(70)))
        #expect(settle.connected(at: at(300)) == .observe(at: at(300)))
    }

    @Test func `away at the deadline is no return, whatever was read before`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        _ = settle.disconnected(at: at(10))
        #expect(settle.tick(at: at(600)) == .finished(.noReturn))
    }

    @Test func `another version at the deadline is a wrong version`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(590))
        _ = settle.observed(saw(old), at: at(590))
        #expect(settle.tick(at: at(600)) == .finished(.wrongVersion(old)))
    }

    @Test func `busy at the deadline has a reason of its own`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(590))
        _ = settle.observed(saw(nil, ongoing: true), at: at(599))
        #expect(settle.tick(at: at(600)) == .finished(.stillOngoing(nil)))
    }

    @Test func `the target that never came to rest is not proven`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(590))
        _ = settle.observed(saw(new), at: at(590))
        #expect(settle.tick(at: at(600)) == .finished(.stillOngoing(new)))
    }

    @Test func `linked but mute at the deadline is no return`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(599))
        #expect(settle.tick(at: at(600)) == .finished(.noReturn))
    }

    @Test func `the last reading counts even when it comes at the deadline`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(570))
        _ = settle.observed(saw(new), at: at(570))
        #expect(settle.observed(saw(new), at: at(601)) == .finished(.confirmed(new)))
    }

    @Test func `a link on which nothing can be read is given up for a new one`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        #expect(settle.observed(saw(nil), at: at(0)) == .observe(at: at(5)))
        #expect(settle.observed(saw(nil), at: at(5)) == .observe(at: at(10)))
        #expect(settle.observed(saw(nil), at: at(10)) == .disconnectAndWait)
        #expect(settle.observed(saw(new), at: at(10)) == .disconnectAndWait)
        #expect(settle.tick(at: at(10)) == .wait)
        #expect(settle.disconnected(at: at(11)) == .seek(from: at(16)))
        #expect(settle.restarts == 0)
        #expect(settle.connected(at: at(20)) == .observe(at: at(20)))
    }

    @Test func `one look without an answer does not undo a reading, nor does it confirm`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        #expect(settle.observed(saw(nil), at: at(21)) == .observe(at: at(21)))
        #expect(settle.observed(saw(new), at: at(21.5)) == .finished(.confirmed(new)))
    }

    @Test func `an answer from a link that has ended is not believed`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.disconnected(at: at(1))
        #expect(settle.observed(saw(new), at: at(2)) == .seek(from: at(2)))
        #expect(settle.state == .away)
    }

    @Test func `an overdue look is asked for again`() throws {
        var settle = try machine()
        _ = settle.connected(at: at(0))
        _ = settle.observed(saw(new), at: at(0))
        #expect(settle.nextDeadline == at(5))
        #expect(settle.tick(at: at(4)) == .wait)
        #expect(settle.tick(at: at(6)) == .observe(at: at(5)))
    }

    @Test func `a later run keeps the deadline of the first`() throws {
        let settle = try machine(left: 250, restarts: 2)
        #expect(settle.deadline == at(250))
        #expect(settle.restarts == 2)
    }

    @Test(arguments: [(-86_400, 122), (10, 122), (86_400, 600)] as [(Int64, Double)])
    func `a deadline that passed meanwhile leaves time to see it at rest, a clock set back no more`(
        left: Int64,
        seconds: Double
    ) throws {
        #expect(try machine(left: left).deadline == at(seconds))
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `a deadline far out of any calendar does not trap`(milliseconds: Int64) throws {
        let rules = try #require(SettleRules())
        let moment = rules.moment(
            of: WallTime(milliseconds: milliseconds),
            now: at(0),
            wallTime: wall(0)
        )
        #expect((at(122)...at(600)).contains(moment))
    }

    @Test func `a long quiet time fits into what a passed deadline leaves`() throws {
        let rules = try #require(SettleRules(quiet: .seconds(90)))
        let moment = rules.moment(of: wall(0), now: at(0), wallTime: wall(900))
        #expect(moment >= at(90 + 60))
    }

    @Test func `nothing changes a verdict`() throws {
        var settle = try machine()
        _ = settle.tick(at: at(600))
        let verdict = SettleMachine.Action.finished(.noReturn)
        #expect(settle.begin(at: at(601)) == verdict)
        #expect(settle.connected(at: at(601)) == verdict)
        #expect(settle.observed(saw(new), at: at(602)) == verdict)
        #expect(settle.disconnected(at: at(603)) == verdict)
        #expect(settle.tick(at: at(604)) == verdict)
    }

    @Test func `rules that cannot hold cannot be made`() {
        #expect(SettleRules(quiet: .seconds(-1)) == nil)
        #expect(SettleRules(confirmGap: .seconds(-1)) == nil)
        #expect(SettleRules(total: .zero) == nil)
        #expect(SettleRules(poll: .zero) == nil)
    }

    @Test(arguments: 1...300)
    func `whatever happens there is a verdict by the deadline, and success is never guessed`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var settle = try machine()
        var now = at(0)
        var linked = false
        // The time when the target version was first read on this link, without any other sign
        // since.
        var steady: Moment?
        var action = settle.begin(at: now)
        while now < at(600) {
            if case .finished = action { break }
            now = now.advanced(by: .milliseconds(random.below(9_000)))
            switch random.below(6) {
            case 0 where linked:
                linked = false
                steady = nil
                action = settle.disconnected(at: now)
            case 1 where !linked:
                linked = true
                steady = nil
                action = settle.connected(at: now)
            case 2:
                action = settle.tick(at: now)
            default:
                let seen = saw(
                    random.chance(0.85) ? new : (random.chance(0.5) ? old : nil),
                    ongoing: random.chance(0.03)
                )
                if seen.ongoing || seen.version == old || !linked { steady = nil }
                let first = steady
                if linked, !seen.ongoing, seen.version == new { steady = steady ?? now }
                action = settle.observed(seen, at: now)
                if action == .finished(.confirmed(new)) {
                    let since = try #require(first, "seed \(seed)")
                    #expect(since.duration(to: now) >= .seconds(2), "seed \(seed)")
                }
            }
        }
        if now >= at(600) { action = settle.tick(at: now) }
        guard case .finished = action else {
            Issue.record("seed \(seed): no verdict")
            return
        }
    }
}
