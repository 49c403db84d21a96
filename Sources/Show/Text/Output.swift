package import Base
package import Store

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

/// Converts the events of a run to text; independent of streams, clocks and terminals.
package protocol Printer: Sendable {
    /// The output after `event`; `now` is the real time.
    mutating func print(_ event: Event, at now: Moment) -> [Output]

    /// The output after time has passed; `wall` is the time of the run.
    mutating func tick(at now: Moment, wall: WallTime) -> [Output]

    /// The run waits for something else from now on.
    mutating func look(_ outlook: Outlook, at now: Moment, wall: WallTime) -> [Output]

    /// A signal has asked the run to end at its next safe point.
    mutating func stopping(_ signal: String, at now: Moment, wall: WallTime) -> [Output]

    /// The window of the output has this size.
    mutating func resize(width: Int, height: Int)

    /// The earlier output was not shown: a person has just begun to watch.
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

    package mutating func resize(width: Int, height: Int) {}

    package mutating func caughtUp() {}
}

/// The message when a person asks a run to end.
enum StopSentence {
    static func text(_ signal: String) -> String {
        "\(signal): comes to the next safe point and ends; once more (Ctrl-C) ends it at once"
    }
}

extension EventLine: Printer {
    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        [Output(.out, line(event))]
    }
}
