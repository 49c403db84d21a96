package import Domain
package import Radio
package import Sessions

/// A module that was heard, and what it runs just now.
package struct ModuleSighting: Sendable, Equatable {
    package typealias Role = ModuleRole

    package let serial: Serial
    package let role: Role
    package let peer: Peer
    package let name: String?
    /// In dBm.
    package let signal: Int

    package init(serial: Serial, role: Role, advertisement: Advertisement) {
        self.serial = serial
        self.role = role
        peer = advertisement.peer
        name = advertisement.name
        signal = advertisement.signal
    }
}

/// Looks for one module among all that advertise.
package struct ModuleSeeker: Sendable {
    /// How long one wait for an advertisement may be: in between, `isStopped` is asked.
    private static let patience = Duration.seconds(1)

    private let central: any Central
    private let time: any Timekeeper

    package init(central: any Central, time: any Timekeeper) {
        self.central = central
        self.time = time
    }

    /// The module, or nil when it was not heard by the deadline or `isStopped` said so.
    ///
    /// With the place where its bootloader will be, that is found without a name too.
    package func seek(
        _ serial: Serial,
        by driver: any UpdateDriver,
        bootloader place: Peer? = nil,
        before deadline: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(RadioError) -> ModuleSighting? {
        let time = time
        let filter = driver.filter(for: serial)
        var wide = ScanFilter(services: filter.services, companies: filter.companies) { heard in
            filter.passes(heard)
                || place.map { driver.isUnnamedBootloader(heard, at: $0) } ?? false
        }
        // It is the same module, by whatever name.
        wide.sought = filter.sought
        return try await central.withScan(place == nil ? filter : wide) {
            scan throws(RadioError) in
            while time.now < deadline && !isStopped() {
                let next = min(deadline, time.now.advanced(by: Self.patience))
                let heard: Advertisement
                do throws(RadioError) {
                    heard = try await scan.next(before: next)
                } catch {
                    guard error == .timedOut else { throw error }
                    continue
                }
                if let sighting = driver.sighting(of: serial, in: heard) {
                    return sighting
                }
                if let place, driver.isUnnamedBootloader(heard, at: place) {
                    return ModuleSighting(
                        serial: serial,
                        role: .bootloader,
                        advertisement: heard
                    )
                }
            }
            return nil
        }
    }
}
