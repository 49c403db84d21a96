package import Base
import Radio

/// A service of a host's programs on the air, with its connected central.
package final class HostPublication {
    private let world: World
    private let publication: AirPublication
    private let visited: (AirVisit) -> Void
    private var isWithdrawn = false

    init(
        _ service: ServiceDescription,
        on adapter: String,
        in world: World,
        visited: @escaping (AirVisit) -> Void
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
                visited(visit)
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
