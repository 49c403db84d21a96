import Base
import Store

/// Selects the events for a log, and gives each its line.
struct LineFilter: Sendable {
    /// The shortest time between two progress lines of a vehicle, and before its first one.
    private static let progressPause = Duration.seconds(10)

    private var vehicles: Int?
    private var lastProgress: [VehicleID: WallTime] = [:]

    mutating func sentence(_ event: Event) -> String? {
        switch event.body {
        case .runStarted(let start): vehicles = start.vehicles
        case .progress(let id, _):
            if let last = lastProgress[id], last <= event.time,
                event.time < last.advanced(by: Self.progressPause)
            {
                return nil
            }
            lastProgress[id] = event.time
        case .stateChanged(let id, .transferring, _, _): lastProgress[id] = event.time
        case .vehicleEnded(let id, _): lastProgress[id] = nil
        case .imageReady, .attemptStarted, .stateChanged, .inspected, .interrupted, .problem,
            .retrying, .stepEnded, .vehicleStands, .warning, .notice, .runEnded:
            break
        }
        return Sentence.text(event.body, vehicles: vehicles)
    }
}
