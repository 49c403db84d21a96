/// A time of the clock for deadlines, which is never set and never jumps.
@usableFromInline package struct Moment: InstantProtocol, Hashable, Sendable {
    @usableFromInline package typealias Duration = Swift.Duration

    /// Nanoseconds since the clock's own beginning.
    @usableFromInline package let nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @usableFromInline package func advanced(by duration: Swift.Duration) -> Moment {
        advanced(byNanoseconds: duration.nanoseconds)
    }

    /// Advances without the 128 bits of a `Duration`, for work on every packet.
    @inlinable package func advanced(byNanoseconds count: Int64) -> Moment {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Moment(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    @usableFromInline package func duration(to other: Moment) -> Swift.Duration {
        .nanoseconds(other.nanoseconds.subtractingReportingOverflow(nanoseconds).partialValue)
    }

    @inlinable package static func == (left: Moment, right: Moment) -> Bool {
        left.nanoseconds == right.nanoseconds
    }

    @inlinable package static func < (left: Moment, right: Moment) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A wall-clock time in UTC.
///
/// It may jump, so only records and windows use it.
package struct WallTime: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package func advanced(by duration: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds &+ duration.nanoseconds / 1_000_000)
    }

    /// The duration in milliseconds; negative when `other` is earlier.
    package func duration(to other: WallTime) -> Duration {
        .milliseconds(other.milliseconds &- milliseconds)
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The time in the form `2026-11-21T03:36:05.250Z`.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        // Every event contains one: the digits go into one array, without a string for each number.
        func write(_ value: Int64, _ width: Int, _ next: Unicode.Scalar) {
            var unit: Int64 = 1
            for _ in 1..<width { unit *= 10 }
            if value < 0 || value >= unit * 10 {
                text.append(contentsOf: String(value).utf8)
            } else {
                while unit > 0 {
                    text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / unit % 10))
                    unit /= 10
                }
            }
            text.append(UInt8(ascii: next))
        }
        func floor(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
            let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
            return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
        }
        let (seconds, fraction) = floor(milliseconds, 1_000)
        let (days, second) = floor(seconds, 86_400)
        let date = CalendarDay(number: days)
        write(date.year, 4, "-")
        write(Int64(date.month), 2, "-")
        write(Int64(date.day), 2, "T")
        write(second / 3_600, 2, ":")
        write(second / 60 % 60, 2, ":")
        write(second % 60, 2, ".")
        write(fraction, 3, "Z")
        return String(decoding: text, as: UTF8.self)
    }
}

/// The clock that is passed to everything: real in the executable, virtual in simulation.
package protocol Timekeeper: Sendable {
    var now: Moment { get }
    var wallTime: WallTime { get }

    /// Returns at `deadline`, or earlier when the task is cancelled.
    ///
    /// `purpose` states who waits for what; a stuck run reports it.
    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async
}

extension Timekeeper {
    package func sleep(for duration: Duration, _ purpose: @autoclosure () -> String) async {
        await sleep(until: now.advanced(by: duration), for: purpose())
    }
}
