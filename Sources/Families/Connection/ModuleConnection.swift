package import Domain
package import Modules
package import Radio
import Sessions

/// Makes and keeps the connection to one module at a time, and reports its state.
///
/// `tended` lends a connection while a body runs. Meanwhile the connection takes what the module
/// sends, notices when a link ends, and connects again if the options say so.
package actor ModuleConnection {
    package struct Options: Sendable {
        /// A module's sign that it hands an image on may alternate: the handover is over when there
        /// was no sign for this time.
        package var quiet = Duration.seconds(5)
        /// Whether to connect again after a lost link, for as long as it takes.
        package var reconnects = false
        package var profiles = ProfileSource.named(in: .shipped)
        /// The bond that is made and used; nil for the one that the module's profile names.
        package var bond: BondPolicy?
        /// Called once for each connection to check for an update.
        package var updates: @Sendable (ModuleVersions) async -> UpdateCheck = { _ in
            .failed("no source of updates was given")
        }

        package init() {}
    }

    /// The parameters of `connect`, which are used again after a lost link.
    private struct Target {
        let serial: Serial
        let secret: Secret?
        let options: Options
    }

    /// Why it is disconnected when no caller asked for that.
    package enum Ending: Sendable, Hashable {
        case failed(ConnectError)
        case lost(String)
    }

    package nonisolated let state = Latest(ConnectionState.disconnected)
    /// Set before the state becomes `disconnected`.
    package nonisolated let ending = Latest<Ending?>(nil)
    /// Each value that differs from the previous one.
    package nonisolated let changes = Announcements<PropertyReading>()
    package nonisolated let properties = Latest(PropertyList.notAvailable)
    package nonisolated let versions = Latest<ModuleVersions?>(nil)
    package nonisolated let update = Latest(UpdateStatus.moduleNotConnected)
    package nonisolated let log: ModuleLog
    package nonisolated let cache: ModuleCache

    private let central: any Central
    private let time: any Timekeeper
    private nonisolated let library: ProfileLibrary
    private nonisolated let sessions = Latest<(any ModuleSession)?>(nil)

    private var target: Target?
    private var tracker = UpdateTracker()
    /// Counts up with each connect and disconnect; everything that began under an older number is
    /// over.
    private var generation = 0
    /// Ends the current attempt.
    private var abort: AsyncStream<Never>.Continuation?
    /// The module of the last link: the host still remembers what it learned of it.
    private var met: Peer?
    private var outputs: [String: Latest<PropertyOutput>] = [:]

    package init(
        central: any Central,
        time: any Timekeeper,
        library: ProfileLibrary = .shipped,
        cache: ModuleCache = ModuleCache(),
        log: ModuleLog? = nil
    ) {
        self.central = central
        self.time = time
        self.library = library
        self.cache = cache
        self.log = log ?? ModuleLog(time: time)
    }

    /// Keeps the connection while `body` runs, and ends it afterwards.
    package nonisolated func tended<R: Sendable>(
        _ body: (ModuleConnection) async -> R
    ) async -> R {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.tend() }
            let result = await body(self)
            await disconnect()
            group.cancelAll()
            return result
        }
    }

    // MARK: Connecting

    /// Connects to a module by its serial, with the secret that opens modules of its family.
    ///
    /// An attempt that is under way ends with `aborted`, and an existing connection ends.
    package func connect(
        _ serial: Serial,
        secret: Secret?,
        timeout: Duration = .seconds(30),
        options: Options = Options()
    ) async throws(ConnectError) {
        let mine = await begin()
        // Another caller may have begun while the old link was being ended.
        guard mine == generation else { throw .aborted }
        let wanted = Target(serial: serial, secret: secret, options: options)
        let result = await guarded(mine) {
            await self.establish(wanted, before: self.time.now.advanced(by: timeout))
        }
        guard mine == generation else {
            if case .success(let session) = result { await session.disconnect() }
            throw .aborted
        }
        switch result {
        case .success(let session):
            target = wanted
            adopt(session)
        case .failure(let error):
            disconnected(.failed(error))
            await forgetModule()
            log.error("cannot connect to \(serial): \(error)")
            throw error
        }
    }

    /// Ends the link or the attempt, and forgets the module.
    package func disconnect() async {
        _ = await begin()
        disconnected(nil)
    }

    private func disconnected(_ why: Ending?) {
        ending.change(to: why)
        state.change(to: .disconnected)
    }

    /// Forgets what was learned about modules.
    package nonisolated func clearCache() { cache.clear() }

    /// Ends the current attempt or connection; returns the number of the new one.
    private func begin() async -> Int {
        generation += 1
        let mine = generation
        abort?.finish()
        abort = nil
        target = nil
        let session = sessions.value
        drop()
        await session?.disconnect()
        await forgetModule()
        return mine
    }

    /// Makes the host drop its data about the module, which say more than it advertises.
    private func forgetModule() async {
        guard let peer = met else { return }
        met = nil
        await central.forget(peer)
    }

    /// Runs an attempt, which ends with `aborted` as soon as another one begins.
    private func guarded(
        _ mine: Int,
        _ attempt: @escaping @Sendable () async -> Result<any ModuleSession, ConnectError>
    ) async -> Result<any ModuleSession, ConnectError> {
        let (signal, abort) = AsyncStream.makeStream(of: Never.self)
        self.abort = abort
        let result = await withTaskGroup(of: Result<any ModuleSession, ConnectError>?.self) {
            group in
            group.addTask { await attempt() }
            group.addTask {
                for await _ in signal {}
                return nil
            }
            var result: Result<any ModuleSession, ConnectError> = .failure(.aborted)
            for await end in group {
                if let end { result = end }
                group.cancelAll()
            }
            return result
        }
        return result
    }

    // MARK: Attempts

    private func establish(
        _ target: Target,
        before deadline: Moment?
    ) async -> Result<any ModuleSession, ConnectError> {
        var attempt = ConnectionAttempt(cached: cache[target.serial])
        let profile: Profile
        switch await target.options.profiles.profile(target.serial) {
        case .success(let found): profile = found
        case .failure(.invalidAPIKey): return .failure(.invalidAPIKey)
        case .failure(.network(let words)): return .failure(.networkError(words))
        case .failure(.unknown(let words)): return .failure(.unexpected(words))
        }
        let opener: SessionOpener
        do throws(ConnectError) {
            opener = try FamilyRegistry.sessions(of: profile, target.secret)
        } catch { return .failure(error) }
        let central = central
        let vehicle = VehicleLink(
            to: target.serial,
            central,
            time,
            bond: target.options.bond ?? profile.unattendedBond
        )
        while true {
            if Task.isCancelled { return .failure(.aborted) }
            if let deadline, time.now >= deadline { return .failure(attempt.overdue) }
            do throws(AttemptFailure) {
                let session = try await once(
                    target,
                    on: vehicle,
                    profile,
                    opener,
                    &attempt,
                    before: deadline
                )
                return .success(session)
            } catch {
                vehicle.forgetLink()
                // Another module may use the same serial: it is tried next.
                if case .passing(let error) = error, error.secret != nil {
                    _ = vehicle.suspects(error)
                }
                if let final = attempt.failed(error) { return .failure(final) }
                await time.sleep(
                    until: min(deadline ?? .distant, time.now.advanced(by: attempt.pause)),
                    for: "the next attempt to connect to \(target.serial)"
                )
            }
        }
    }

    /// One search, one link, one handshake.
    private func once(
        _ target: Target,
        on vehicle: VehicleLink,
        _ profile: Profile,
        _ opener: SessionOpener,
        _ attempt: inout ConnectionAttempt,
        before deadline: Moment?
    ) async throws(AttemptFailure) -> any ModuleSession {
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
            let found = try await search(for: searched, of: profile, on: vehicle, before: limit)
            attempt.part = .searching
            guard let found else { throw .passing(.radio(.timedOut)) }
            if found.role == .bootloader {
                _ = show(.firmwareUpdateOngoing, name)
                throw .passing(.value("the module waits in its bootloader"))
            }
            attempt.wasHeard = true
            name = found.shownName ?? name
            peer = found.peer
        }
        let module = show(.handshaking, name)
        met = peer
        do throws(RadioError) { try await vehicle.connect(to: peer, before: patience) } catch {
            throw AttemptFailure(error)
        }
        guard let link = vehicle.radio else { throw .passing(.radio(.linkLost)) }
        let session = try await opener.open(link, module, cached, time).get()
        remember(session, peer, name)
        guard session.versions?.isOngoing ?? false else { return session }
        log.info("\(target.serial) hands an image on to one of its parts")
        _ = show(.firmwareUpdateOngoing, name)
        tracker.connected()
        tracker.handsOn(true)
        update.change(to: tracker.status)
        return try await outlast(session, target, before: limit)
    }

    /// Waits on the link until the module has finished handing an image on, then reads the versions
    /// again.
    private func outlast(
        _ session: any ModuleSession,
        _ target: Target,
        before limit: Moment
    ) async throws(AttemptFailure) -> any ModuleSession {
        var lastSign = time.now
        do throws(ModuleError) {
            while true {
                if time.now >= limit || Task.isCancelled {
                    throw .radio(Task.isCancelled ? .cancelled : .timedOut)
                }
                try await session.pause(until: min(limit, time.now.advanced(by: .seconds(2))))
                let versions = try await session.currentVersions(cache[target.serial])
                if versions?.isOngoing ?? false { lastSign = time.now }
                guard lastSign.duration(to: time.now) >= target.options.quiet else { continue }
                return session.running(versions)
            }
        } catch {
            await session.disconnect()
            throw AttemptFailure(error)
        }
    }

    private func search(
        for name: ModuleName,
        of profile: Profile,
        on vehicle: VehicleLink,
        before deadline: Moment
    ) async throws(AttemptFailure) -> ModuleSighting? {
        let state = state
        do throws(RadioError) {
            return try await vehicle.seek(
                library.recogniser(of: profile),
                before: deadline,
                // Called when the search runs: the radio is on.
                isLooking: { state.change(to: .connecting(name, .searching)) },
                unless: { Task.isCancelled }
            )
        } catch { throw AttemptFailure(error) }
    }

    private func remember(_ session: any ModuleSession, _ peer: Peer, _ name: String?) {
        var facts = CachedModule()
        facts.name = name
        facts.peer = peer
        facts.type = session.versions?.type
        facts.lacking = session.lacking
        cache.remember(facts, as: session.name.serial)
    }

    // MARK: While it is connected

    private func adopt(_ session: any ModuleSession) {
        tracker.connected()
        versions.set(session.versions)
        properties.set(.available(session.listing))
        for (name, output) in outputs { output.change(to: self.output(name, of: session)) }
        for reading in session.listing.readable { changes.send(reading) }
        update.change(to: tracker.status)
        state.change(to: .connected(session.name))
        let firmware = session.versions.map { ", firmware \($0.secondary)" } ?? ""
        log.info("connected to \(session.name.serial)\(name: firmware)")
        sessions.set(session)
    }

    /// Forgets all facts about the module.
    private func drop() {
        sessions.set(nil)
        tracker.disconnected()
        versions.set(nil)
        properties.change(to: .notAvailable)
        for output in outputs.values { output.change(to: .notAvailable(.moduleNotConnected)) }
        update.change(to: tracker.status)
    }

    /// Takes what the module sends, until cancelled.
    private func tend() async {
        for await session in sessions.values() {
            guard let session, sessions.value === session else { continue }
            var why = "it ended"
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.check(session) }
                why = await self.listen(to: session) ?? why
                group.cancelAll()
            }
            if Task.isCancelled { return }
            await lost(session, why)
        }
    }

    private func check(_ session: any ModuleSession) async {
        guard let target, sessions.value === session, let versions = session.versions else {
            return
        }
        let result = await target.options.updates(versions)
        guard sessions.value === session else { return }
        tracker.checked(result)
        update.change(to: tracker.status)
    }

    /// Handles what the module sends; returns why the link ended, nil when another session took its
    /// place.
    private func listen(to session: any ModuleSession) async -> String? {
        let quiet = target?.options.quiet ?? .zero
        // When the module last reported that it hands an image on; nil when that is over.
        var lastSign: Moment?
        while sessions.value === session {
            // Limited: without a deadline, the timekeeper would keep one for each notification.
            let look = time.now.advanced(by: lastSign == nil ? .seconds(10) : .seconds(2))
            do throws(ModuleError) {
                let news = try await session.news(
                    before: look,
                    asking: lastSign != nil,
                    watched: outputs.filter { $0.value.watcherCount > 0 }.keys.sorted()
                )
                if !news.changes.isEmpty, sessions.value === session {
                    take(news.changes, session)
                }
                guard let isHandingOn = news.isHandingOn else { continue }
                guard sessions.value === session else { return nil }
                if isHandingOn { lastSign = time.now }
                guard let sign = lastSign else { continue }
                let isOver = sign.duration(to: time.now) >= quiet
                if isOver { lastSign = nil }
                handsOn(!isOver, session)
                if isOver { try await refresh(session) }
            } catch {
                if error != .radio(.cancelled), sessions.value === session {
                    log.warning("the link to \(session.name.serial) ended: \(error)")
                }
                return error.description
            }
        }
        return nil
    }

    private func handsOn(_ value: Bool, _ session: any ModuleSession) {
        tracker.handsOn(value)
        update.change(to: tracker.status)
        state.change(
            to: value
                ? .connecting(session.name, .firmwareUpdateOngoing) : .connected(session.name)
        )
    }

    /// Reads the versions again and checks for an update again.
    private func refresh(_ session: any ModuleSession) async throws(ModuleError) {
        let found = try await session.currentVersions(cache[session.name.serial])
        guard sessions.value === session, let target, let found else { return }
        versions.set(found)
        let result = await target.options.updates(found)
        guard sessions.value === session else { return }
        tracker.checked(result)
        update.change(to: tracker.status)
    }

    private func take(_ changes: [PropertyReading], _ session: any ModuleSession) {
        guard case .available(var listing) = properties.value else { return }
        for change in changes {
            guard let spec = session.property(change.name) else { continue }
            if let index = listing.readable.firstIndex(where: { $0.name == change.name }) {
                guard listing.readable[index] != change else { continue }
                listing.readable[index] = change
            } else {
                listing.readable.append(change)
                listing.missing.removeAll { $0.name == change.name }
            }
            outputs[change.name]?.change(to: .available(spec, change.value))
            self.changes.send(change)
        }
        properties.change(to: .available(listing))
    }

    /// Handles a lost link: forgets it, and connects again if the options say so.
    private func lost(_ session: any ModuleSession, _ why: String) async {
        guard sessions.value === session, let target else { return }
        await session.disconnect()
        guard sessions.value === session else { return }
        let mine = generation
        drop()
        guard target.options.reconnects else {
            self.target = nil
            disconnected(.lost(why))
            await forgetModule()
            return
        }
        let result = await guarded(mine) { await self.establish(target, before: nil) }
        guard mine == generation else {
            if case .success(let session) = result { await session.disconnect() }
            return
        }
        switch result {
        case .success(let session):
            adopt(session)
        case .failure(let error):
            self.target = nil
            disconnected(.failed(error))
            await forgetModule()
            log.error("cannot connect to \(target.serial) again: \(error)")
        }
    }

    // MARK: Operations

    /// The session for operations; there is none while the module is being connected.
    private func usable() throws(PropertyWriteError) -> any ModuleSession {
        if tracker.status.isOngoing { throw .firmwareUpdateOngoing }
        switch state.value {
        case .connected:
            guard let session = sessions.value else { throw .moduleNotConnected }
            return session
        case .connecting(_, .firmwareUpdateOngoing): throw .firmwareUpdateOngoing
        case .connecting, .disconnected: throw .moduleNotConnected
        }
    }

    /// The description of a property in the connected module's profile.
    package func property(_ name: String) -> PropertySpec? {
        sessions.value?.property(name)
    }

    /// Reads a value from the module.
    package func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        guard state.value.isConnected, let session = sessions.value else {
            throw .moduleNotConnected
        }
        let value = try await session.read(name)
        if sessions.value === session { take([PropertyReading(name, value)], session) }
        return value
    }

    /// Writes a value to the module and reads it back.
    @discardableResult
    package func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        let session = try usable()
        let found = try await session.write(value, to: name)
        log.info("set \(PropertyReading(name, found))")
        if sessions.value === session, session.property(name)?.source != nil {
            take([PropertyReading(name, found)], session)
        }
        return found
    }

    /// The features of the connected module's profile.
    package var features: [FeatureSpec] { sessions.value?.profile.features ?? [] }

    /// Performs a feature once; no other call may use this `nonce`.
    package func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        let session: any ModuleSession
        do throws(PropertyWriteError) { session = try usable() } catch {
            throw .failed(.transient, error.sentence)
        }
        try await session.perform(feature, payload, nonce: nonce)
        log.info("told \(session.name.serial): \(name: feature.name)")
        await look(at: session)
    }

    /// Reads all properties: performing a feature may have changed any of them.
    private func look(at session: any ModuleSession) async {
        for spec in session.specs where spec.access.isReadable {
            do throws(PropertyReadError) {
                let value = try await session.read(spec.name)
                guard sessions.value === session else { return }
                take([PropertyReading(spec.name, value)], session)
            } catch {
                // A missing property or a lost link is reported elsewhere.
                continue
            }
        }
    }

    /// The last known value of a property, and then each new value of it.
    package func watch(_ name: String) -> AsyncStream<PropertyOutput> {
        if let output = outputs[name] { return output.values() }
        let first = sessions.value.map { self.output(name, of: $0) }
        let output = Latest(first ?? .notAvailable(.moduleNotConnected))
        // Names that no profile has are not kept: their number would be unbounded.
        if outputs.count < 1_000 { outputs[name] = output }
        return output.values()
    }

    private func output(_ name: String, of session: any ModuleSession) -> PropertyOutput {
        guard let spec = session.property(name) else { return .notAvailable(.missing) }
        guard spec.access.isReadable else { return .writeOnly(spec) }
        guard case .available(let listing) = properties.value,
            let reading = listing.readable.first(where: { $0.name == name })
        else { return .notAvailable(.missing) }
        return .available(spec, reading.value)
    }

    // MARK: Key

    /// Gives the module another key and proves on a new link that the module uses it.
    ///
    /// Returns false when the module still requires the old key; it is then connected with that
    /// one.
    package func changeKey(
        to secret: Secret,
        timeout: Duration = .seconds(30)
    ) async throws(ConnectError) -> Bool {
        guard state.value.isConnected, let session = sessions.value, let now = target else {
            throw .unexpected("the module is not connected")
        }
        // A secret that cannot open a module of this family is never written to one.
        _ = try FamilyRegistry.sessions(of: session.profile, secret)
        do throws(ModuleError) {
            try await session.changeKey(to: secret)
            log.info("gave \(now.serial) another key, \(secret)")
        } catch {
            if case .value = error { throw .unexpected(error.description) }
            // It may have taken the key before the exchange ended: the next link shows it.
            log.warning("\(now.serial) may have another key, \(secret): \(error)")
        }
        do throws(ConnectError) {
            try await connect(
                now.serial,
                secret: secret,
                timeout: timeout,
                options: now.options
            )
            return true
        } catch {
            guard case .invalidPrivateKey = error else { throw error }
            log.warning("\(now.serial) does not know the new key")
            try await connect(
                now.serial,
                secret: now.secret,
                timeout: timeout,
                options: now.options
            )
            return false
        }
    }

    // MARK: Our updates

    /// Ends the link while `body` works on the module, and makes a new one afterwards: the links of
    /// a module have one owner at a time.
    package func handOver<R: Sendable>(
        _ part: FirmwareTarget.Part,
        timeout: Duration = .seconds(60),
        _ body: @Sendable (Serial, Secret?) async -> R
    ) async throws(ConnectError) -> R {
        guard state.value.isConnected, !tracker.status.isOngoing, let session = sessions.value,
            let now = target, let none = Percent(hundredths: 0)
        else { throw .unexpected("the module is not connected") }
        generation += 1
        let mine = generation
        tracker.began(part, UpdateStage(.initiating, none))
        drop()
        state.change(to: .connecting(session.name, .firmwareUpdateOngoing))
        await session.disconnect()
        let result = await body(now.serial, now.secret)
        updated()
        guard mine == generation else { return result }
        let again = await guarded(mine) {
            await self.establish(now, before: self.time.now.advanced(by: timeout))
        }
        switch again {
        case .success(let session):
            guard mine == generation else {
                await session.disconnect()
                return result
            }
            adopt(session)
        case .failure(let error):
            guard mine == generation else { return result }
            target = nil
            disconnected(.failed(error))
            log.error("cannot connect to \(now.serial) after its update: \(error)")
        }
        return result
    }

    /// Reports the progress of an update that another part of the program does on this module.
    package func updating(_ part: FirmwareTarget.Part, _ step: UpdateStage) {
        tracker.began(part, step)
        update.change(to: tracker.status)
    }

    /// The upload is over; the running version is known after the next connection.
    package func updated() {
        tracker.ended()
        update.change(to: tracker.status)
    }
}

extension Moment {
    /// Later than every deadline.
    static let distant = Moment(nanoseconds: .max)
}
