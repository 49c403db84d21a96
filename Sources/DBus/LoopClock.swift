package import Domain
import Glibc
import Synchronization
import Threads

/// The clock that the loops of this process go by.
///
/// It is the kernel's, unless it is asked to wait for somebody: then it goes on for a moment after each
/// of that one's ticks and stands still until the next. Anyone who ticks by turns that are as hard to get as
/// those of the work that is timed makes every deadline last as long as that work needs.
package enum LoopClock {
    /// What is shown of a clock that waits for ticks.
    package struct Shown: Sendable {
        /// How far it goes without a tick.
        package static let reach = Duration.milliseconds(20)

        private var moment: Moment
        /// What the kernel's clock showed at the last tick.
        private var ticked: Moment

        package init(from time: Moment) { (moment, ticked) = (time, time) }

        package func moment(at time: Moment) -> Moment {
            moment.advanced(by: min(ticked.duration(to: time), Self.reach))
        }

        package mutating func tick(at time: Moment) {
            (moment, ticked) = (moment(at: time), time)
        }
    }

    private static let waits = Atomic(false)
    private static let shown = Monitor(Shown(from: kernel))

    /// Never jumps, never goes back, and goes on while the machine sleeps.
    package static var now: Moment {
        guard waits.load(ordering: .acquiring) else { return kernel }
        return shown.withLock { $0.moment(at: kernel) }
    }

    /// From the first of these calls on, the clock waits for the next.
    package static func tick() {
        shown.withLock { shown in
            if waits.load(ordering: .relaxed) {
                shown.tick(at: kernel)
            } else {
                shown = Shown(from: kernel)
            }
        }
        waits.store(true, ordering: .releasing)
    }

    private static var kernel: Moment {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
