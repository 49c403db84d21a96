package import DBus
package import Domain
package import Radio

/// One link to a device, from the wish for it to the end of what it has left.
///
/// BlueZ tells of a success or a loss in many ways and in no fixed order: every event comes with
/// the facts as they are, and whichever says it first decides.
package struct LinkMachine: Equatable {
    /// How long each part may take.
    package struct Rules: Equatable, Sendable {
        package var hearing = Duration.seconds(10)
        package var connecting = Duration.seconds(25)
        /// How long a link may be in coming after it was said to be there.
        package var grace = Duration.seconds(2)
        package var pairing = Duration.seconds(60)
        package var services = Duration.seconds(30)
        package var ending = Duration.seconds(6)
        /// How long packets may take that were sent at the very end.
        package var leaving = Duration.milliseconds(500)

        package init() {}
    }

    /// Why there is no link.
    package enum Failure: Equatable, Sendable {
        case radio(RadioError)
        /// It stood, and its services were not found.
        case services
        /// It broke off when it should have been encrypted by the keys of a bond.
        case keys
    }

    package enum Call: Equatable, Sendable {
        case connect
        /// Connects as well where there is no link.
        case pair
        case disconnect
        /// Comes back when all that BlueZ has said before is heard.
        case fence
    }

    package enum Action: Equatable {
        case call(Call)
        /// The host does not know the device: it has to be heard.
        case hear
        /// The address is one of ours from now on, or is not any more.
        case remember, forget
        /// What stands in the device's table is to be read, and a socket asked for that tells how
        /// much a packet carries: `socketMeasured`.
        case measure
        /// The property that says the same is to be read: `propertyRead`.
        case readMTU
        /// Look whether all packets are taken: `drained` or `notDrained`.
        case look
        /// The link can be used; anyone who wanted it is given it.
        case stands(maximumLength: Int)
        /// What belongs to the link is void.
        case void
        /// Anyone who wanted the link is told that there is none.
        case failed(Failure)
        /// Nothing is left of it.
        case over
        case note(BlueZNote)
        /// There is a bond now that was not there before.
        case bonded
        /// The bond that was just made is not what was wanted: the host is to drop it.
        case unbond
    }

    package enum State: Equatable {
        /// Next: `hearing`, `clearing`, `connecting`, `over`.
        case idle
        /// The host does not know the device. Next: `clearing`, `connecting`, `over`.
        case hearing(until: Moment)
        /// A link of an earlier run is taken down first. Next: `connecting`, `ending`.
        case clearing(until: Moment)
        /// The call is under way. Next: `awaiting`, `hearing`, `ending`.
        case connecting(Call, until: Moment)
        /// There should be a link. Next: `resolving`, `ending`.
        case awaiting(until: Moment)
        /// The services are being found. Next: `fencing`, `ending`.
        case resolving(until: Moment)
        /// The last of them are being told of. Next: `measuring`, `ending`.
        case fencing
        /// A socket is asked for. Next: `reading`, `standing`, `ending`.
        case measuring
        /// There is none, and the MTU may not be known yet. Next: `standing`, `ending`.
        case reading(next: Moment, tries: Int)
        /// In use. Next: `leaving`, `ending`, `over`.
        case standing
        /// Its user is done with it; what was sent is still being taken. Next: `ending`, `over`.
        case leaving(Drain, until: Moment)
        /// What there is of a link is taken down, and then somebody is told. Next: `over`.
        case ending(Failure?, answered: Bool, until: Moment)
        case over
    }

    package let address: String
    let adapter: String
    let policy: BondPolicy
    let rules: Rules
    let limit: Moment
    /// An earlier run of ours has made a link to this address, and not ended it.
    let isLeftBehind: Bool
    package internal(set) var state = State.idle
    /// The device's object, once it was seen.
    package internal(set) var path: ObjectPath?
    /// Another program began the link, too.
    var isShared = false
    /// The device was not known, and has been heard for this link.
    var hasHeard = false
    /// The device was connected for a moment at least.
    var wasConnected = false
    /// The module has asked for its passkey.
    var hasGivenPasskey = false

    /// A link to an address, to be there before a moment.
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

    /// The next moment at which something is to be done; nil when only events bring it on.
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

    /// So much later, but not after the link should be there.
    func soon(_ time: Duration, after now: Moment) -> Moment { min(limit, now.advanced(by: time)) }
}
