package import Domain

/// Lines for logs, pipes and mail: no colour, no cursor moves, no flood.
package struct PlainPrinter: Printer {
    /// A vehicle's progress gets a line at most this often.
    private static let progressPause = Duration.seconds(10)

    private let results: Output.Stream
    private var recap = Recap()
    private var vehicles: Int?
    private var lastProgress: [VehicleID: WallTime] = [:]

    /// `results` is where the recap and the last line go.
    package init(results: Output.Stream = .out) { self.results = results }

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        recap.note(event)
        switch event.body {
        case .runStarted(let start): vehicles = start.vehicles
        case .progress(let id, _):
            if let last = lastProgress[id], last <= event.time,
                event.time < last.advanced(by: Self.progressPause)
            {
                return []
            }
            lastProgress[id] = event.time
        case .vehicleEnded(let id, _): lastProgress[id] = nil
        case .runEnded(let end): return [Output(results, recap.text(end))]
        case .imageReady, .attemptStarted, .stateChanged, .inspected, .interrupted, .problem,
            .retrying, .stepEnded, .warning, .notice:
            break
        }
        guard let sentence = Sentence.text(event.body, vehicles: vehicles) else { return [] }
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
