package import Radio

/// Keeps an adapter's discovery as it is wanted: one session for all who scan.
///
/// Knows what BlueZ does wrong here: a second start that is "in progress", a stop that is refused
/// and leaves the discovery on but deaf, an adapter that falls silent.
package struct ScannerMachine: Equatable {
    package enum Step: Equatable {
        case setFilter, start, stop
        /// The way out of a stop that is refused: start and stop once more, filter untouched.
        case startAgain, stopAgain
        case powerOff, powerOn
    }

    package enum State: Equatable {
        /// Next: `doing(.setFilter)`.
        case off
        /// Next: `doing(.stop)`, `doing(.setFilter)` for another filter, `doing(.powerOff)`.
        case on
        /// One call is under way; its end says what is next.
        case doing(Step)
    }

    package enum Action: Equatable {
        case perform(Step)
        /// Anyone who scans is told that it does not work.
        case fail(RadioError)
        case nothing
    }

    package init() {}

    package private(set) var state = State.off
    package private(set) var isWanted = false
    private var isFilterOld = true
    /// Set while a discovery is on that the present step was not asked to end.
    private var wasOn = false

    var isOff: Bool { state == .off }
    var isOn: Bool { state == .on }

    /// Somebody scans, or nobody does any more.
    package mutating func want(_ isWanted: Bool) -> Action {
        self.isWanted = isWanted
        return settle()
    }

    /// Another filter is wanted than the last that was set.
    package mutating func filterChanged() -> Action {
        isFilterOld = true
        return settle()
    }

    /// The adapter has been silent: the discovery is begun again.
    package mutating func restart() -> Action {
        guard state == .on else { return .nothing }
        return begin(.stop)
    }

    /// Restarting was no help.
    package mutating func cyclePower() -> Action {
        guard state == .on else { return .nothing }
        return begin(.powerOff)
    }

    /// The adapter or BlueZ is gone, with all sessions.
    package mutating func lost() { self = ScannerMachine() }

    /// The step under way has ended.
    package mutating func done(_ refusal: BlueZRefusal?, mayCyclePower: Bool) -> Action {
        guard case .doing(let step) = state else { return .nothing }
        switch step {
        case .setFilter:
            if let error = refusal.flatMap(Self.end) { return fail(error) }
            isFilterOld = false
            return wasOn ? turned(on: true) : begin(.start)
        case .start:
            // Started is started, no matter who asked first.
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

    /// What of a refusal no other step can fix.
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
