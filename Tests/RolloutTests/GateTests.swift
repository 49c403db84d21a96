import Base
import Manifest
import Rollout
import Store
import Testing

@Suite struct GateTests {
    private func rule(_ failed: Amount, atLeast: Int = 1) -> PauseRule {
        PauseRule(failed: failed, atLeast: atLeast)
    }

    private func board(
        _ waves: [[Int]],
        _ rule: PauseRule?,
        advance: AdvanceRule? = nil,
        between: BetweenWaves = BetweenWaves(),
        strata: [String]? = nil
    ) -> WaveBoard {
        let count = waves.reduce(0) { $0 + $1.count }
        return WaveBoard(
            waves,
            strata: strata ?? [String](repeating: "", count: count),
            rules: WaveBoard.Rules(pause: rule, advance: advance, between: between)
        )
    }

    @Test func `the second failure of twelve pauses a gate of one`() {
        var board = board([Array(0..<12)], rule(.count(1)))
        _ = board.begin()
        #expect(board.verdict(0, .succeeded, nil, touched: true) == [])
        #expect(board.verdict(1, .failed, .device, touched: true) == [])
        #expect(board.verdict(2, .alreadyCurrent, nil, touched: false) == [])
        #expect(
            board.verdict(3, .rolledBack, .rolledBack, touched: true)
                == [.pause("the gate: 2 of 3 attempted have failed, at most 1 may")]
        )
        #expect(board.verdict(4, .failed, .device, touched: true) == [], "once is enough")
    }

    @Test func `of two verdicts that are written at once the second one trips the gate`() {
        var board = board([Array(0..<12)], rule(.count(1)))
        _ = board.begin()
        #expect(board.counts(0, .failed, .device, touched: true) == nil)
        let trip = WaveBoard.Action.pause("the gate: 2 of 2 attempted have failed, at most 1 may")
        #expect(board.counts(1, .failed, .device, touched: true) == trip)
        #expect(board.counts(2, .failed, .device, touched: true) == nil, "it is set once")
        #expect(board.verdict(0, .failed, .device, touched: true).count == 1)
        #expect(board.verdict(1, .failed, .device, touched: true) == [])
        #expect(board.gate == GateCount(attempted: 3, failed: 3), "each counts once")
    }

    @Test func `a gate that earlier failures have tripped lets nothing begin`() {
        var board = board([[0, 1], [2, 3]], rule(.count(1)))
        board.remember(0, .failed, .device, touched: true)
        board.remember(1, .failed, .device, touched: true)
        let trip = WaveBoard.Action.pause("the gate: 2 of 2 attempted have failed, at most 1 may")
        #expect(board.begin().first == trip)
        #expect(board.verdict(2, .failed, .device, touched: true) == [], "once is enough")
        // Those whom a person has looked at do not count.
        var other = self.board([[0, 1], [2, 3]], rule(.count(1)))
        other.forgive(0)
        other.remember(1, .failed, .device, touched: true)
        #expect(other.begin() == [.letIn([0, 1], wave: 0)])
    }

    @Test(
        arguments: [.unreachable, .deferred, .skipped, .alreadyCurrent, .aborted] as [Outcome]
    ) func `who was never touched trips no gate`(outcome: Outcome) {
        var board = board([Array(0..<12)], rule(.count(0)))
        _ = board.begin()
        for vehicle in 0..<12 {
            #expect(board.verdict(vehicle, outcome, nil, touched: false) == [])
        }
        #expect(board.gate == GateCount())
    }

    @Test func `a module that refuses us before anything was written counts nowhere`() {
        var count = GateCount()
        count.count(.rejected, .rejected, touched: false, counting: [])
        #expect(count == GateCount())
        count.count(.rejected, .rejected, touched: true, counting: [])
        #expect(count == GateCount(attempted: 1, failed: 1))
    }

    @Test func `only the classes that are named count`() {
        let rule = PauseRule(failed: .count(0), atLeast: 1, classes: [.device, .noReturn])
        var count = GateCount()
        count.count(.failed, .transient, touched: true, counting: rule.classes)
        #expect(!count.trips(rule))
        count.count(.failed, .noReturn, touched: true, counting: rule.classes)
        #expect(count.trips(rule))
        #expect(count == GateCount(attempted: 2, failed: 1))
    }

    @Test func `a share is looked at only from enough attempts on`() throws {
        let rule = rule(.percent(try #require(Percent("5%"))), atLeast: 10)
        #expect(!GateCount(attempted: 9, failed: 9).trips(rule))
        #expect(GateCount(attempted: 10, failed: 1).trips(rule))
        #expect(!GateCount(attempted: 20, failed: 1).trips(rule), "exactly a share is allowed")
        #expect(GateCount(attempted: 20, failed: 2).trips(rule))
    }

    @Test(
        arguments: [
            (0, 0, 0, 1), (1, 0, 0, 2), (1, 5, 1, 1), (3, 5, 1, 3), (100, 0, 0, 8),
        ]
    ) func `so many may be under way that the gate is not overshot`(
        limit: Int,
        attempted: Int,
        failed: Int,
        most: Int
    ) {
        let count = GateCount(attempted: attempted, failed: failed)
        #expect(count.headroom(rule(.count(limit)), most: 8) == most)
    }

    @Test(arguments: 0...40) func `a share is never overshot either`(attempted: Int) throws {
        let rule = rule(.percent(try #require(Percent("10%"))), atLeast: 10)
        for failed in 0...attempted
        where !GateCount(attempted: attempted, failed: failed).trips(rule) {
            let count = GateCount(attempted: attempted, failed: failed)
            let room = count.headroom(rule, most: 50)
            for more in 1..<max(room, 1) {
                let next = GateCount(attempted: attempted + more, failed: failed + more)
                #expect(!next.trips(rule), "all but the last of those under way")
            }
        }
    }

    @Test func `a gate says in plain words when it acts`() throws {
        #expect(rule(.count(1)).words(among: 12) == "pauses on the 2nd failure of 12")
        #expect(rule(.count(0)).words(among: 3) == "pauses on the 1st failure of 3")
        #expect(
            rule(.count(3)).words(among: 3) == "never pauses: more than 3 of 3 cannot fail"
        )
        let share = rule(.percent(try #require(Percent("5%"))), atLeast: 10)
        #expect(
            share.words(among: 60)
                == "pauses when more than 5% of those attempted have failed, looked at from 10 "
                + "attempted on: on the 1st failure of 10"
        )
        let abort = PauseRule(
            failed: .count(10),
            atLeast: 1,
            classes: [.device],
            action: .abort
        )
        #expect(abort.words(among: 100) == "aborts on the 11th failure of 100; counts only device")
    }

    // MARK: Waves

    @Test func `a wave begins when all of the one before have ended`() {
        var board = board([[0, 1], [2], [3]], nil)
        #expect(board.begin() == [.letIn([0, 1], wave: 0)])
        _ = board.verdict(0, .succeeded, nil, touched: true)
        #expect(board.tick(at: at(0)) == [])
        _ = board.verdict(1, .failed, .device, touched: true)
        #expect(board.tick(at: at(1)) == [.ended(wave: 0), .letIn([2], wave: 1)])
        _ = board.verdict(2, .alreadyCurrent, nil, touched: false)
        #expect(board.tick(at: at(2)) == [.ended(wave: 1), .letIn([3], wave: 2)])
        _ = board.verdict(3, .unreachable, .unreachable, touched: false)
        #expect(board.tick(at: at(3)) == [.ended(wave: 2)])
        #expect(board.phase == .finished)
    }

    @Test func `soaking is time that passes, over a restart of ours too`() {
        var between = BetweenWaves()
        between.soak = .seconds(60)
        var board = board([[0], [1]], nil, between: between)
        _ = board.begin()
        _ = board.verdict(0, .succeeded, nil, touched: true)
        #expect(board.tick(at: at(100)) == [.ended(wave: 0)])
        #expect(board.tick(at: at(159)) == [])
        #expect(board.tick(at: at(160)) == [.letIn([1], wave: 1)])

        var later = WaveBoard(
            [[0], [1]],
            strata: ["", ""],
            rules: WaveBoard.Rules(between: between),
            soakedSince: at(100)
        )
        later.wasDone(0, .succeeded)
        _ = later.begin()
        #expect(later.tick(at: at(130)) == [.ended(wave: 0)])
        #expect(later.tick(at: at(160)) == [.letIn([0, 1], wave: 1)])
    }

    @Test func `a clock that was set back makes no wave wait longer than it is to soak`() {
        var between = BetweenWaves()
        between.soak = .seconds(60)
        var board = WaveBoard(
            [[0], [1]],
            strata: ["", ""],
            rules: WaveBoard.Rules(between: between),
            soakedSince: at(2_592_000)
        )
        board.wasDone(0, .succeeded)
        _ = board.begin()
        #expect(board.tick(at: at(100)) == [.ended(wave: 0)])
        #expect(board.tick(at: at(160)) == [.letIn([0, 1], wave: 1)])
    }

    @Test func `a check that fails pauses, and a person is waited for`() {
        var between = BetweenWaves()
        between.check = ["true"]
        between.asks = true
        var board = board([[0], [1]], nil, between: between)
        _ = board.begin()
        _ = board.verdict(0, .succeeded, nil, touched: true)
        #expect(board.tick(at: at(0)) == [.ended(wave: 0), .check(wave: 0)])
        var failing = board
        #expect(
            failing.checked(0, failure: "it ended with 3")
                == [.pause("the check after wave 1: it ended with 3")]
        )
        #expect(
            board.checked(0, failure: nil)
                == [.pause("wave 1 has ended, and a person is to look at it")]
        )
    }

    @Test func `a wave that was hardly reached or hardly succeeded lets nobody follow`() throws {
        let half = try #require(Percent("50%"))
        let covered = AdvanceRule(succeeded: nil, covered: half)
        var away = board([[0, 1, 2], [3]], nil, advance: covered)
        _ = away.begin()
        for vehicle in 0..<2 { _ = away.verdict(vehicle, .unreachable, nil, touched: false) }
        _ = away.verdict(2, .succeeded, nil, touched: true)
        #expect(
            away.tick(at: at(0)) == [
                .ended(wave: 0), .pause("wave 1: 1 of 3 vehicles were reached, 50% must be"),
            ]
        )
        let succeeded = AdvanceRule(succeeded: half, covered: nil)
        var bad = board([[0, 1, 2], [3]], nil, advance: succeeded)
        _ = bad.begin()
        for vehicle in 0..<2 { _ = bad.verdict(vehicle, .failed, .device, touched: true) }
        _ = bad.verdict(2, .succeeded, nil, touched: true)
        #expect(
            bad.tick(at: at(0)) == [
                .ended(wave: 0), .pause("wave 1: 1 of 3 attempted have succeeded, 50% must"),
            ]
        )
    }

    @Test func `a canary that is away gives its place to one of its model, and comes last`() {
        var board = board([[0, 1], [2, 3], [4]], nil, strata: ["a", "b", "b", "a", "a"])
        _ = board.begin()
        #expect(board.missing(0) == .replace(0, by: 3, wave: 0))
        #expect(board.wave(of: 0) == 2)
        #expect(board.missing(1) == .replace(1, by: 2, wave: 0))
        #expect(board.missing(0) == nil, "it waits in the last wave now")
        _ = board.verdict(2, .succeeded, nil, touched: true)
        _ = board.verdict(3, .succeeded, nil, touched: true)
        #expect(
            board.tick(at: at(0)) == [
                .ended(wave: 0), .letIn([], wave: 1),
            ]
        )
        #expect(board.tick(at: at(0)) == [.ended(wave: 1), .letIn([0, 1, 4], wave: 2)])
    }

    private func at(_ second: Int64) -> WallTime { WallTime(milliseconds: second * 1_000) }
}
