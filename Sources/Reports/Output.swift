package import Domain

/// Text for one of the two standard streams.
package struct Output: Sendable, Equatable {
    package enum Stream: Sendable, Equatable {
        case out, err
    }

    package let stream: Stream
    package let text: String

    package init(_ stream: Stream, _ text: String) {
        self.stream = stream
        self.text = text
    }
}

/// Turns the events of a run into text; knows no stream, no clock and no terminal.
package protocol Printer: Sendable {
    /// What to write now that `event` has happened; `now` is the real time.
    mutating func print(_ event: Event, at now: Moment) -> [Output]

    /// What to write when nothing has happened for a while.
    mutating func tick(at now: Moment) -> [Output]
}

extension Printer {
    package mutating func tick(at now: Moment) -> [Output] { [] }
}
