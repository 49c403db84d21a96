import Base
import BlueZ
import Testing

@Suite struct LoopClockTests {
    private func at(_ milliseconds: Int64) -> Moment {
        Moment(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func `a clock that is ticked goes as the kernel's does`() {
        var clock = LoopClock.Shown(from: at(1_000))
        for time in stride(from: Int64(1_005), through: 2_000, by: 5) {
            #expect(clock.moment(at: at(time)) == at(time))
            clock.tick(at: at(time))
        }
    }

    @Test func `a clock whose ticks are late stands still, and goes on from there`() {
        var clock = LoopClock.Shown(from: at(1_000))
        #expect(clock.moment(at: at(1_019)) == at(1_019))
        #expect(clock.moment(at: at(1_020)) == at(1_020))
        #expect(clock.moment(at: at(9_000)) == at(1_020))
        clock.tick(at: at(9_000))
        #expect(clock.moment(at: at(9_000)) == at(1_020))
        #expect(clock.moment(at: at(9_007)) == at(1_027))
    }
}
