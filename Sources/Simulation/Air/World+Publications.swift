import Base
import Radio

/// The program's services on the air, and the centrals that scan for them.
extension World {
    package func add(_ visitor: any AirVisitor) {
        visitors.append(visitor)
        for publication in publications { advertisedServiceChanged(publication) }
    }

    func publish(_ publication: AirPublication) { publications.append(publication) }

    func publication(_ number: Int) -> AirPublication? {
        publications.first { $0.number == number }
    }

    func withdraw(_ number: Int) {
        publication(number)?.end(.linkLost)
        publications.removeAll { $0.number == number }
    }

    func endPublications(on adapter: String, _ error: RadioError) {
        for publication in publications where publication.adapter == adapter {
            publication.end(error)
        }
        publications.removeAll { $0.adapter == adapter }
    }

    /// Every central that scans for the service hears it and connects after its reaction time.
    func advertisedServiceChanged(_ publication: AirPublication) {
        guard publication.isAdvertising else { return }
        let service = publication.service
        for visitor in visitors
        where visitor.seeks == service.uuid && visitor.canPair(service.bond.pairing) {
            after(visitor.reactionTime) { [unowned self, weak publication, unowned visitor] in
                guard let publication, publication.isAdvertising,
                    visitor.seeks == publication.service.uuid
                else { return }
                nextVisit += 1
                let visit = AirVisit(number: nextVisit, world: self, visitor: visitor)
                publication.subscribed(visit)
                if visit.isUp { visitor.subscribed(visit) }
            }
        }
    }
}
