import Base
import Families
import Radio

extension ModuleConnection {
    func establish(
        _ mine: Int,
        before deadline: Moment?
    ) async -> Result<Void, ModuleFailure> {
        guard mine == generation, let target else { return .failure(.attemptEnded) }
        var attempt = ConnectionAttempt(cached: cache[target.serial])
        do throws(ModuleFailure) {
            let profile = target.options.profile
            if FamilyRegistry.takesToken(profile.family) { throw .looksForUs(profile.family) }
            let driver = try UpdatePlan.driver(profile, target.secret, in: library)
            let central = central
            let link =
                self.link
                ?? VehicleLink(
                    to: target.serial,
                    central,
                    time,
                    bond: target.options.bond ?? profile.unattendedBond
                )
            self.link = link
            let errand = Errand(target: target, driver: driver, link: link)
            while true {
                if Task.isCancelled { throw .attemptEnded }
                if let deadline, time.now >= deadline { throw attempt.overdue }
                do throws(ModuleError) {
                    let limit = deadline ?? time.now.advanced(by: .seconds(60))
                    let (session, found) = try await once(errand, &attempt, before: limit)
                    guard mine == generation else {
                        await link.leave()
                        throw .radio(.cancelled)
                    }
                    adopt(session, found)
                    return .success(())
                } catch {
                    await link.close()
                    // Another module may use the same serial: it is tried next.
                    let judgement = link.suspects(error)
                    if let final = attempt.failed(error, judgement) { throw final }
                    await time.sleep(
                        until: min(deadline ?? .distant, time.now.advanced(by: attempt.pause)),
                        for: "the next attempt to connect to \(target.serial)"
                    )
                }
            }
        } catch { return .failure(error) }
    }

    /// What all attempts to connect have in common.
    private struct Errand {
        let target: Target
        let driver: any UpdateDriver
        let link: VehicleLink

        var serial: Serial { target.serial }
        var profile: Profile { target.options.profile }

        func connecting(
            _ part: ModuleConnectionState.Connecting,
            _ name: String?
        ) -> ModuleConnectionState {
            .connecting(name: name ?? profile.unnamed, serial: serial.text, part)
        }
    }

    /// One search, one link, one handshake.
    private func once(
        _ errand: Errand,
        _ attempt: inout ConnectionAttempt,
        before limit: Moment
    ) async throws(ModuleError) -> (Session, Inspection?) {
        let (link, known) = (errand.link, cache[errand.serial] ?? CachedModule())
        let peer: Peer
        var name = known.name
        var patience = limit
        if let cached = attempt.takeCachedPeer() {
            // A known address needs no search. If it is stale, little time is lost.
            peer = cached
            patience = min(limit, time.now.advanced(by: .seconds(3)))
        } else {
            let found = try await heard(errand, as: name, &attempt, before: limit)
            name = found.shownName ?? name
            peer = found.peer
        }
        attempt.part = .handshaking
        state.change(to: errand.connecting(.handshaking, name))
        do throws(RadioError) { try await link.connect(to: peer, before: patience) } catch {
            throw .radio(error)
        }
        try await link.openApplication(by: errand.driver.following(known))
        guard let application = link.application else { throw .radio(.linkLost) }
        let found = try await inspect(application, errand)
        // Another version may have what an earlier one lacked.
        let lacking = found?.firmware.version?.description == known.version ? known.lacking : []
        let session = try await opened(application, errand, name, found, lacking)
        remember(session, found, peer, name)
        guard found?.isOngoing ?? false else { return (session, found) }
        attempt.part = .firmwareUpdateOngoing
        return try await rested(session, errand, before: limit)
    }

    /// Searches for the module's application.
    private func heard(
        _ errand: Errand,
        as name: String?,
        _ attempt: inout ConnectionAttempt,
        before limit: Moment
    ) async throws(ModuleError) -> ModuleSighting {
        if attempt.part != .bluetoothOff { attempt.part = .searching }
        state.change(to: errand.connecting(attempt.part, name))
        let (state, looking) = (state, errand.connecting(.searching, name))
        let found: ModuleSighting?
        do throws(RadioError) {
            found = try await errand.link.seek(
                library.recogniser(of: errand.profile),
                before: limit,
                // Called when the search runs: the radio is on.
                isLooking: { state.change(to: looking) },
                unless: { Task.isCancelled }
            )
        } catch { throw .radio(error) }
        attempt.part = .searching
        guard let found else { throw .radio(.timedOut) }
        if found.role == .bootloader {
            attempt.part = .firmwareUpdateOngoing
            state.change(to: errand.connecting(.firmwareUpdateOngoing, name))
            throw .value("the module waits in its bootloader")
        }
        attempt.wasHeard = true
        return found
    }

    /// Waits on the link until the module has handed its image on, and reads the versions again.
    private func rested(
        _ session: Session,
        _ errand: Errand,
        before limit: Moment
    ) async throws(ModuleError) -> (Session, Inspection?) {
        log.info("\(errand.serial) hands an image on to one of its parts")
        state.change(to: errand.connecting(.firmwareUpdateOngoing, session.name))
        tracker.connected()
        tracker.handsOn(true)
        update.change(to: tracker.status)
        var session = session
        var found: Inspection?
        var lastSign = time.now
        repeat {
            if time.now >= limit || Task.isCancelled {
                throw .radio(Task.isCancelled ? .cancelled : .timedOut)
            }
            let next = min(limit, time.now.advanced(by: .seconds(2)))
            let news = try await self.news(of: session, before: next, asking: false, watched: [])
            _ = session.take(news.changes)
            found = try await inspect(session.application, errand)
            if found?.isOngoing ?? false { lastSign = time.now }
        } while lastSign.duration(to: time.now) < errand.target.options.quiet
        return (session, found)
    }

    /// Nil in a family whose modules do not report their versions.
    private func inspect(
        _ application: any ModuleApplication,
        _ errand: Errand
    ) async throws(ModuleError) -> Inspection? {
        guard errand.driver.tellsVersions else { return nil }
        return try await application.inspect(UpdateOrder(serial: errand.serial, parts: []))
    }

    /// Reads the properties, before any other task has access to the link.
    private func opened(
        _ application: any ModuleApplication,
        _ errand: Errand,
        _ name: String?,
        _ found: Inspection?,
        _ lacking: Set<UInt16>
    ) async throws(ModuleError) -> Session {
        (application as? LRApplication)?.client.hears = { [messages] in messages.send($0) }
        let variant = found.flatMap { ModuleFirmwareInfo($0) }.map { String($0.variant) }
        let holder = try await application.properties()
        let readings: [PropertyReading]
        do throws(PropertyReadError) {
            readings = try await holder?.readAll(but: lacking) ?? []
        } catch {
            guard case .module(let failure) = error else { throw .value(error.sentence) }
            throw failure
        }
        let profile = errand.profile
        let specs = profile.properties(variant: variant)
        let known = Set(readings.map(\.name))
        let valued = readings.compactMap { reading in
            profile.property(reading.name, variant: variant).map {
                ModuleProperty($0, reading.value)
            }
        }
        let others =
            specs.filter { !$0.access.isReadable }
            + specs.filter { $0.access.isReadable && !known.contains($0.name) }
        lastSession += 1
        return Session(
            number: lastSession,
            serial: errand.serial,
            name: name ?? profile.unnamed,
            profile: profile,
            variant: variant,
            application: application,
            holder: holder,
            list: valued + others.map { ModuleProperty($0, nil) }
        )
    }

    private func remember(_ session: Session, _ found: Inspection?, _ peer: Peer, _ name: String?) {
        var facts = CachedModule()
        facts.name = name
        facts.peer = peer
        facts.type = found?.firmware.type
        facts.version = found?.firmware.version?.description
        facts.model = CachedModule.Model(
            family: session.profile.family,
            profile: session.profile.name,
            variant: session.variant
        )
        for case (let name, let value?) in session.list.map({ ($0.name, $0.value) }) {
            facts.readings[name] = CachedModule.Reading(value.value, at: time.wallTime)
        }
        let given = Set(facts.readings.keys)
        facts.lacking = Set(
            session.profile.registers(variant: session.variant)
                .filter { !$0.value.contains { given.contains($0.name) } }.keys
        )
        cache.remember(facts, as: session.serial)
    }
}
