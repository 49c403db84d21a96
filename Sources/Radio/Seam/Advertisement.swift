package import Base

/// A device in range, valid for one connection attempt: addresses change, so this is no identity.
package struct Peer: Hashable, Sendable, CustomStringConvertible {
    /// The radio's own handle: an address, or a path.
    package let handle: String

    package init(handle: String) { self.handle = handle }

    package var description: String { handle }
}

/// One advertisement as it was heard.
package struct Advertisement: Sendable, Equatable {
    package var peer: Peer
    package var name: String?
    /// Signal strength in dBm.
    package var signal: Int
    /// The data after each company identifier.
    package var manufacturerData: [UInt16: [UInt8]]
    package var services: [GATTUUID]
    /// The device was not heard: another program of this host is connected to it, so it does not
    /// advertise.
    package var isHeld = false

    package init(
        peer: Peer,
        name: String? = nil,
        signal: Int,
        manufacturerData: [UInt16: [UInt8]] = [:],
        services: [GATTUUID] = []
    ) {
        self.peer = peer
        self.name = name
        self.signal = signal
        self.manufacturerData = manufacturerData
        self.services = services
    }
}

/// The devices that a scan should report.
///
/// A radio reports no others: in a full depot hundreds of devices advertise, and one is sought.
package struct ScanFilter: Sendable {
    /// Any of these services, or, when empty, all advertisers.
    package var services: [GATTUUID]
    /// Any of these company identifiers, or, when empty, all advertisers.
    package var companies: [UInt16]
    /// The one module that is sought, if there is one: a hint for radios with an index.
    package var sought: Serial?
    /// Called for each advertisement that passes the lists.
    package var wants: @Sendable (Advertisement) -> Bool

    package init(
        services: [GATTUUID] = [],
        companies: [UInt16] = [],
        wants: @escaping @Sendable (Advertisement) -> Bool = { _ in true }
    ) {
        self.services = services
        self.companies = companies
        self.wants = wants
    }

    /// An advertiser passes when it has one of the services or one of the companies sought.
    package func passes(_ advertisement: Advertisement) -> Bool {
        let isListed =
            services.isEmpty && companies.isEmpty
            || services.contains { advertisement.services.contains($0) }
            || companies.contains { advertisement.manufacturerData[$0] != nil }
        return isListed && wants(advertisement)
    }
}
