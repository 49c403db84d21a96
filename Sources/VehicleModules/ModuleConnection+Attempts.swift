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
            let profile: Profile
            switch await target.options.profiles.profile(target.serial) {
            case .success(let found): profile = found
            case .failure(let failure): throw ModuleFailure(failure)
            }
            if FamilyRegistry.takesToken(profile.family) { throw .looksForUs(profile.family) }
            let driver = try UpdatePlan.driver(profile, target.secret)
            guard mine == generation else { throw .attemptEnded }
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
            while true {
                if Task.isCancelled { throw .attemptEnded }
                if let deadline, time.now >= deadline { throw attempt.overdue }
                do throws(ModuleError) {
                    let (session, found) = try await once(
                        target,
                        on: link,
                        profile,
                        driver,
                        &attempt,
                        before: deadline
                    )
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

    /// One search, one link, one handshake.
    private func once(
        _ target: Target,
        on link: VehicleLink,
        _ profile: Profile,
        _ driver: any UpdateDriver,
        _ attempt: inout ConnectionAttempt,
        before deadline: Moment?
    ) async throws(ModuleError) -> (Session, Inspection?) {
        let limit = deadline ?? time.now.advanced(by: .seconds(60))
        let cached = cache[target.serial]
        func show(_ part: ConnectionState.Connecting, _ name: String?) -> ModuleName {
            let name = ModuleName(serial: target.serial, name: name ?? profile.unnamed)
            attempt.part = part
            state.change(to: .connecting(name, part))
            return name
        }
        let peer: Peer
        var name: String? = cached?.name
        var patience = limit
        if let known = attempt.takeCachedPeer() {
            // A known address needs no search. If it is stale, little time is lost.
            peer = known
            patience = min(limit, time.now.advanced(by: .seconds(3)))
        } else {
            let searched = show(attempt.part == .bluetoothOff ? .bluetoothOff : .searching, name)
            let found = try await search(for: searched, of: profile, on: link, before: limit)
            attempt.part = .searching
            guard let found else { throw .radio(.timedOut) }
            if found.role == .bootloader {
                _ = show(.firmwareUpdateOngoing, name)
                throw .value("the module waits in its bootloader")
            }
            attempt.wasHeard = true
            name = found.shownName ?? name
            peer = found.peer
        }
        let module = show(.handshaking, name)
        do throws(RadioError) { try await link.connect(to: peer, before: patience) } catch {
            throw .radio(error)
        }
        let known = cached ?? CachedModule()
        try await link.openApplication(by: driver.following(known))
        guard let application = link.application else { throw .radio(.linkLost) }
        var found = try await inspect(application, of: target.serial, by: driver)
        var session = try await opened(application, module, profile, found, known.lacking)
        remember(session, found, peer, name)
        guard found?.isOngoing ?? false else { return (session, found) }
        log.info("\(target.serial) hands an image on to one of its parts")
        _ = show(.firmwareUpdateOngoing, name)
        tracker.connected()
        tracker.handsOn(true)
        update.change(to: tracker.status)
        // Waits on the link until it has finished, then reads the versions again.
        var lastSign = time.now
        repeat {
            if time.now >= limit || Task.isCancelled {
                throw .radio(Task.isCancelled ? .cancelled : .timedOut)
            }
            let next = min(limit, time.now.advanced(by: .seconds(2)))
            let news = try await self.news(of: session, before: next, asking: false, watched: [])
            _ = session.take(news.changes)
            found = try await inspect(application, of: target.serial, by: driver)
            if found?.isOngoing ?? false { lastSign = time.now }
        } while lastSign.duration(to: time.now) < target.options.quiet
        return (session, found)
    }

    /// Nil in a family whose modules do not report their versions.
    private func inspect(
        _ application: any ModuleApplication,
        of serial: Serial,
        by driver: any UpdateDriver
    ) async throws(ModuleError) -> Inspection? {
        guard driver.tellsVersions else { return nil }
        return try await application.inspect(UpdateOrder(serial: serial, parts: []))
    }

    /// Reads the properties, before any other task has access to the link.
    private func opened(
        _ application: any ModuleApplication,
        _ name: ModuleName,
        _ profile: Profile,
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
        let specs = profile.properties(variant: variant)
        let known = Set(readings.map(\.name))
        lastSession += 1
        return Session(
            number: lastSession,
            name: name,
            profile: profile,
            variant: variant,
            application: application,
            holder: holder,
            listing: PropertyList.Listing(
                readable: readings,
                writeOnly: specs.filter { !$0.access.isReadable },
                missing: specs.filter { $0.access.isReadable && !known.contains($0.name) }
            )
        )
    }

    private func search(
        for name: ModuleName,
        of profile: Profile,
        on link: VehicleLink,
        before deadline: Moment
    ) async throws(ModuleError) -> ModuleSighting? {
        let state = state
        do throws(RadioError) {
            return try await link.seek(
                library.recogniser(of: profile),
                before: deadline,
                // Called when the search runs: the radio is on.
                isLooking: { state.change(to: .connecting(name, .searching)) },
                unless: { Task.isCancelled }
            )
        } catch { throw .radio(error) }
    }

    private func remember(_ session: Session, _ found: Inspection?, _ peer: Peer, _ name: String?) {
        var facts = CachedModule()
        facts.name = name
        facts.peer = peer
        facts.type = found?.firmware.type
        let given = Set(session.listing.readable.map(\.name))
        facts.lacking = Set(
            session.profile.registers(variant: session.variant)
                .filter { !$0.value.contains { given.contains($0.name) } }.keys
        )
        cache.remember(facts, as: session.name.serial)
    }
}
