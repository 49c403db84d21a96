/// The kinds of requests that people make, with the names of their commands.
package enum SteeringVerb: String, CaseIterable, Sendable {
    case pause, resume, abort, retry, inhibit, uninhibit, clear

    /// Whether it is about a rollout.
    package var takesRollout: Bool {
        switch self {
        case .pause, .resume, .abort, .retry: true
        case .inhibit, .uninhibit, .clear: false
        }
    }

    /// Whether it is about vehicles, named or all.
    package var takesVehicles: Bool {
        switch self {
        case .retry, .inhibit, .uninhibit, .clear: true
        case .pause, .resume, .abort: false
        }
    }

    /// Whether it can be about the whole depot, which then must be said.
    package var takesDepot: Bool { takesVehicles && !takesRollout }

    /// Whether its effect can be limited to a time.
    package var takesLength: Bool { self == .inhibit }
}
