import CLinux
import Domain
import Glibc

/// The machine's own clocks.
struct RealTime {
    /// Never jumps, and goes on while the machine sleeps.
    var now: Moment { Moment(nanoseconds: clock_nanoseconds(CLOCK_BOOTTIME)) }

    var wallTime: WallTime {
        WallTime(milliseconds: clock_nanoseconds(CLOCK_REALTIME) / 1_000_000)
    }
}
