import Base
import Families
import Radio
import Store

/// Reaching the module: what an execution adds to its link, for steps and updates alike.
///
/// It gives the adapter back between two searches, records in the journal that the module was seen
/// and where its bootloader will be, and waits for other programs.
extension Execution: UpdateOwner {
    var isStopped: @Sendable () -> Bool {
        let stop = depot.stop
        return { stop.isRequested }
    }

    /// Searches as often as the rules allow before the module counts as unreachable.
    ///
    /// One that has all of an image may be away until it must have settled.
    func search() async throws(Halt) -> ModuleSighting {
        let rules = depot.rules
        let settled = debt?.settleDeadline.map {
            limits.settle.moment(of: $0, now: time.now, wallTime: time.wallTime)
        }
        var searches = 0
        while searches < rules.seekAttempts || settled.map({ time.now < $0 }) == true {
            searches += 1
            try await enter(.seeking, deadline: ("search", rules.seekTimeout))
            let deadline = time.now.advanced(by: rules.seekTimeout)
            if let sighting = try await seek(before: deadline) { return sighting }
            // A vehicle out of reach does not keep others from the adapter.
            try await giveWay(.search)
        }
        let total = rules.seekTimeout * searches
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
            // Nothing else would close this link: while it is open, the module does not advertise.
            await link.close()
            throw error
        }
        do throws(ModuleError) {
            try await openApplication()
        } catch {
            let halt = halt(after: error, "while authenticating")
            guard case .verdict = halt else { throw halt }
            // Another module may have the same serial: only the secret distinguishes them.
            let look = time.now.advanced(by: VehicleLink.lookForOthers)
            guard let other = try await seek(before: look), other.role == .application else {
                throw halt
            }
            try await open(other)
        }
    }

    /// The open application; connects again when an update has closed the last link.
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

    /// The last sighting of the module; searches for it when there is none.
    private func sighted() async throws(Halt) -> ModuleSighting {
        if let heard { return heard }
        let sighting = try await search()
        heard = sighting
        return sighting
    }

    /// The signal strength of the last sighting, in dBm.
    func heardSignal() async throws(Halt) -> Int {
        if link.isOpen, let lastSignal { return lastSignal }
        return try await sighted().signal
    }

    /// Searches once for the module, in either role; nil when it was not heard.
    func seek(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        let deadline = deadline.advanced(by: try await yieldLink())
        var sighting = try await look(before: deadline)
        if sighting != nil, await takeLink() >= Self.lastingSighting {
            // It may have restarted again, or moved away.
            sighting = try await look(before: time.now.advanced(by: ReturnPause.look))
        }
        if let sighting {
            lastSignal = sighting.signal
            debt?.seenRun = depot.run
        }
        if sighting == nil && depot.stop.isRequested { throw .stopped }
        return sighting
    }

    /// How long the link to a module that restarted lasts, with the usual supervision timeout.
    private static let linkEnds = Duration.milliseconds(500)
    /// How long a module counts as being where it was heard.
    private static let lastingSighting = Duration.seconds(5)

    private func look(before deadline: Moment) async throws(Halt) -> ModuleSighting? {
        do throws(RadioError) {
            return try await link.seek(
                driver.recogniser,
                bootloader: (debt?.bootloaderPlace ?? record.bootloaderPlace).map {
                    Peer(handle: $0)
                },
                before: deadline,
                unless: isStopped
            )
        } catch { throw Halt(error, "while searching") }
    }

    /// Connects; while another program is connected to the module, or the adapter carries no further
    /// link, waits with the adapter free.
    func connect(to sighting: ModuleSighting) async throws(RadioError) {
        let patience = time.now.advanced(by: depot.rules.heldPatience)
        var isSecond = false
        while true {
            await depot.air.takeLink()
            do throws(RadioError) {
                try await link.connect(to: sighting)
                hasShownLoss = false
                return
            } catch  where error == .noFreeLink && !isSecond {
                // The turn may be that of a module that restarted: its link ends a little later.
                isSecond = true
                await time.sleep(for: Self.linkEnds, "another link to end")
            } catch  where error == .heldByAnother || error == .noFreeLink {
                guard time.now < patience, await rested(after: error) else { throw error }
            } catch {
                if error == .connectFailed || error == .linkLost { _ = losesLink() }
                throw error
            }
        }
    }

    func openApplication() async throws(ModuleError) {
        try await link.openApplication(by: driver)
        record.bootloaderPlace = link.application?.bootloaderPlace?.handle
        debt?.bootloaderPlace = record.bootloaderPlace
    }

    /// Closes the link, whichever is open.
    func hangUp() async {
        await link.close()
        heard = nil
    }

    /// Opens the module with another secret from now on.
    func opens(by opener: ModuleOpener, of profile: Profile) {
        driver = opener.driver(profile)
        (isRefused, isSuspected) = (false, false)
        link.trustAgain()
    }

    /// The failure of a refusal: a module that refuses our secret twice is not tried a third time.
    func halt(after error: ModuleError, _ doing: String) -> Halt {
        if error.isLinkLoss, losesLink() { return Halt(error, doing) }
        if error.secret != nil { isSuspected = true }
        guard link.suspects(error) == .wrongKey else { return Halt(error, doing) }
        isRefused = true
        return .verdict(
            .rejected,
            .rejected,
            "the module refuses our secret; check the vehicle's `secret` in the fleet"
        )
    }

    func halt(after fault: RadioError) -> Halt { .host(fault) }

    func refusal(_ error: ModuleError) throws(Halt) -> UpdateFault {
        guard case .failure(let failure, let message) = halt(after: error, "")
        else { throw halt(after: error, "while authenticating") }
        return UpdateFault(failure, message)
    }

    // MARK: Observations

    func inspected(_ found: Inspection, of target: ModulePart) {
        hasLooked = true
        let version = found.firmware.version
        if record.versionBefore == nil { record.versionBefore = version }
        record.versionAfter = version
        func text(_ number: Int?) -> String { number.map(String.init) ?? "unknown" }
        var facts = [
            Fact("type", text(found.firmware.type)),
            Fact("variant", text(found.firmware.variant)),
        ]
        for part in ModulePart.allCases where part != target {
            guard let version = found.versions[part] else { continue }
            facts.append(Fact(part.rawValue, version.description))
        }
        depot.events.emit(.inspected(vehicle, version: version, facts: facts))
    }

    func observed(_ seen: Observation) {
        if let version = seen.version { record.versionAfter = version }
    }

    func sent(_ count: Int) { bytesSent += count }
}
