package import Domain

/// Lines for logs, pipes and mail: no colour, no cursor moves, no flood.
package struct PlainPrinter: Printer {
    private let results: Output.Stream
    private var recap = Recap()
    private var lines = LineFilter()

    /// `results` is where the recap and the last line go.
    package init(results: Output.Stream = .out) { self.results = results }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        if case .runEnded(let end) = event.body { return [Output(results, recap.text(end))] }
        guard let sentence = lines.sentence(event) else { return [] }
        return [Output(.err, "\(event.time.toTheSecond) \(sentence)\n")]
    }
}

/// Nothing when all is well; otherwise the vehicles that need somebody, and the last line.
package struct QuietPrinter: Printer {
    private let results: Output.Stream
    private var recap = Recap()

    package init(results: Output.Stream = .out) { self.results = results }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        guard case .runEnded(let end) = event.body, end.exitCode != 0 else { return [] }
        return [Output(results, recap.faults(end))]
    }
}

extension WallTime {
    /// As `2026-11-21T03:36:05Z`.
    fileprivate var toTheSecond: String { String(description.dropLast(5)) + "Z" }
}
