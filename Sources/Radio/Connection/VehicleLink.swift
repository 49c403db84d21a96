package import Base

/// The one owner of the link to a vehicle's module: it looks for the module, connects, opens, keeps
/// and closes, for steps, updates, `watch`, inventories, enrolment and the library alike.
///
/// There is at most one link. Its users ask for what is open and hold no link of their own. Each
/// user decides how long a search lasts, what happens between two searches, and what outlives the
/// process.
package final class VehicleLink {
    /// What the link reaches.
    private enum State {
        case closed
        /// Connected, but neither an application nor a bootloader is open yet.
        case connected(any Link)
        case application(any ModuleApplication, any Link)
        case bootloader(any ImageReceiver)
    }

    /// How long to look for other modules with the same serial, after one has refused our secret.
    package static let lookForOthers = Duration.seconds(5)

    package let serial: Serial
    /// The adapter may change between two links.
    private let adapter: () -> any Central
    package let time: any Timekeeper
    private let bond: BondPolicy
    private let connectLimit: Duration
    private var state = State.closed
    /// The peer of the last link, and its adapter: there the host still remembers what it learned of it.
    private var met: (peer: Peer, by: any Central)?
    private var suspicion: [Peer: SecretSuspicion] = [:]
    /// Modules that claim the vehicle's serial; there may be more than one.
    private var claimants: Claimants
    /// Claimants that are not tried again.
    private var impostors: Set<Peer> = []

    /// `central` is evaluated whenever a link is made.
    package init(
        to serial: Serial,
        _ central: @autoclosure @escaping () -> any Central,
        _ time: any Timekeeper,
        bond: BondPolicy = .unbonded,
        connectingFor connectLimit: Duration = .seconds(30)
    ) {
        self.serial = serial
        adapter = central
        self.time = time
        self.bond = bond
        self.connectLimit = connectLimit
        claimants = Claimants(serial: serial)
    }

    private var central: any Central { adapter() }

    // MARK: State

    package var isOpen: Bool { application != nil || receiver != nil }

    /// The program that the module runs.
    package var application: (any ModuleApplication)? {
        if case .application(let application, _) = state { return application }
        return nil
    }

    /// The receiver of images on the open link: a bootloader, or the application itself.
    package var receiver: (any ImageReceiver)? {
        switch state {
        case .closed, .connected: nil
        case .application(let application, _): application.receiver
        case .bootloader(let receiver): receiver
        }
    }

    /// The link below what is open, for characteristics that no family owns.
    package var radio: (any Link)? {
        switch state {
        case .closed, .bootloader: nil
        case .connected(let link), .application(_, let link): link
        }
    }

    // MARK: Seek

    /// Listens for the module in either role; nil when it was not heard in time.
    ///
    /// Modules that refused our secret come last: others with the same serial are looked for first.
    package func seek(
        _ recogniser: ModuleRecogniser,
        bootloader place: Peer? = nil,
        before deadline: Moment,
        isLooking: @Sendable () -> Void = {},
        unless isStopped: @Sendable () -> Bool
    ) async throws(RadioError) -> ModuleSighting? {
        // The same address may belong to another program by now, with other services.
        await forget()
        let seeker = ModuleSeeker(central: central, time: time)
        func look(
            avoiding peers: Set<Peer>,
            before end: Moment
        ) async throws(RadioError) -> ModuleSighting? {
            try await seeker.seek(
                serial,
                by: recogniser,
                bootloader: place,
                avoiding: peers,
                before: end,
                isLooking: isLooking,
                unless: isStopped
            )
        }
        // A link that is lost during authentication counts as a refusal, so the module that has
        // accepted the secret, before or since, is no suspect.
        let suspects = Set(claimants.refused.filter { $0 != claimants.opened })
        let least = min(time.now.duration(to: deadline), ReturnPause.look)
        if !suspects.isSubset(of: impostors) {
            let end = min(deadline, time.now.advanced(by: Self.lookForOthers))
            if let other = try await look(avoiding: suspects, before: end) { return other }
        }
        // While no module has accepted the secret, suspects get a look too, even if the time is
        // over.
        let end = max(deadline, time.now.advanced(by: claimants.opened == nil ? least : .zero))
        return try await look(avoiding: impostors, before: end)
    }

    // MARK: Connect

    /// Connects to the module that was heard.
    package func connect(to sighting: ModuleSighting) async throws(RadioError) {
        try await connect(to: sighting.peer, as: sighting.role)
    }

    package func connect(
        to peer: Peer,
        as role: ModuleRole = .application,
        before end: Moment? = nil
    ) async throws(RadioError) {
        let central = central
        met = (peer, central)
        // A bootloader knows at most the bond of its application, and never makes one.
        let bond = role == .application ? bond : .unbonded
        let deadline = end ?? time.now.advanced(by: connectLimit)
        state = .connected(try await central.connect(to: peer, bond, before: deadline))
    }

    // MARK: Open

    /// Opens the application on the link: authenticates where the family requires it.
    package func openApplication(by driver: any UpdateDriver) async throws(ModuleError) {
        let link = try connected()
        do throws(ModuleError) {
            state = .application(try await driver.application(on: link, time: time), link)
            suspicion[link.peer] = nil
            claimants.opens(link.peer)
        } catch {
            await close()
            throw error
        }
    }

    /// Opens the bootloader on the link.
    package func openBootloader(by driver: any UpdateDriver) async throws(ModuleError) {
        let link = try connected()
        do throws(ModuleError) {
            state = .bootloader(try await driver.receiver(on: link, time: time))
        } catch {
            await close()
            throw error
        }
    }

    func connected() throws(ModuleError) -> any Link {
        guard case .connected(let link) = state else { throw .radio(.linkLost) }
        return link
    }

    /// The open application; if there is none, finds the module, connects to it and opens it.
    package func present(
        _ driver: any UpdateDriver,
        before deadline: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> any ModuleApplication {
        if let application { return application }
        _ = try await reach(driver.recogniser, before: deadline, unless: isStopped)
        try await openApplication(by: driver)
        guard let application else { throw .radio(.linkLost) }
        return application
    }

    // MARK: Close

    /// Closes the link, whatever is open on it.
    package func close() async {
        let open = state
        state = .closed
        switch open {
        case .closed: break
        case .connected(let link): await link.disconnect()
        case .application(let application, _): await application.disconnect()
        case .bootloader(let receiver): await receiver.disconnect()
        }
    }

    /// Records that the link is already lost.
    package func forgetLink() { state = .closed }

    /// Closes the link after the last use of the module, and makes the host forget it.
    package func leave() async {
        await close()
        await forget()
    }

    /// Makes the host drop its data about the module, which would otherwise accumulate.
    package func forget() async {
        guard let met else { return }
        self.met = nil
        await met.by.forget(met.peer)
    }

    // MARK: Secrets

    /// What the module's refusal means for our secret.
    ///
    /// A module that refuses it twice is not asked a third time.
    package func suspects(_ error: ModuleError) -> SecretSuspicion.Judgement {
        let peer = met?.peer ?? Peer(handle: "")
        if error.secret != nil { claimants.refuses(peer) }
        let judgement = suspicion[peer, default: SecretSuspicion()].failed(error.secret)
        if judgement == .wrongKey { impostors.insert(peer) }
        return judgement
    }

    /// Call this when the secret has changed: all modules are tried again.
    package func trustAgain() {
        (suspicion, impostors) = ([:], [])
        claimants = Claimants(serial: serial)
    }

    /// The sentence for reports when more than one module claims the serial; nil otherwise.
    package var claims: String? { claimants.sentence }
}
