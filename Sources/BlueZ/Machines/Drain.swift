package import Domain

/// How soon it is looked again whether a socket is empty, growing: nothing tells of it, and BlueZ
/// takes a packet in about a tenth of a millisecond.
package struct Drain: Equatable, Sendable {
    private static let longest = Duration.milliseconds(8)

    package private(set) var next: Moment
    private var pause = Duration.microseconds(500)

    package init(at now: Moment) { next = now }

    /// Packets are left.
    package mutating func again(at now: Moment) {
        next = now.advanced(by: pause)
        pause = min(Self.longest, pause * 2)
    }
}
