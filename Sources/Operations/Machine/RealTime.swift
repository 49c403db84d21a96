package import Base
import CLinux
import Glibc

/// The machine's own clocks.
package struct RealTime {
    package init() {}

    /// Never jumps, and continues while the machine sleeps.
    package var now: Moment { Moment(nanoseconds: clock_nanoseconds(CLOCK_BOOTTIME)) }

    package var wallTime: WallTime {
        WallTime(milliseconds: clock_nanoseconds(CLOCK_REALTIME) / 1_000_000)
    }
}
