package import Domain
package import Radio
import Wire

/// How a module of family `mcumgr` is known among those that advertise.
///
/// SMP has no identity of its own: a module's serial is the name that it advertises, or its
/// address where that never changes.
package enum SMPSighting {
    package static func isOf(_ serial: Serial, _ advertisement: Advertisement) -> Bool {
        guard advertisement.services.contains(SMPNumbers.service) else { return false }
        return advertisement.name.flatMap { Serial($0) } == serial
            || Serial(advertisement.peer.handle) == serial
    }

    /// What a scan for one module should let through.
    package static func filter(for serial: Serial) -> ScanFilter {
        ScanFilter(services: [SMPNumbers.service]) { isOf(serial, $0) }
    }
}
