import Base
import Store
import Testing

@testable import Rollout

@Suite struct RunEndingTests {
    private func hold(_ kind: Hold.Kind) -> Hold {
        Hold(kind, "r", reason: "brakes", author: "anna", at: WallTime(milliseconds: 0))
    }

    @Test func `a signal that cut nothing short leaves the word to what holds the rollout`() {
        let paused = RunEnding.paused("brakes")
        // Every vehicle has its verdict.
        #expect(RunEnding.stopped.under(paused, nil, isWhole: true) == paused)
        #expect(RunEnding.stopped.under(nil, hold(.paused), isWhole: true) == paused)
        #expect(
            RunEnding.stopped.under(nil, hold(.aborted), isWhole: true) == .aborted("brakes")
        )
        // Otherwise the signal is the reason why vehicles are left.
        #expect(RunEnding.stopped.under(paused, nil, isWhole: false) == .stopped)
        #expect(RunEnding.stopped.under(nil, hold(.paused), isWhole: false) == .stopped)
        #expect(RunEnding.stopped.under(nil, nil, isWhole: true) == .stopped)
    }

    @Test func `a hold of both a person and a gate has both reasons`() {
        let both = hold(.paused)
        #expect(RunEnding.paused("a gate").under(nil, both, isWhole: false) == .paused("brakes"))
        #expect(RunEnding.aborted("a gate").under(nil, both, isWhole: false) == .aborted("a gate"))
        #expect(RunEnding.complete.under(nil, both, isWhole: true) == .complete)
    }
}
