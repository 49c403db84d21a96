package import Base
package import Store

/// A run as text, long after it ended: first the events of the whole run, then each vehicle with
/// its events.
package struct RunHistory: Sendable {
    private var vehicles: Int?
    private var general: [String] = []
    private var lines: [VehicleID: [String]] = [:]
    /// Each vehicle's outcome, or the name of the count for vehicles without one.
    private var endings: [VehicleID: String] = [:]

    private let zone: Zone

    /// `zone` is the zone for all times.
    package init(zone: Zone = .utc) { self.zone = zone }

    package mutating func note(_ event: Event) {
        if case .runStarted(let start) = event.body { vehicles = start.vehicles }
        switch event.body {
        case .vehicleEnded(let id, let verdict): endings[id] = verdict.outcome.rawValue
        case .vehicleStands(let id, let standing): endings[id] = standing.name
        case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .progress,
            .interrupted, .problem, .retrying, .stepEnded, .warning, .notice, .runEnded:
            break
        }
        guard let sentence = Sentence.full(event.body, vehicles: vehicles) else { return }
        note("\(zone.precise(event.time))  \(sentence)", of: event.body.vehicle)
    }

    /// An event that this version cannot read is shown as the journal contains it.
    package mutating func note(raw json: String, of vehicle: VehicleID?, at time: WallTime) {
        note("\(zone.precise(time))  \(json.visible)", of: vehicle)
    }

    private mutating func note(_ line: String, of vehicle: VehicleID?) {
        if let vehicle {
            lines[vehicle, default: []].append(line)
        } else {
            general.append(line)
        }
    }

    /// A paragraph for the whole run, and one for each vehicle in the order of their ids.
    package var text: String {
        var paragraphs = general.isEmpty ? [] : [general]
        for (id, lines) in lines.sorted(by: { $0.key < $1.key }) {
            let outcome = endings[id] ?? Standing.unfinished
            paragraphs.append(["\(id.text.visible)  \(outcome)"] + lines.map { "  " + $0 })
        }
        return paragraphs.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }
}
