package import Base
package import Radio

/// A link as a host's Bluetooth service uses it.
///
/// Commands are accepted without a bound and are sent before requests, as BlueZ does on one bearer.
package final class HostLink {
    private let link: AirLink
    private var waitingCommands = 0
    private var requests: [(AirLink.Request, Pending<[UInt8]>)] = []
    private var isAsking = false

    init(_ link: AirLink) { self.link = link }

    package var isUp: Bool { link.isUp }
    package var label: String { link.device.label }
    package var mtu: Int { link.parameters.mtu }
    package var interval: Duration { link.parameters.interval }
    /// The characteristics of the other side.
    package var characteristics: [Characteristic: CharacteristicFlags] { link.found }
    /// Commands that the controller has no room for yet.
    package var backlog: Int { waitingCommands }

    /// Called once, when the link is over for whatever reason.
    package var onEnd: (() -> Void)? {
        get { link.onEnd }
        set { link.onEnd = newValue }
    }

    package func end() { link.end() }

    // MARK: Bonds

    /// The other side of bonds; nil when it cannot pair.
    package var security: AirSecurity? { link.device.security }

    /// The bond that encrypts the link.
    package var bond: AirBond? { link.bond }

    /// Encrypts the link with a bond of the host; false when the other side has lost the bond.
    package func encrypt(by bond: AirBond) -> Bool {
        // A device that cannot pair requires no encryption.
        guard let security else { return true }
        guard security.knows(bond, with: link.adapter.name) else { return false }
        link.bond = bond
        return true
    }

    package func pair(_ passkey: Passkey?) -> Result<AirBond, AirSecurity.Failure> {
        guard let security else { return .failure(.refused) }
        let result = security.pair(with: link.adapter.name, passkey)
        if case .success(let bond) = result { link.bond = bond }
        return result
    }

    /// Silences the other side: the link ends when the supervision time is over.
    package func fallSilent() { link.fallSilent() }

    package func send(_ bytes: [UInt8], to characteristic: Characteristic) {
        if link.sendNow(bytes, to: characteristic) { return }
        waitingCommands += 1
        link.send(
            bytes,
            to: characteristic,
            Pending { [weak self] _ in
                guard let self else { return }
                waitingCommands -= 1
                ask()
            }
        )
    }

    package func read(
        _ characteristic: Characteristic,
        _ done: @escaping (Result<[UInt8], RadioError>) -> Void
    ) {
        request(.read(characteristic), done)
    }

    package func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        _ done: @escaping (Result<[UInt8], RadioError>) -> Void
    ) {
        request(.write(bytes, characteristic), done)
    }

    /// Switches notifications on; `notified` gets everything from the device's answer on.
    package func subscribe(
        to characteristic: Characteristic,
        notified: @escaping ([UInt8]) -> Void,
        _ done: @escaping (Result<[UInt8], RadioError>) -> Void
    ) {
        request(.subscribe(characteristic)) { [weak self] result in
            let subscription = self?.link.subscription(to: characteristic)
            subscription?.listener = notified
            done(result)
            // Notifications that arrived together with the answer.
            while let bytes = subscription?.takeFirst() { notified(bytes) }
        }
    }

    package func unsubscribe(from characteristic: Characteristic) {
        request(.unsubscribe(characteristic)) { _ in }
    }

    private func request(
        _ request: AirLink.Request,
        _ done: @escaping (Result<[UInt8], RadioError>) -> Void
    ) {
        requests.append((request, Pending(done)))
        ask()
    }

    /// One request at a time, and none before the commands that came earlier.
    private func ask() {
        guard !isAsking, let (request, pending) = requests.first else { return }
        guard waitingCommands == 0 || !link.isUp else { return }
        requests.removeFirst()
        isAsking = true
        link.request(
            request,
            Pending { [self] result in
                isAsking = false
                pending.resume(result)
                ask()
            }
        )
    }
}
