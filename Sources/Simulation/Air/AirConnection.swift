import Domain
import Radio

/// What the facade of a link is made of.
package struct AirLinkFacts: Sendable {
    let number: Int
    let maximumLength: Int
    let found: [Characteristic: CharacteristicFlags]
}

/// One attempt to connect: waits for the peer's advertisement, then for its services.
final class AirConnection {
    /// How often the initiator looks again for a peer that does not advertise.
    private static let retry = Duration.milliseconds(100)

    private let number: Int
    private unowned let world: World
    private weak var adapter: AirAdapter?
    private let peer: Peer
    private var pending: Pending<AirLinkFacts>?
    private(set) var link: AirLink?
    private let began: Moment
    /// Told when the link layers have met, before the services are known.
    var onLink: ((AirLink) -> Void)?

    init(number: Int, world: World, adapter: AirAdapter, peer: Peer) {
        self.number = number
        self.world = world
        self.adapter = adapter
        self.peer = peer
        began = world.now
    }

    func begin(_ pending: Pending<AirLinkFacts>) {
        self.pending = pending
        awaitAdvertisement()
    }

    /// Called when the attempt is over: a link that nobody got is taken down.
    func giveUp() {
        let made = pending == nil
        pending = nil
        if !made { link?.end() }
    }

    private func awaitAdvertisement() {
        guard pending != nil else { return }
        guard let device = world.device(at: peer), let broadcast = device.aired else {
            world.after(Self.retry) { [weak self] in self?.awaitAdvertisement() }
            return
        }
        let phase = world.random.below(Int(broadcast.interval.nanoseconds))
        world.after(.nanoseconds(phase)) { [weak self, unowned device] in self?.connect(device) }
    }

    private func connect(_ device: any AirDevice) {
        guard let pending else { return }
        guard device.aired?.address == peer.handle else { return awaitAdvertisement() }
        guard let adapter, adapter.power == .on else {
            return finish(pending, .failure(.adapterOff))
        }
        guard adapter.links.count < adapter.linkLimit else {
            return finish(pending, .failure(.noFreeLink))
        }
        guard device.acceptsConnection() else {
            // As a link that was never established: six intervals without an answer.
            world.after(device.linkParameters.interval * 6) { [weak self] in
                guard let self, let pending = self.pending else { return }
                self.finish(pending, .failure(.connectFailed))
            }
            return
        }
        let link = AirLink(number: number, world: world, adapter: adapter, device: device)
        link.began = began
        adapter.links.append(link)
        self.link = link
        device.linkMade(link)
        onLink?(link)
        // The MTU exchange, then the services and each characteristic's descriptors.
        let exchanges = 4 + link.found.count
        world.after(link.parameters.interval * exchanges) { [weak self, weak link] in
            guard let self, let pending = self.pending else { return }
            guard let link, link.isUp else { return self.finish(pending, .failure(.linkLost)) }
            self.finish(
                pending,
                .success(
                    AirLinkFacts(
                        number: self.number,
                        maximumLength: link.maximumLength,
                        found: link.found
                    )
                )
            )
        }
    }

    private func finish(
        _ pending: Pending<AirLinkFacts>,
        _ result: Result<AirLinkFacts, RadioError>
    ) {
        if case .success = result { self.pending = nil }
        pending.resume(result)
    }
}
