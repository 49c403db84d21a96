package import Base
package import Radio
package import Simulation

/// The device against which every radio is tested: it echoes, stores, refuses and disconnects.
package final class ContractPeer: AirDevice {
    package static let service = GATTUUID(short: 0xFF00)
    package static let company: UInt16 = 0xFFFF
    package static let identity: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06]

    /// Notifies each written value, in the same order.
    package static let echo = Characteristic(GATTUUID(short: 0xFF01), of: service)
    /// Stores the written value, and returns it when it is read.
    package static let store = Characteristic(GATTUUID(short: 0xFF02), of: service)
    /// Refuses reads and writes, because they are not authorized.
    package static let refusing = Characteristic(GATTUUID(short: 0xFF03), of: service)
    /// Writing 01 ends the link, 02 indicates on `indicating`, 03 makes the peer silent forever.
    package static let order = Characteristic(GATTUUID(short: 0xFF04), of: service)
    package static let indicating = Characteristic(GATTUUID(short: 0xFF05), of: service)
    /// A characteristic that no peer has.
    package static let absent = Characteristic(GATTUUID(short: 0xFF0F), of: service)

    private let world: World
    private var link: AirLink?
    private var stored: [UInt8] = []
    private var silent = false
    package var inReach = true {
        didSet {
            if !inReach { link?.fallSilent() }
            world.advertisingChanged(self)
        }
    }
    package var address = "C0:00:00:00:00:01" {
        didSet { world.advertisingChanged(self) }
    }
    /// The number of links that it refuses before it accepts one.
    package var refusals = 0
    /// The error with which it answers a subscription; nil when it accepts it.
    package var subscriptionError: ATTError?
    package private(set) var subscriptions = 0
    package var linkParameters = LinkParameters()
    package private(set) var confirmations = 0
    package private(set) var linksMade = 0
    package var security: AirSecurity?

    package init(world: World) { self.world = world }

    package var label: String { "the contract's peer" }

    package var broadcast: Broadcast? {
        guard inReach, link == nil, !silent else { return nil }
        var broadcast = Broadcast(address: address)
        broadcast.name = "contract"
        broadcast.manufacturerData = [Self.company: Self.identity]
        broadcast.interval = .milliseconds(100)
        return broadcast
    }

    package let characteristics: [Characteristic: CharacteristicFlags] = [
        echo: [.write, .writeWithoutResponse, .notify],
        store: [.read, .write],
        refusing: [.read, .write],
        order: [.write],
        indicating: [.indicate],
    ]

    package func acceptsConnection() -> Bool {
        guard refusals > 0 else { return true }
        refusals -= 1
        return false
    }

    package func linkMade(_ link: AirLink) {
        self.link = link
        linksMade += 1
    }

    package func linkLost(_ link: AirLink) {
        self.link = nil
        world.advertisingChanged(self)
    }

    package func read(_ characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        characteristic == Self.store ? .success(stored) : .failure(.insufficientAuthorization)
    }

    package func written(_ bytes: [UInt8], to characteristic: Characteristic) -> ATTError? {
        switch characteristic {
        case Self.echo:
            link?.notify(bytes, on: Self.echo)
        case Self.store:
            stored = bytes
        case Self.order:
            switch bytes {
            case [1]: link?.drop()
            case [2]:
                link?.indicate([0x20], on: Self.indicating) { [self] in confirmations += 1 }
            case [3]:
                silent = true
                link?.fallSilent()
            default: return .invalidLength
            }
        default:
            return .insufficientAuthorization
        }
        return nil
    }

    package func subscribed(to characteristic: Characteristic, _ on: Bool) -> ATTError? {
        guard on else { return nil }
        subscriptions += 1
        return subscriptionError
    }
}

/// The central against which the peripheral role of every radio is tested.
///
/// It sends back each notified value in two pieces.
package final class ContractVisitor: AirVisitor {
    package static let service = ServiceDescription(
        uuid: GATTUUID(short: 0xFE00),
        notify: GATTUUID(short: 0xFE01),
        write: GATTUUID(short: 0xFE02)
    )

    package var linkParameters = LinkParameters()
    private var visit: AirVisit?
    package var isLooking = true

    package init() {}

    package var label: String { "the contract's central" }
    package var seeks: GATTUUID? { isLooking && visit == nil ? Self.service.uuid : nil }
    package var reactionTime: Duration { .milliseconds(250) }

    package func subscribed(_ visit: AirVisit) { self.visit = visit }

    package func notified(_ bytes: [UInt8], _ visit: AirVisit) {
        let half = bytes.count / 2
        visit.write(Array(bytes[..<half]))
        visit.write(Array(bytes[half...]))
    }

    package func visitEnded(_ visit: AirVisit) { self.visit = nil }

    package func leave() { visit?.end() }
}
