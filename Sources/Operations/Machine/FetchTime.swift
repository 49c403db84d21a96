package import Base
import Glibc

/// The machine's own time, for fetching; never for simulated work.
package struct FetchTime: Timekeeper {
    private let clock = RealTime()

    package init() {}

    package var now: Moment { clock.now }
    package var wallTime: WallTime { clock.wallTime }

    package func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let pause = now.duration(to: deadline)
        guard pause > .zero else { return }
        try? await ContinuousClock().sleep(for: pause)
    }

    /// A number that differs from one start to the next, for jitter.
    package var seed: UInt64 {
        UInt64(bitPattern: now.nanoseconds) ^ UInt64(UInt32(bitPattern: getpid())) << 32
    }
}
