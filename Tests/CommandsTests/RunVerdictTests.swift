import Base
import Commands
import Manifest
import Operations
import Show
import Store
import Testing

@Suite struct RunVerdictTests {
    private func result(
        _ counts: [Outcome: Int],
        unfinished: Int = 0,
        _ ending: RunEnding = .complete
    ) -> RunResult {
        var result = RunResult()
        result.vehicles = VehicleCounts(outcomes: counts, unfinished: unfinished)
        result.ending = ending
        return result
    }

    private func code(_ result: RunResult) -> ExitCode {
        RunVerdict(
            Tolerance(unreachable: .count(1), deferred: .count(0)),
            vehicles: 10
        ).code(of: result)
    }

    @Test func `each row of the table has its result`() {
        #expect(code(result([:])) == .done)
        #expect(code(result([.succeeded: 8, .alreadyCurrent: 1, .skipped: 1])) == .done)
        #expect(code(result([.succeeded: 9, .unreachable: 1])) == .done, "the manifest allows one")
        #expect(code(result([.succeeded: 8, .unreachable: 2])) == .someMissed)
        #expect(code(result([.succeeded: 9, .deferred: 1])) == .someMissed)
        for outcome in [Outcome.failed, .rolledBack, .rejected, .timedOut, .inDoubt] {
            #expect(code(result([.succeeded: 9, outcome: 1])) == .someFailed)
        }
        #expect(code(result([:], unfinished: 10, .paused("gate"))) == .paused)
        #expect(code(result([.aborted: 10], .aborted("enough"))) == .aborted)
        #expect(code(result([:], unfinished: 1, .workLeft("window"))) == .workLeft)
        #expect(code(result([:], unfinished: 1, .replaced)) == .workLeft)
        #expect(code(result([:], unfinished: 1, .stopped)) == .terminated)
    }

    @Test func `the worst wins`() {
        let bad: [Outcome: Int] = [.failed: 1, .unreachable: 5]
        #expect(code(result(bad, unfinished: 1, .paused("gate"))) == .paused)
        #expect(code(result(bad, unfinished: 1, .aborted("enough"))) == .aborted)
        #expect(code(result(bad, unfinished: 1, .workLeft("window"))) == .someFailed)
        #expect(code(result([.unreachable: 5], unfinished: 1, .workLeft("window"))) == .workLeft)
        #expect(code(result(bad)) == .someFailed)
    }

    @Test func `a window that closed when all was done leaves nothing`() {
        #expect(code(result([.succeeded: 10], .workLeft("window"))) == .done)
    }

    @Test func `the reason says what is known beyond the code`() {
        let paused = result([:], unfinished: 2, .paused("the gate: 2 of 3"))
        func hold(by author: String) -> Hold {
            Hold(.paused, "r", reason: "why", author: author, at: WallTime(milliseconds: 0))
        }
        let whole = RunVerdict(.none, vehicles: 10)
        #expect(
            whole.reason(.paused, paused, hold(by: Hold.gate))
                == "a gate paused the rollout: the gate: 2 of 3"
        )
        // A person paused the rollout, or the pause was lifted while the run drained.
        let byHand = result([:], unfinished: 2, .paused("by request"))
        #expect(
            whole.reason(.paused, byHand, hold(by: "anna")) == "the rollout is paused: by request"
        )
        #expect(
            whole.reason(.paused, byHand, nil)
                == "the rollout was paused: by request; resumed since"
        )
        #expect(whole.reason(.someFailed, paused, nil) == ExitCode.someFailed.sentence)
    }

    @Test func `a part of a rollout is not called paused by its gate`() {
        let part = RunVerdict(.none, vehicles: 2, isPart: true)
        for ending in [RunEnding.paused("1 of 1 has failed"), .aborted("1 of 1 has failed")] {
            let failed = result([.failed: 1], unfinished: 1, ending)
            #expect(part.code(of: failed) == .someFailed)
            #expect(
                part.reason(.someFailed, failed, nil)
                    == "some vehicles failed: a gate ended this run, and with --limit it sets "
                    + "nothing: 1 of 1 has failed"
            )
            #expect(part.code(of: result([:], unfinished: 1, ending)) == .workLeft)
        }
        #expect(part.reason(.someFailed, result([.failed: 1]), nil) == "some vehicles failed")
    }
}
