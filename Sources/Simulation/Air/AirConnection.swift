import Base
import Radio

/// The facts from which the facade of a link is made.
package struct AirLinkFacts: Sendable {
    let number: Int
    let maximumLength: Int
    let found: [Characteristic: CharacteristicFlags]
}

/// One attempt to connect: waits for the peer's advertisement, then for its services.
final class AirConnection {
    /// The pause before the initiator checks again for a peer that does not advertise.
    private static let retry = Duration.milliseconds(100)

    private let number: Int
    private unowned let world: World
    private weak var adapter: AirAdapter?
    private let peer: Peer
    /// How to pair with the device; nil when the caller does this itself.
    private let policy: BondPolicy?
    private var pending: Pending<AirLinkFacts>?
    private(set) var link: AirLink?
    private let began: Moment
    /// Called when the link layers are connected, before the services are known.
    var onLink: ((AirLink) -> Void)?

    init(
        number: Int,
        world: World,
        adapter: AirAdapter,
        peer: Peer,
        policy: BondPolicy? = nil
    ) {
        self.policy = policy
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

    /// Called when the attempt is over: a link that was not handed to a caller is closed.
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
            // Like a link that was never established: six intervals without an answer.
            world.after(device.linkParameters.interval * 6) { [weak self] in
                guard let self, let pending = self.pending else { return }
                self.finish(pending, .failure(.connectFailed))
            }
            return
        }
        let link = AirLink(number: number, world: world, adapter: adapter, device: device)
        link.began = began
        adapter.add(link)
        self.link = link
        device.linkMade(link)
        onLink?(link)
        // The MTU exchange, then the services and each characteristic's descriptors.
        let exchanges = 4 + link.found.count
        world.after(link.parameters.interval * exchanges) { [weak self] in
            guard let self, let pending = self.pending else { return }
            guard link.isUp else { return self.finish(pending, .failure(.linkLost)) }
            if let failure = self.secure(link) {
                return self.finish(pending, .failure(.bond(failure)))
            }
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

    /// Encrypts the link with an existing bond, or makes a bond; returns why this failed.
    private func secure(_ link: AirLink) -> BondFailure? {
        guard let policy else { return nil }
        let (host, label) = (link.adapter.name, link.device.label)
        let security = link.device.security
        if let bond = world.bond(of: host, with: label) {
            // A program of the module that cannot pair requires no bond either.
            guard let security else { return nil }
            if security.knows(bond, with: host) {
                link.bond = bond
                return nil
            }
            guard policy.mayRenew else { return .lost }
            world.setBond(of: host, with: label, nil)
        }
        let passkey: Passkey?
        switch policy.pairing {
        case .none: return nil
        case .justWorks: passkey = nil
        case .passkey(let own): passkey = own
        }
        guard let security else { return .refused }
        guard passkey == nil || security.asksForPasskey(keyboard: true) else {
            return .passkeyUnused
        }
        switch security.pair(with: host, passkey) {
        case .success(let bond):
            world.setBond(of: host, with: label, bond)
            link.bond = bond
            return nil
        case .failure(.wrongPasskey): return .wrongPasskey
        case .failure(.refused):
            let other = world.adapter(bondedTo: label, besides: host)
            return other.map { .bondedToOther(adapter: $0) } ?? .refused
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
