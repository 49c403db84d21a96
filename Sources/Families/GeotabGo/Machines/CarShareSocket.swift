package import Base

/// Gets a vehicle's device to connect to our service: advertises, begins again when no device
/// connects, takes one central.
package struct CarShareSocket: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `initializing`.
        case idle
        /// The service is being published. Next: `advertising`, `closed`.
        case initializing(until: Moment)
        /// Next: `connected`, `initializing` after a round without a subscription, `closed`.
        case advertising(round: Moment, until: Moment)
        /// One central, and the longest notification that it takes. Next: `closed`.
        case connected(maximumLength: Int)
        case closed(CarShareSocketError?)
    }

    package enum Action: Equatable, Sendable {
        /// Publish the service with both characteristics.
        case publish
        case advertise(until: Moment)
        /// Withdraw the service, then publish it again.
        case publishAgain
        case opened(maximumLength: Int)
        /// Stop advertising and withdraw the service; nil when the caller asked for it.
        case closed(CarShareSocketError?)
        /// Do nothing: the event belongs to a state that is over.
        case wait
    }

    package private(set) var state = State.idle
    private let limits: CarShareLimits
    /// How long the next round lasts.
    private var length: Duration

    package init(limits: CarShareLimits = CarShareLimits()) {
        self.limits = limits
        length = limits.advertisement
    }

    /// The longest notification; nil unless connected.
    package var maximumLength: Int? {
        if case .connected(let length) = state { length } else { nil }
    }

    package mutating func open(at now: Moment, until limit: Moment? = nil) -> Action {
        switch state {
        case .idle:
            let arrival = now.advanced(by: limits.arrival)
            state = .initializing(until: limit.map { min($0, arrival) } ?? arrival)
            return .publish
        case .initializing, .advertising, .connected, .closed:
            return .wait
        }
    }

    package mutating func published(at now: Moment) -> Action {
        switch state {
        case .initializing(let until):
            let round = min(now.advanced(by: length), until)
            length = min(length * 2, max(limits.longestAdvertisement, limits.advertisement))
            state = .advertising(round: round, until: until)
            return .advertise(until: round)
        case .idle, .advertising, .connected, .closed:
            return .wait
        }
    }

    /// A central enabled our notifications.
    ///
    /// The first central that does this before `connected` is the vehicle.
    package mutating func subscribed(maximumLength: Int) -> Action {
        switch state {
        case .initializing, .advertising:
            guard maximumLength > 0 else { return close(.noRoom) }
            state = .connected(maximumLength: maximumLength)
            return .opened(maximumLength: maximumLength)
        case .idle, .connected, .closed:
            return .wait
        }
    }

    /// No central has subscribed so far.
    package mutating func nobodyCame(at now: Moment) -> Action {
        switch state {
        case .initializing(let until):
            return now >= until ? close(.nobodyCame) : .wait
        case .advertising(let round, let until):
            guard now < until else { return close(.nobodyCame) }
            guard now >= round else { return .wait }
            state = .initializing(until: until)
            return .publishAgain
        case .idle, .connected, .closed:
            return .wait
        }
    }

    /// The central disabled notifications or disconnected.
    package mutating func unsubscribed() -> Action {
        switch state {
        case .connected: close(.lost)
        case .idle, .initializing, .advertising, .closed: .wait
        }
    }

    /// The radio failed; a link that existed is lost.
    package mutating func radioFailed(_ fault: CarShareSocketError.Radio) -> Action {
        switch state {
        case .initializing, .advertising: close(.radio(fault))
        case .connected: close(.lost)
        case .idle, .closed: .wait
        }
    }

    package mutating func close() -> Action {
        switch state {
        case .idle, .initializing, .advertising, .connected: close(nil)
        case .closed: .wait
        }
    }

    private mutating func close(_ error: CarShareSocketError?) -> Action {
        state = .closed(error)
        return .closed(error)
    }
}

/// Why no vehicle is connected to our service.
package enum CarShareSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Radio: Hashable, Sendable {
        case off, missing, unavailable, unauthorized, failed
    }

    case radio(Radio)
    /// No central subscribed in time.
    case nobodyCame
    /// The central was connected and is gone.
    case lost
    /// Its notifications have no room for a byte.
    case noRoom

    package var description: String {
        switch self {
        case .radio(.off): "the Bluetooth adapter is switched off"
        case .radio(.missing): "the Bluetooth adapter is gone"
        case .radio(.unavailable): "the host's Bluetooth service does not answer"
        case .radio(.unauthorized): "the host does not permit the use of Bluetooth"
        case .radio(.failed): "the service could not be put on the air"
        case .nobodyCame: "no vehicle connected to our service"
        case .lost: "the link was lost"
        case .noRoom: "the vehicle takes no notifications"
        }
    }
}
