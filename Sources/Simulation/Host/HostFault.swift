package import Base

/// A fault of the host's Bluetooth service, for a number of times or until it is lifted.
package struct HostFault: Sendable, Equatable {
    /// The numbers are those of the table of failure modes in the documentation.
    package enum Kind: String, CaseIterable, Sendable {
        /// A scan cannot be begun: another one is active (1).
        case scanRefused = "scan-refused"
        /// A scan cannot be ended, and finds nothing until it is begun again (2).
        case scanStuck = "scan-stuck"
        /// Nothing is heard until the scan is begun again (3).
        case deaf
        /// Nothing is heard until the adapter is switched off and on (3).
        case deafUntilPowerCycle = "deaf-until-power-cycle"
        /// A connection exists for a moment and is then reported as aborted (4).
        case connectAborted = "connect-aborted"
        /// A connection attempt is never answered (5).
        case connectUnanswered = "connect-unanswered"
        /// A connection attempt succeeds without a link (5).
        case connectWithoutLink = "connect-without-link"
        /// An attempt is refused because another one is active, which succeeds (6).
        case connectBusy = "connect-busy"
        /// The services of a link are never found (7).
        case unresolved
        /// The service's cache of the module lacks a characteristic until the module is forgotten
        /// (8).
        case staleServices = "stale-services"
        /// The module's object is removed when a connection is requested (9).
        case deviceDropped = "device-dropped"
        /// Links made during a scan are lost immediately (10).
        case connectNeedsQuiet = "connect-needs-quiet"
        /// The adapter has no further link, and reports this with the words of another failure
        /// (11).
        case linkLimitUnnamed = "link-limit-unnamed"
        /// Notifications stay locked after a link was lost, until the module is forgotten (17).
        case notifyLocked = "notify-locked"
        /// A read or write is refused because another one is active (18).
        case requestBusy = "request-busy"
        /// Another program has the sockets of a characteristic (19).
        case acquiredByOther = "acquired-by-other"
        /// Every call is refused by the bus's policy (23).
        case accessDenied = "access-denied"
        /// A central wants to pair before it does anything (24).
        case centralPairs = "central-pairs"
        /// No link can be made while a central is connected, and no central connects beside a link
        /// (25).
        case oneRole = "one-role"
        /// All advertising slots are taken (26).
        case slotsTaken = "slots-taken"
        /// A central that reconnects counts as subscribed: no program is asked for a socket (28).
        case remembersSubscription = "remembers-subscription"
        /// Characteristics have no sockets, as in versions before 5.50.
        case noSockets = "no-sockets"
        /// The first MTU that is reported is 23, while the socket's is right.
        case lateMTU = "late-mtu"
        /// Every packet in a socket is taken immediately, which no bluetoothd does: shows what the
        /// rule costs.
        case drainsSockets = "drains-sockets"
    }

    package let kind: Kind
    /// How many times it happens; nil means until it is lifted.
    package var times: Int?
    /// The serial or address of the only module that is affected; nil for any.
    package var module: String?
    /// The characteristic that a stale cache lacks; nil for the last one of every service.
    package var lacking: GATTUUID?

    package init(
        _ kind: Kind,
        times: Int? = nil,
        module: String? = nil,
        lacking: GATTUUID? = nil
    ) {
        self.kind = kind
        self.times = times
        self.module = module
        self.lacking = lacking
    }
}

/// An incident at the host, which happens immediately.
package enum HostIncident: Sendable, Equatable {
    /// An adapter is switched off, or on again (12).
    case power(adapter: String, on: Bool)
    /// An adapter is blocked by a switch: it is off, and cannot be switched on (12).
    case block(adapter: String, Bool)
    /// An adapter is unplugged (12).
    case unplug(adapter: String)
    /// It is plugged in again, perhaps under another name (12).
    case plugIn(adapter: String, as: String)
    /// The service stops, and starts again after some time with all its objects new (13).
    case restart(after: Duration)
    /// Another program connects to a module (15, 19).
    case connectElsewhere(module: String)
    /// A link is lost (16).
    case linkLost(module: String)
    /// A module's object is removed, with its link (9).
    case dropDevice(module: String)
    /// A module has another address from now on (20).
    case newAddress(module: String)
    /// A module loses all its bonds.
    case bondsLost(module: String)
    /// The adapter carries this many links from now on (11).
    case linkLimit(adapter: String, Int)
    /// Every advertisement is dropped, and its program is informed (26).
    case releaseAdvertisements(adapter: String)
    /// The link to a central is lost.
    case centralLeaves(adapter: String)
}

/// The faults that are set at a host; each occurrence uses one up.
package struct HostFaults: Sendable, Equatable {
    package private(set) var list: [HostFault]

    package init(_ list: [HostFault] = []) { self.list = list }

    package mutating func add(_ fault: HostFault) { list.append(fault) }

    /// Lifts all faults of a kind.
    package mutating func lift(_ kind: HostFault.Kind) { list.removeAll { $0.kind == kind } }

    /// The fault, if it happens now to a module of these names; uses up one occurrence.
    package mutating func happens(_ kind: HostFault.Kind, to names: [String] = []) -> HostFault? {
        let index = list.firstIndex { fault in
            fault.kind == kind && (fault.module.map { names.contains($0) } ?? true)
        }
        guard let index else { return nil }
        let fault = list[index]
        if let times = fault.times {
            list[index].times = times - 1
            if times <= 1 { list.remove(at: index) }
        }
        return fault
    }

    package func holds(_ kind: HostFault.Kind) -> Bool { list.contains { $0.kind == kind } }
}

/// The host in a depot's file.
package struct HostPlan: Sendable, Equatable {
    /// How many advertisements an adapter carries at the same time.
    package var advertisingSlots = 5
    /// How long a device without a connection stays known after it was last heard.
    package var temporaryTimeout = Duration.seconds(30)
    /// How long the service takes to end a link.
    package var disconnectTime = Duration.milliseconds(100)
    /// The number of foreign advertisers, and how often they advertise.
    package var strangers = 0
    package var strangersInterval = Duration.milliseconds(200)
    /// How long a module keeps its address; nil means forever (20).
    package var addressLifetime: Duration?
    package var faults: [HostFault] = []

    package init() {}
}
