package import Base
package import Radio

/// One link to a device, from the request for it to the end of its cleanup.
///
/// BlueZ reports success or loss in many ways and in no fixed order. Every event comes with the
/// current facts, and the first event that shows the change decides.
package struct LinkMachine: Equatable {
    /// The time limits of the phases.
    package struct Rules: Equatable, Sendable {
        package var hearing = Duration.seconds(10)
        package var connecting = Duration.seconds(25)
        /// How long a link may take to appear after it was reported.
        package var grace = Duration.seconds(2)
        package var pairing = Duration.seconds(60)
        package var services = Duration.seconds(30)
        package var ending = Duration.seconds(6)
        /// How long a module may take to answer or to end the link after its bond was refused.
        package var unbonded = Duration.seconds(5)
        /// How long the last packets may take to be sent.
        package var leaving = Duration.milliseconds(500)

        package init() {}
    }

    /// Why there is no link.
    package enum Failure: Equatable, Sendable {
        case radio(RadioError)
        /// There was a link, but its services were not found in time, or the module refused to have
        /// them read.
        case services(isRefused: Bool)
        /// The link was lost when it should have been encrypted with the keys of a bond.
        case keys
    }

    package enum Call: Equatable, Sendable {
        case connect
        /// Also connects if there is no link.
        case pair
        case disconnect
        /// Returns after all earlier messages of BlueZ have been received.
        case fence
    }

    package enum Action: Equatable {
        case call(Call)
        /// The host does not know the device: it must be heard.
        case hear
        /// Record that the link to this address is ours, or no longer is.
        case remember, forget
        /// Read the device's table, and acquire a socket that shows the packet length:
        /// `socketMeasured`.
        case measure
        /// Read the property that contains the MTU: `propertyRead`.
        case readMTU
        /// Check whether all packets were taken: `drained` or `notDrained`.
        case look
        /// The link can be used and is given to its requester.
        case stands(maximumLength: Int)
        /// Close everything that belongs to the link.
        case void
        /// Report to the requester that there is no link.
        case failed(Failure)
        /// The machine has finished.
        case over
        case note(BlueZNote)
        /// A new bond was made.
        case bonded
        /// The bond that was just made is not the required one: the host must drop it.
        case unbond
    }

    package enum State: Equatable {
        /// Next: `hearing`, `clearing`, `connecting`, `over`.
        case idle
        /// The host does not know the device. Next: `clearing`, `connecting`, `over`.
        case hearing(until: Moment)
        /// A link that this program has left is ended first.
        ///
        /// Next: `connecting`, `ending`.
        case clearing(until: Moment)
        /// The call is running.
        ///
        /// Next: `awaiting`, `hearing`, `ending`.
        case connecting(Call, until: Moment)
        /// A link is expected.
        ///
        /// Next: `resolving`, `ending`.
        case awaiting(until: Moment)
        /// The services are being resolved.
        ///
        /// Next: `fencing`, `ending`.
        case resolving(until: Moment)
        /// The last services are being reported.
        ///
        /// Next: `measuring`, `ending`.
        case fencing
        /// A socket is being acquired.
        ///
        /// Next: `reading`, `standing`, `ending`.
        case measuring
        /// There is no socket, and the MTU may not be known yet.
        ///
        /// Next: `standing`, `ending`.
        case reading(next: Moment, tries: Int)
        /// In use. Next: `leaving`, `ending`, `over`.
        case standing
        /// Its user has finished with it; BlueZ is still taking the last packets.
        ///
        /// Next: `ending`, `over`.
        case leaving(Drain, until: Moment)
        /// The link is being ended; the failure is reported afterwards.
        ///
        /// Next: `over`.
        case ending(Failure?, answered: Bool, until: Moment)
        case over
    }

    package let address: String
    let adapter: String
    let policy: BondPolicy
    let rules: Rules
    let limit: Moment
    /// Whether this program has made a link to this address before, in this run or an earlier one,
    /// and not ended it.
    let isLeftBehind: Bool
    package internal(set) var state = State.idle
    /// The device's object, once it was found.
    package internal(set) var path: ObjectPath?
    /// Whether another program has also requested the link.
    var isShared = false
    /// Whether the device was unknown and has been heard for this link.
    var hasHeard = false
    /// Whether the device was connected at any time.
    var wasConnected = false
    /// Whether the module has requested its passkey.
    var hasGivenPasskey = false
    /// When the module wanted a bond that nobody allows; nil when it has answered since then.
    var bondRefusal: Moment?

    /// A link to an address, which must be ready before `limit`.
    package init(
        to address: String,
        on adapter: String,
        _ policy: BondPolicy = .unbonded,
        isLeftBehind: Bool = false,
        before limit: Moment,
        rules: Rules = Rules()
    ) {
        self.address = address
        self.adapter = adapter
        self.policy = policy
        self.isLeftBehind = isLeftBehind
        self.limit = limit
        self.rules = rules
    }

    /// The next moment at which `tick` is due; nil when only events have effects.
    package var deadline: Moment? {
        switch state {
        case .standing, .over: nil
        case .hearing(let until), .clearing(let until), .connecting(_, let until),
            .awaiting(let until), .resolving(let until), .ending(_, _, let until):
            until
        case .reading(let next, _): min(next, limit)
        case .leaving(let drain, let until): min(drain.next, until)
        case .idle, .fencing, .measuring: limit
        }
    }

    package var isStanding: Bool { state == .standing }
    package var isOver: Bool { state == .over }

    /// This moment plus `time`, but not later than `limit`.
    func soon(_ time: Duration, after now: Moment) -> Moment { min(limit, now.advanced(by: time)) }
}
