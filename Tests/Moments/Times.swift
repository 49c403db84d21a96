package import Base

/// The moment this many seconds after the beginning of the clock.
package func at(_ seconds: Double) -> Moment {
    Moment(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
}

package func wall(_ seconds: Int64) -> WallTime {
    WallTime(milliseconds: 1_774_749_600_000 + seconds * 1_000)
}
