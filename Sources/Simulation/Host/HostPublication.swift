package import Base
import Radio

/// A service of a host's programs on the air, with its connected central.
package final class HostPublication {
    private let world: World
    private let publication: AirPublication
    private let visited: (HostVisit) -> Void
    private var isWithdrawn = false

    init(
        _ service: ServiceDescription,
        on adapter: String,
        in world: World,
        visited: @escaping (HostVisit) -> Void
    ) {
        self.world = world
        self.visited = visited
        world.nextPublication += 1
        publication = AirPublication(
            number: -world.nextPublication,
            adapter: adapter,
            service: service
        )
        world.publish(publication)
    }

    package var isAdvertising: Bool { publication.isAdvertising }
    package var service: GATTUUID { publication.service.uuid }

    /// Advertises until a central connects; each call is heard again by the centrals in reach.
    package func advertise() {
        guard !isWithdrawn else { return }
        guard !publication.isAdvertising else { return world.advertisedServiceChanged(publication) }
        publication.advertise(
            Pending { [weak self] result in
                guard let self, case .success(let handle) = result,
                    let visit = publication.takeVisit(handle)
                else { return }
                visited(HostVisit(visit))
            },
            in: world
        )
    }

    package func stopAdvertising() { publication.stopAdvertising() }

    /// Removes the service from the air, and disconnects its central.
    package func withdraw() {
        isWithdrawn = true
        world.withdraw(publication.number)
    }
}

/// A central that is connected to a service of a host's programs.
package final class HostVisit {
    private let visit: AirVisit

    init(_ visit: AirVisit) { self.visit = visit }

    package var label: String { visit.label }
    package var isUp: Bool { visit.isUp }
    package var mtu: Int { visit.mtu }

    /// Called with each write of the central.
    package var onWrite: (([UInt8]) -> Void)? {
        get { visit.inbox.listener }
        set {
            visit.inbox.listener = newValue
            while let newValue, let bytes = visit.inbox.takeFirst() { newValue(bytes) }
        }
    }

    /// Called once, when the central has disconnected.
    package var onEnd: (() -> Void)? {
        get { visit.onEnd }
        set { visit.onEnd = newValue }
    }

    /// Notifies; bytes beyond the central's MTU are cut off.
    package func notify(_ bytes: [UInt8]) {
        visit.notify(Array(bytes.prefix(visit.maximumLength)), Pending { _ in })
    }

    package func end() { visit.end() }
}
