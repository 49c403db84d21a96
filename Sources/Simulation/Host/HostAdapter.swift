import Base
package import Radio

/// An adapter on the air as a host's Bluetooth service uses it: it reports events by calls.
///
/// All calls are made on the thread of its world.
package final class HostAdapter {
    package let name: String
    private let world: World
    private let adapter: AirAdapter
    private var scan: Int?

    package init(_ name: String, linkLimit: Int, steadyLinks: Int? = nil, in world: World) {
        self.name = name
        self.world = world
        adapter = AirAdapter(name: name, linkLimit: linkLimit, steadyLinks: steadyLinks)
        world.adapters[name] = adapter
    }

    package var isOn: Bool { adapter.power == .on }

    package var linkLimit: Int {
        get { adapter.linkLimit }
        set { adapter.linkLimit = newValue }
    }

    /// Switched off, it loses its links, its scan and its visitors.
    package func setPower(_ on: Bool) {
        adapter.power = on ? .on : .off
        guard !on else { return }
        for link in adapter.links { link.end() }
        stopListening()
        // The services stay registered: only their visitors are disconnected.
        for publication in world.publications where publication.adapter == name {
            publication.end(.adapterOff)
        }
    }

    /// Reports every advertisement until `stopListening`.
    package func listen(_ heard: @escaping (Advertisement) -> Void) {
        stopListening()
        let filter = ScanFilter()
        scan = adapter.add(filter, at: world.now, listener: heard)
        world.scannerAdded(to: adapter, filter)
    }

    package func stopListening() {
        if let scan { adapter.removeScanner(scan) }
        scan = nil
    }

    /// Connects to the device that advertises with the address, however long that takes.
    package func connect(
        to address: String,
        linked: @escaping (HostLink) -> Void,
        done: @escaping (Result<HostLink, RadioError>) -> Void
    ) -> HostAttempt {
        HostAttempt(world, adapter, address, linked: linked, done: done)
    }

    /// Puts a service on the air: centrals that scan for it connect, one at a time.
    package func publish(
        _ service: ServiceDescription,
        visited: @escaping (AirVisit) -> Void
    ) -> HostPublication {
        HostPublication(service, on: name, in: world, visited: visited)
    }
}

/// A connection that is being made.
package final class HostAttempt {
    private let connection: AirConnection
    private var pending: Pending<AirLinkFacts>?
    private var link: HostLink?

    fileprivate init(
        _ world: World,
        _ adapter: AirAdapter,
        _ address: String,
        linked: @escaping (HostLink) -> Void,
        done: @escaping (Result<HostLink, RadioError>) -> Void
    ) {
        connection = AirConnection(
            number: 0,
            world: world,
            adapter: adapter,
            peer: Peer(handle: address)
        )
        let pending = Pending<AirLinkFacts> { [weak self] result in
            guard let self else { return }
            self.pending = nil
            connection.giveUp()
            switch result {
            case .success:
                guard let link else { return done(.failure(.linkLost)) }
                done(.success(link))
            case .failure(let error): done(.failure(error))
            }
        }
        self.pending = pending
        connection.onLink = { [weak self] made in
            let link = HostLink(made)
            self?.link = link
            linked(link)
        }
        connection.begin(pending)
    }

    /// Ends the attempt, and the link if there is one already.
    package func cancel() { pending?.resume(.failure(.cancelled)) }
}

extension World {
    /// The device that is on the air with this address.
    package func device(named address: String) -> (any AirDevice)? {
        device(at: Peer(handle: address))
    }

    /// The address that a device with this label or address has now.
    package func address(of name: String) -> String? {
        if device(named: name) != nil { return name }
        return devices.first { $0.label == name }?.aired?.address
    }
}
