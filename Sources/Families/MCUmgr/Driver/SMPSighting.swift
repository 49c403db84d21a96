package import Domain
import Protocols
package import Radio

/// How a module of family `mcumgr` is known among those that advertise.
///
/// SMP has no identity of its own: a module's serial is the name that it advertises, or its
/// address where that never changes.
package enum SMPSighting {
    /// The serials that the advertiser may be listed by; none when it does not speak SMP.
    package static func serials(in advertisement: Advertisement) -> [Serial] {
        guard advertisement.services.contains(SMPNumbers.service) else { return [] }
        return [advertisement.name.flatMap { Serial($0) }, Serial(advertisement.peer.handle)]
            .compactMap { $0 }
    }

    package static func isOf(_ serial: Serial, _ advertisement: Advertisement) -> Bool {
        serials(in: advertisement).contains(serial)
    }

    /// What a scan for one module should let through.
    package static func filter(for serial: Serial) -> ScanFilter {
        ScanFilter(services: [SMPNumbers.service]) { isOf(serial, $0) }
    }
}
