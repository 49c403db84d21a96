package import Radio

/// Controls an adapter's discovery: one session for all scans.
///
/// It handles BlueZ's faults: a second start that is "in progress", a stop that is refused and
/// leaves the discovery on but deaf, an adapter that goes silent.
package struct ScannerMachine: Equatable {
    package enum Step: Equatable {
        case setFilter, start, stop
        /// The way out of a refused stop: start and stop once more, with the same filter.
        case startAgain, stopAgain
        case powerOff, powerOn
    }

    package enum State: Equatable {
        /// Next: `doing(.setFilter)`.
        case off
        /// Next: `doing(.stop)`, `doing(.setFilter)` for another filter, `doing(.powerOff)`.
        case on
        /// One call is running; the next state depends on its result.
        case doing(Step)
    }

    package enum Action: Equatable {
        case perform(Step)
        /// Ends all scans with this error.
        case fail(RadioError)
        case nothing
    }

    package init() {}

    package private(set) var state = State.off
    package private(set) var isWanted = false
    private var isFilterOld = true
    /// Set while a discovery is on that the current step was not started to end.
    private var wasOn = false

    var isOff: Bool { state == .off }
    var isOn: Bool { state == .on }

    /// Sets whether a discovery is wanted.
    package mutating func want(_ isWanted: Bool) -> Action {
        self.isWanted = isWanted
        return settle()
    }

    /// The required filter differs from the last one that was set.
    package mutating func filterChanged() -> Action {
        isFilterOld = true
        return settle()
    }

    /// The adapter has been silent: the discovery is restarted.
    package mutating func restart() -> Action {
        guard state == .on else { return .nothing }
        return begin(.stop)
    }

    /// Restarting did not help.
    package mutating func cyclePower() -> Action {
        guard state == .on else { return .nothing }
        return begin(.powerOff)
    }

    /// The adapter or BlueZ is gone, and all sessions with it.
    package mutating func lost() { self = ScannerMachine() }

    /// The current step has ended.
    package mutating func done(_ refusal: BlueZRefusal?, mayCyclePower: Bool) -> Action {
        guard case .doing(let step) = state else { return .nothing }
        switch step {
        case .setFilter:
            if let error = refusal.flatMap(Self.end) { return fail(error) }
            isFilterOld = false
            return wasOn ? turned(on: true) : begin(.start)
        case .start:
            // The discovery is on, no matter who started it.
            if refusal == nil || refusal == .inProgress { return turned(on: true) }
            return fail(refusal.flatMap(Self.end) ?? .serviceUnavailable)
        case .stop:
            if refusal == .inProgress { return begin(.startAgain) }
            if let error = refusal.flatMap(Self.end) { return fail(error) }
            return turned(on: false)
        case .startAgain:
            return begin(.stopAgain)
        case .stopAgain:
            if refusal == .inProgress, mayCyclePower { return begin(.powerOff) }
            if let error = refusal.flatMap(Self.end) { return fail(error) }
            return turned(on: false)
        case .powerOff:
            return begin(.powerOn)
        case .powerOn:
            if let error = refusal.flatMap(Self.end) { return fail(error) }
            isFilterOld = true
            return turned(on: false)
        }
    }

    /// The error of a refusal that no further step can fix.
    private static func end(_ refusal: BlueZRefusal) -> RadioError? {
        switch refusal {
        case .notReady: .adapterOff
        case .objectGone: .adapterMissing
        case .serviceGone: .serviceUnavailable
        case .accessDenied: .unauthorized
        case .inProgress, .tooManyLinks, .acquired, .notConnected, .att, .alreadyExists,
            .notSupported, .notPermitted, .keyMissing, .canceled, .authentication, .failed:
            nil
        }
    }

    private mutating func fail(_ error: RadioError) -> Action {
        state = .off
        wasOn = false
        isFilterOld = true
        return isWanted ? .fail(error) : .nothing
    }

    private mutating func turned(on: Bool) -> Action {
        state = on ? .on : .off
        wasOn = on
        if !on { isFilterOld = true }
        return settle()
    }

    private mutating func begin(_ step: Step) -> Action {
        state = .doing(step)
        return .perform(step)
    }

    private mutating func settle() -> Action {
        switch (state, isWanted) {
        case (.off, true): begin(.setFilter)
        case (.on, false): begin(.stop)
        case (.on, true): isFilterOld ? begin(.setFilter) : .nothing
        case (.off, false), (.doing, _): .nothing
        }
    }
}
