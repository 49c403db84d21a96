package import Base

/// The growing interval at which a socket is checked for being empty: there is no event for this,
/// and BlueZ takes a packet in about a tenth of a millisecond.
package struct Drain: Equatable, Sendable {
    private static let longest = Duration.milliseconds(8)

    package private(set) var next: Moment
    private var pause = Duration.microseconds(500)

    package init(at now: Moment) { next = now }

    /// There are still packets in the socket.
    package mutating func again(at now: Moment) {
        next = now.advanced(by: pause)
        pause = min(Self.longest, pause * 2)
    }
}
