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

    /// What to write when time has passed; `wall` is the time of the run.
    mutating func tick(at now: Moment, wall: WallTime) -> [Output]

    /// The run awaits something else from now on.
    mutating func look(_ outlook: Outlook, at now: Moment, wall: WallTime) -> [Output]

    /// A signal has asked the run to end at its next safe point.
    mutating func stopping(_ signal: String, at now: Moment, wall: WallTime) -> [Output]

    /// What was printed so far went nowhere: somebody has come to look just now.
    mutating func caughtUp()
}

extension Printer {
    package mutating func tick(at now: Moment, wall: WallTime) -> [Output] { [] }

    package mutating func look(_ outlook: Outlook, at now: Moment, wall: WallTime) -> [Output] {
        []
    }

    package mutating func stopping(
        _ signal: String,
        at now: Moment,
        wall: WallTime
    ) -> [Output] { [] }

    package mutating func caughtUp() {}
}

/// What people are told when they ask a run to end.
enum StopSentence {
    static func text(_ signal: String) -> String {
        "\(signal): comes to the next safe point and ends; once more (Ctrl-C) ends it at once"
    }
}
