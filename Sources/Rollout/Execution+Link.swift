import Domain
import Families
import Journal
import Modules
import Radio
import Reports
import Sessions

/// Reaching the module: what an execution adds to the owner of its link.
///
/// It gives the adapter back between two searches, notes in the journal what it heard, and waits for
/// other programs.
extension Execution {
    /// Searches as often as the rules allow before the module counts as unreachable.
    func search() async throws(Halt) -> ModuleSighting {
        let rules = depot.rules
        for _ in 0..<rules.seekAttempts {
            try await enter(.seeking, deadline: ("search", rules.seekTimeout))
            let deadline = time.now.advanced(by: rules.seekTimeout)
            if let sighting = try await seek(before: deadline) { return sighting }
            // Who is out of reach does not hold the line.
            try await giveWay(.search)
        }
        let total = rules.seekTimeout * rules.seekAttempts
        throw .failure(
            .unreachable,
            "not heard within \(total.brief); is it in the depot, charged, and not connected "
                + "to a phone?"
        )
    }

    /// Connects and authenticates.
    private func open(_ sighting: ModuleSighting) async throws(Halt) {
        try await enter(
            .connecting,
            detail: "\(sighting.signal) dBm",
            deadline: ("connect", depot.rules.connectTimeout)
        )
        do throws(RadioError) {
            try await connect(to: sighting)
        } catch { throw Halt(error, "while connecting") }
        do throws(Halt) {
            try await enter(.authenticating)
        } catch {
            // Nobody else knows of the link: left open, it would keep the module from being heard.
            await link.close()
            throw error
        }
        do throws(ModuleError) {
            try await openApplication()
        } catch {
            let halt = halt(after: error, "while authenticating")
            guard case .verdict = halt else { throw halt }
            // Another one may bear the same serial: its secret is what tells them apart.
            let look = time.now.advanced(by: VehicleLink.lookForOthers)
            guard let other = try await seek(before: look), other.role == .application else {
                throw halt
            }
            try await open(other)
        }
    }

    /// The link to the application, made again when an update has ended the last one.
    func present() async throws(Halt) -> any ModuleApplication {
        if let application = link.application { return application }
        let sighting = try await sighted()
        heard = nil
        guard sighting.role == .application else {
            throw .failure(.transient, "the module is in its bootloader")
        }
        try await open(sighting)
        guard let application = link.application else {
            throw .failure(.internal, "an opened link has no application")
        }
        return application
    }

    /// The module as it was heard a moment ago, or else is heard now.
    private func sighted() async throws(Halt) -> ModuleSighting {
        if let heard { return heard }
        let sighting = try await search()
        heard = sighting
        return sighting
    }

    /// How strong the module was heard last, in dBm.
    func heardSignal() async throws(Halt) -> Int {
        if link.isOpen, let lastSignal { return lastSignal }
        return try await sighted().signal
    }

    /// Hears the module in whichever role it is, within one search.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        let stop = depot.stop
        let sighting: ModuleSighting?
        do throws(RadioError) {
            sighting = try await link.seek(
                driver.recogniser,
                bootloader: (debt?.bootloaderPlace ?? record.bootloaderPlace).map {
                    Peer(handle: $0)
                },
                before: deadline,
                unless: { stop.isRequested }
            )
        } catch { throw Halt(error, "while searching") }
        if let sighting {
            lastSignal = sighting.signal
            debt?.seenRun = depot.run
        }
        if sighting == nil && stop.isRequested { throw .stopped }
        return sighting
    }

    /// A module that another program is connected to is waited for, with the adapter free.
    func connect(to sighting: ModuleSighting) async throws(RadioError) {
        let patience = time.now.advanced(by: depot.rules.heldPatience)
        while true {
            do throws(RadioError) {
                return try await link.connect(to: sighting)
            } catch .heldByAnother {
                guard time.now < patience, await waitForHolder() else { throw .heldByAnother }
            }
        }
    }

    /// False when the run is to end.
    private func waitForHolder() async -> Bool {
        depot.events.emit(
            .stateChanged(
                vehicle,
                record.state,
                adapter: depot.central.adapter,
                detail: RadioError.heldByAnother.description
            )
        )
        return await rested(.seconds(5), .next, "another program to end its link")
    }

    func openApplication() async throws(ModuleError) {
        try await link.openApplication(by: driver)
        record.bootloaderPlace = link.application?.bootloaderPlace?.handle
        debt?.bootloaderPlace = record.bootloaderPlace
    }

    /// Ends our side of the link, whichever it is.
    func hangUp() async {
        await link.close()
        heard = nil
    }

    /// From now on the module is opened by another secret.
    func opens(by opener: ModuleOpener, of profile: Profile) {
        driver = opener.driver(profile)
        isRefused = false
        link.trustAgain()
    }

    /// A module that refuses our secret twice is not asked a third time.
    func halt(after error: ModuleError, _ doing: String) -> Halt {
        guard link.suspects(error) == .wrongKey else { return Halt(error, doing) }
        isRefused = true
        return .verdict(
            .rejected,
            .rejected,
            "the module refuses our secret; check the vehicle's `secret` in the fleet"
        )
    }
}
