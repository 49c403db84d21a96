import Base
import Families
import Radio

/// Makes and keeps the connection to one module at a time, and reports its state.
///
/// `tended` lends a connection while a body runs. Meanwhile the connection takes what the module
/// sends, notices when a link ends, and connects again if the options say so.
actor ModuleConnection {
    struct Options: Sendable {
        /// A module's sign that it hands an image on may alternate: the handover is over when there
        /// was no sign for this time.
        var quiet = Duration.seconds(5)
        /// Whether to connect again after a lost link, for as long as it takes.
        var reconnects = false
        let profile: Profile
        /// The bond that is made and used; nil for the one that the module's profile names.
        var bond: BondPolicy?
        /// Called once for each connection to check for an update.
        ///
        /// Without a source of updates, no module has one.
        var updates: @Sendable (ModuleFirmwareInfo) async -> ModuleUpdateCheck = { _ in .upToDate }

        init(_ profile: Profile) { self.profile = profile }
    }

    /// The parameters of `connect`, which are used again after a lost link.
    struct Target: Sendable {
        let serial: Serial
        let secret: Secret?
        let options: Options
    }

    /// The module on the open link.
    struct Session {
        let number: Int
        let serial: Serial
        let name: String
        let profile: Profile
        let variant: String?
        let application: any ModuleApplication
        let holder: (any PropertyHolder)?
        /// All properties: those with a value, those that can only be written, and those for which
        /// this module gives no value, each in the profile's order.
        var list: [ModuleProperty]
        /// Requests on the link wait for their turn.
        let turn = AccessQueue()

        var specs: [PropertySpec] { profile.properties(variant: variant) }

        /// Reads the versions again.
        func inspect() async throws(ModuleError) -> Inspection {
            await turn.take()
            defer { turn.end() }
            return try await application.inspect(UpdateOrder(serial: serial, parts: []))
        }

        func property(_ name: String) -> PropertySpec? { profile.property(name, variant: variant) }

        func value(of name: String) -> ModuleValue? { list.first { $0.name == name }?.value }

        /// Takes values into the list; returns those that are new.
        mutating func take(_ changes: [PropertyReading]) -> [PropertyReading] {
            changes.filter { change in
                guard let spec = property(change.name) else { return false }
                let new = ModuleProperty(spec, change.value)
                if let index = list.firstIndex(where: { $0.name == change.name && $0.value != nil })
                {
                    guard list[index] != new else { return false }
                    list[index] = new
                } else {
                    if new.isReadable { list.removeAll { $0.name == change.name } }
                    list.insert(new, at: list.firstIndex { $0.value == nil } ?? list.count)
                }
                return true
            }
        }
    }

    nonisolated let state = Latest(ModuleConnectionState.disconnected(nil))
    /// Each value that differs from the previous one.
    nonisolated let changes = Announcements<PropertyReading>()
    /// Each message of a lock.
    nonisolated let messages = Announcements<LRMessage>()
    /// Empty while there is no session.
    nonisolated let properties = Latest<[ModuleProperty]>([])
    nonisolated let versions = Latest<ModuleFirmwareInfo?>(nil)
    nonisolated let update = Latest(ModuleUpdateStatus.moduleNotConnected)
    nonisolated let log: ModuleLog
    nonisolated let cache: ModuleCache

    let central: any Central
    let time: any Timekeeper
    nonisolated let library: ProfileLibrary
    /// The number of the session, for the task that tends it.
    private nonisolated let sessions = Latest<Int?>(nil)

    var session: Session?
    var target: Target?
    var link: VehicleLink?
    var tracker = UpdateTracker()
    /// Counts up with each connect and disconnect; everything that began under an older number is
    /// over.
    var generation = 0
    var lastSession = 0
    /// Ends the current attempt.
    private var abort: AsyncStream<Never>.Continuation?
    private var outputs: [String: Latest<PropertyOutput>] = [:]

    init(
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
    nonisolated func tended<R: Sendable>(
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
    func connect(
        _ serial: Serial,
        secret: Secret?,
        timeout: Duration = .seconds(30),
        options: Options
    ) async throws(ModuleFailure) {
        let mine = await begin()
        // Another caller may have begun while the old link was being ended.
        guard mine == generation else { throw .attemptEnded }
        target = Target(serial: serial, secret: secret, options: options)
        if let error = await failure(making: mine, before: time.now.advanced(by: timeout)) {
            throw error
        }
    }

    /// Ends the link or the attempt, and forgets the module.
    func disconnect() async {
        _ = await begin()
        if case .disconnected = state.value { return }
        state.set(.disconnected(nil))
    }

    /// Makes a session; if that is impossible, ends the connection and returns the reason.
    private func failure(
        making mine: Int,
        before deadline: Moment?,
        _ when: String = ""
    ) async -> ModuleFailure? {
        let result = await established(mine, before: deadline)
        guard mine == generation, let serial = target?.serial else { return .attemptEnded }
        guard case .failure(let error) = result else { return nil }
        await ended(error)
        log.error("cannot connect to \(serial)\(name: when): \(name: error.description)")
        return error
    }

    private func ended(_ error: ModuleFailure) async {
        target = nil
        state.change(to: .disconnected(error))
        await leave()
    }

    /// Forgets what was learned about modules.
    nonisolated func clearCache() { cache.clear() }

    /// Ends the current attempt or connection; returns the number of the new one.
    private func begin() async -> Int {
        generation += 1
        let mine = generation
        abort?.finish()
        abort = nil
        target = nil
        drop()
        await leave()
        return mine
    }

    /// Closes the link, and makes the host drop its data about the module, which say more than it
    /// advertises.
    private func leave() async {
        let old = link
        link = nil
        await old?.leave()
    }

    /// Makes a session; the attempt ends with `aborted` as soon as another one begins.
    private func established(
        _ mine: Int,
        before deadline: Moment?
    ) async -> Result<Void, ModuleFailure> {
        let (signal, abort) = AsyncStream.makeStream(of: Never.self)
        self.abort = abort
        return await withTaskGroup(of: Result<Void, ModuleFailure>?.self) { group in
            group.addTask { await self.establish(mine, before: deadline) }
            group.addTask {
                for await _ in signal {}
                return nil
            }
            var result: Result<Void, ModuleFailure> = .failure(.attemptEnded)
            for await end in group {
                if let end { result = end }
                group.cancelAll()
            }
            return result
        }
    }

    // MARK: While it is connected

    func adopt(_ session: Session, _ found: Inspection?) {
        self.session = session
        let firmware = found.flatMap { ModuleFirmwareInfo($0) }
        tracker.connected()
        versions.set(firmware)
        properties.change(to: session.list)
        for (name, output) in outputs { output.change(to: self.output(name, of: session)) }
        for property in session.list {
            guard let value = property.value else { continue }
            changes.send(PropertyReading(property.name, value.value))
        }
        update.change(to: tracker.status)
        state.change(to: .connected(name: session.name, serial: session.serial.text))
        let version = firmware.map { ", firmware \($0.secondary)" } ?? ""
        log.info("connected to \(session.serial)\(name: version)")
        sessions.set(session.number)
    }

    private func isOpen(_ session: Session) -> Bool { self.session?.number == session.number }

    /// Forgets all facts about the module.
    private func drop() {
        if let session { cache.keep(session.serial) }
        session = nil
        sessions.set(nil)
        tracker.disconnected()
        versions.set(nil)
        properties.change(to: [])
        for output in outputs.values { output.change(to: .notAvailable(.moduleNotConnected)) }
        update.change(to: tracker.status)
    }

    /// Takes what the module sends, until cancelled.
    private func tend() async {
        for await number in sessions.values() {
            guard let number, let session, session.number == number else { continue }
            var why = "it ended"
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.check(number) }
                why = await self.listen(to: session) ?? why
                group.cancelAll()
            }
            if Task.isCancelled { return }
            await lost(session, why)
        }
    }

    private func check(_ number: Int) async {
        guard let target, session?.number == number else { return }
        // There is no update for a module that reports no version.
        var result = ModuleUpdateCheck.upToDate
        if let firmware = versions.value { result = await target.options.updates(firmware) }
        guard session?.number == number else { return }
        tracker.checked(result)
        update.change(to: tracker.status)
    }

    /// Handles what the module sends; returns why the link ended, nil when another session took its
    /// place.
    private func listen(to session: Session) async -> String? {
        let quiet = target?.options.quiet ?? .zero
        // When the module last reported that it hands an image on; nil when that is over.
        var lastSign: Moment?
        while isOpen(session) {
            // Limited: without a deadline, the timekeeper would keep one for each notification.
            let look = time.now.advanced(by: lastSign == nil ? .seconds(10) : .seconds(2))
            do throws(ModuleError) {
                let news = try await self.news(
                    of: session,
                    before: look,
                    asking: lastSign != nil,
                    watched: outputs.filter { $0.value.watcherCount > 0 }.keys.sorted()
                )
                take(news.changes, session)
                guard let isHandingOn = news.isHandingOn else { continue }
                guard isOpen(session) else { return nil }
                if isHandingOn { lastSign = time.now }
                guard let sign = lastSign else { continue }
                let isOver = sign.duration(to: time.now) >= quiet
                if isOver { lastSign = nil }
                handsOn(!isOver, session)
                if isOver { try await refresh(session) }
            } catch {
                if error != .radio(.cancelled), isOpen(session) {
                    log.warning("the link to \(session.serial) ended: \(error)")
                }
                return error.description
            }
        }
        return nil
    }

    /// What the module sent unasked until `moment`, maybe earlier and empty.
    ///
    /// A module that notifies nothing is asked for what changed, and for the `watched` properties.
    func news(
        of session: Session,
        before moment: Moment,
        asking: Bool,
        watched: [String]
    ) async throws(ModuleError) -> ModuleNews {
        let news = try await session.application.news(before: moment, asking: asking)
        if let news { return news }
        let next = min(moment, time.now.advanced(by: .seconds(1)))
        await time.sleep(until: next, for: "the next look at the module")
        var found = ModuleNews()
        guard let holder = session.holder else {
            // A lost link shows only when it is used.
            if versions.value != nil { _ = try await session.inspect() }
            return found
        }
        await session.turn.take()
        defer { session.turn.end() }
        do throws(PropertyReadError) {
            found.changes = try await holder.changes(before: time.now)
            for name in watched {
                found.changes.append(PropertyReading(name, try await holder.read(name)))
            }
        } catch {
            // The module may have lost a property that it had before.
            guard case .module(let failure) = error else { return found }
            throw failure
        }
        return found
    }

    private func handsOn(_ value: Bool, _ session: Session) {
        tracker.handsOn(value)
        update.change(to: tracker.status)
        let (name, serial) = (session.name, session.serial.text)
        state.change(
            to: value
                ? .connecting(name: name, serial: serial, .firmwareUpdateOngoing)
                : .connected(name: name, serial: serial)
        )
    }

    /// Reads the versions again and checks for an update again.
    private func refresh(_ session: Session) async throws(ModuleError) {
        let found = try await session.inspect()
        guard isOpen(session), let firmware = ModuleFirmwareInfo(found) else { return }
        versions.set(firmware)
        await check(session.number)
    }

    private func take(_ changes: [PropertyReading], _ session: Session) {
        guard !changes.isEmpty, isOpen(session), let new = self.session?.take(changes)
        else { return }
        cache.note(changes, at: time.wallTime, of: session.serial)
        for change in new {
            guard let spec = session.property(change.name) else { continue }
            outputs[change.name]?.change(to: .available(spec, change.value))
            self.changes.send(change)
        }
        if let list = self.session?.list { properties.change(to: list) }
    }

    /// Handles a lost link: forgets it, and connects again if the options say so.
    private func lost(_ session: Session, _ why: String) async {
        guard isOpen(session), let target else { return }
        await link?.close()
        guard isOpen(session) else { return }
        let mine = generation
        drop()
        guard target.options.reconnects else { return await ended(.lost(why)) }
        _ = await failure(making: mine, before: nil, " again")
    }

    // MARK: Operations

    /// The session and its target, for what needs more than one link.
    private func usableTarget() throws(ModuleFailure) -> (Session, Target) {
        let session: Session
        do throws(PropertyWriteError) { session = try usable() } catch {
            throw ModuleFailure(error)
        }
        guard let target else { throw .notConnected }
        return (session, target)
    }

    /// The session for operations; there is none while the module is being connected.
    func usable() throws(PropertyWriteError) -> Session {
        if tracker.status.isOngoing { throw .firmwareUpdateOngoing }
        switch state.value {
        case .connected:
            guard let session else { throw .moduleNotConnected }
            return session
        case .connecting(_, _, .firmwareUpdateOngoing): throw .firmwareUpdateOngoing
        case .connecting, .disconnected: throw .moduleNotConnected
        }
    }

    /// The description of a property, with its last known value.
    func described(_ name: String) throws(PropertyReadError) -> ModuleProperty {
        guard let session else { throw .moduleNotConnected }
        guard let spec = session.property(name) else {
            throw .propertyNotFound(name, nearest: session.profile.nearestProperty(to: name))
        }
        return ModuleProperty(spec, session.value(of: name)?.value)
    }

    /// Reads a value from the module.
    func read(_ name: String) async throws(PropertyReadError) -> PropertyValue {
        guard state.value.isConnected, let session else { throw .moduleNotConnected }
        return try await read(name, session)
    }

    private func read(
        _ name: String,
        _ session: Session
    ) async throws(PropertyReadError) -> PropertyValue {
        await session.turn.take()
        defer { session.turn.end() }
        guard let holder = session.holder else {
            throw .propertyNotFound(name, nearest: session.profile.nearestProperty(to: name))
        }
        let value = try await holder.read(name)
        take([PropertyReading(name, value)], session)
        return value
    }

    /// Writes a value to the module and reads it back.
    @discardableResult
    func write(
        _ value: PropertyValue,
        to name: String
    ) async throws(PropertyWriteError) -> PropertyValue {
        let session = try usable()
        await session.turn.take()
        defer { session.turn.end() }
        guard let holder = session.holder else {
            throw .propertyNotFound(name, nearest: session.profile.nearestProperty(to: name))
        }
        let found = try await holder.write(value, to: name)
        log.info("set \(PropertyReading(name, found))")
        if session.property(name)?.source != nil { take([PropertyReading(name, found)], session) }
        return found
    }

    /// The features of the connected module's profile.
    var features: [FeatureSpec] { session?.profile.features ?? [] }

    /// Performs a feature once; no other call may use this `nonce`.
    func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8]
    ) async throws(FeatureError) {
        let session: Session
        do throws(PropertyWriteError) { session = try usable() } catch {
            throw .failed(.transient, error.sentence)
        }
        try await perform(feature, payload, nonce: nonce, session)
        log.info("told \(session.serial): \(name: feature.name)")
        // Performing a feature may have changed any property. A missing property or a lost link is
        // reported elsewhere.
        for spec in session.specs where spec.access.isReadable && isOpen(session) {
            _ = try? await read(spec.name, session)
        }
    }

    private func perform(
        _ feature: FeatureSpec,
        _ payload: [UInt8],
        nonce: [UInt8],
        _ session: Session
    ) async throws(FeatureError) {
        await session.turn.take()
        defer { session.turn.end() }
        guard let features = session.application.features else {
            throw .failed(.rejected, "modules of this family have no features")
        }
        try await features.perform(feature, payload, nonce: nonce)
    }

    /// The last known value of a property, and then each new value of it.
    func watch(_ name: String) -> AsyncStream<PropertyOutput> {
        if let output = outputs[name] { return output.values() }
        let first = session.map { self.output(name, of: $0) }
        let output = Latest(first ?? .notAvailable(.moduleNotConnected))
        // Names that no profile has are not kept: their number would be unbounded.
        if outputs.count < 1_000 { outputs[name] = output }
        return output.values()
    }

    private func output(_ name: String, of session: Session) -> PropertyOutput {
        guard let spec = session.property(name) else { return .notAvailable(.missing) }
        guard spec.access.isReadable else { return .writeOnly(spec) }
        guard let value = session.value(of: name) else { return .notAvailable(.missing) }
        return .available(spec, value.value)
    }

    // MARK: Key

    /// Gives the module another key and proves on a new link that the module uses it.
    ///
    /// Returns false when the module still requires the old key; it is then connected with that
    /// one.
    func changeKey(
        to secret: Secret,
        timeout: Duration = .seconds(30)
    ) async throws(ModuleFailure) -> Bool {
        let (session, now) = try usableTarget()
        // A secret that cannot open a module of this family is never written to one.
        _ = try UpdatePlan.driver(session.profile, secret, in: library)
        let family = session.profile.family
        guard let secrets = FamilyRegistry.secrets(of: family), secrets.needsTheOld,
            session.profile.authentication != .none, let radio = link?.radio
        else {
            throw ModuleFailure(
                .invalidValue,
                "the secret of a module of family \(family.rawValue) cannot be set like this",
                "name a module that has a key of its own"
            )
        }
        do throws(ModuleError) {
            try await secrets.change(
                from: now.secret,
                to: secret,
                on: radio,
                session.profile,
                time,
                chance: { 0 },
                keep: { _ in true }
            )
            log.info("gave \(now.serial) another key, \(secret)")
        } catch {
            // It may have taken the key before the exchange ended: the next link shows it.
            log.warning("\(now.serial) may have another key, \(secret): \(error)")
        }
        do throws(ModuleFailure) {
            try await connect(
                now.serial,
                secret: secret,
                timeout: timeout,
                options: now.options
            )
            return true
        } catch {
            guard error.code == .invalidPrivateKey else { throw error }
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

    /// Why nothing can be begun on the module now; nil when it can.
    var hindrance: ModuleFailure? {
        do throws(ModuleFailure) { _ = try usableTarget() } catch { return error }
        return nil
    }

    /// The available update: its part, and what gets its image.
    var offer: (part: String, image: FirmwareImage.Source)? { tracker.offer }

    /// Lets `body` get the image of an available update; when that fails, the check is made again.
    func fetching<R: Sendable>(
        _ part: String,
        _ body: @Sendable () async -> Result<R, ModuleFailure>
    ) async throws(ModuleFailure) -> R {
        let (session, _) = try usableTarget()
        updating(part, .fetching, percent: 0)
        let result = await body()
        updated()
        if case .failure = result { await check(session.number) }
        return try result.get()
    }

    /// Ends the link while `body` works on the module, and makes a new one afterwards: the links of
    /// a module have one owner at a time.
    func handOver<R: Sendable>(
        _ part: String,
        timeout: Duration = .seconds(60),
        _ body: @Sendable (Target) async -> R
    ) async throws(ModuleFailure) -> R {
        let (session, now) = try usableTarget()
        generation += 1
        let mine = generation
        tracker.began(part, .initiating, percent: 0)
        drop()
        state.change(
            to: .connecting(
                name: session.name,
                serial: session.serial.text,
                .firmwareUpdateOngoing
            )
        )
        await link?.close()
        let result = await body(now)
        updated()
        guard mine == generation else { return result }
        _ = await failure(
            making: mine,
            before: time.now.advanced(by: timeout),
            " after its update"
        )
        return result
    }

    /// Reports the progress of an update that another part of the program does on this module.
    func updating(_ part: String, _ step: ModuleUpdateStatus.Step, percent: Double) {
        tracker.began(part, step, percent: percent)
        update.change(to: tracker.status)
    }

    /// The upload is over; the running version is known after the next connection.
    func updated() {
        tracker.ended()
        update.change(to: tracker.status)
    }
}

extension Moment {
    /// Later than every deadline.
    static let distant = Moment(nanoseconds: .max)
}
