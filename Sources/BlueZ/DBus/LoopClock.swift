package import Base
import Glibc
import Synchronization

/// The clock of the loops in this process.
///
/// It is the kernel's clock, unless a task controls it: then it advances only for a short time
/// after each tick of that task, and stops until the next one. If the ticks wait for the same
/// processor as the measured work, every deadline lasts as long as that work needs.
package enum LoopClock {
    /// The time of a clock that waits for ticks.
    package struct Shown: Sendable {
        /// How far it advances without a tick.
        package static let reach = Duration.milliseconds(20)

        private var moment: Moment
        /// The kernel's time at the last tick.
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

    /// Never jumps and never goes back; continues while the machine sleeps.
    package static var now: Moment {
        guard waits.load(ordering: .acquiring) else { return kernel }
        return shown.withLock { $0.moment(at: kernel) }
    }

    /// From the first call on, the clock waits for the next call.
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
