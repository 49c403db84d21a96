package import Base

/// A module that was heard, and the role that it runs in.
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

    /// The name to show; nil for a bootloader, whose name is the one that we gave it.
    package var shownName: String? { role == .bootloader ? nil : Advertisement.shown(name) }
}

/// Looks for one module among all that advertise.
package struct ModuleSeeker: Sendable {
    /// The longest wait for one advertisement; between two waits, `isStopped` is checked.
    private static let patience = Duration.seconds(1)

    private let central: any Central
    private let time: any Timekeeper

    package init(central: any Central, time: any Timekeeper) {
        self.central = central
        self.time = time
    }

    /// The module; nil when it was not heard by the deadline or `isStopped` returned true.
    ///
    /// With the place where its bootloader will be, the bootloader is found even if it has no name.
    /// Peers in `avoided` are ignored, whatever serial they claim. `isLooking` is called when the
    /// scan has started.
    package func seek(
        _ serial: Serial,
        by recogniser: ModuleRecogniser,
        bootloader place: Peer? = nil,
        avoiding avoided: Set<Peer> = [],
        before deadline: Moment,
        isLooking: @Sendable () -> Void = {},
        unless isStopped: @Sendable () -> Bool
    ) async throws(RadioError) -> ModuleSighting? {
        let time = time
        let filter = recogniser.filter(for: serial, bootloader: place)
        return try await central.withScan(filter) { scan throws(RadioError) in
            isLooking()
            while time.now < deadline && !isStopped() {
                let next = min(deadline, time.now.advanced(by: Self.patience))
                let heard: Advertisement
                do throws(RadioError) {
                    heard = try await scan.next(before: next)
                } catch {
                    guard error == .timedOut else { throw error }
                    continue
                }
                if let found = recogniser.sighting(of: serial, in: heard, bootloader: place) {
                    guard !avoided.contains(found.peer) else { continue }
                    return found
                }
            }
            return nil
        }
    }
}

extension Advertisement {
    /// A name in the form that is shown; nil where there is none.
    static func shown(_ name: String?) -> String? {
        guard let name, !name.isEmpty else { return nil }
        return String(name.visible.prefix(64))
    }
}
