package import Domain

/// A moment so many seconds after the clock's beginning.
package func at(_ seconds: Double) -> Moment {
    Moment(nanoseconds: Int64((seconds * 1_000_000_000).rounded()))
}

package func wall(_ seconds: Int64) -> WallTime {
    WallTime(milliseconds: 1_774_749_600_000 + seconds * 1_000)
}
