package import Domain
package import Radio
package import Sessions

/// The one owner of the link to a vehicle's module: it looks for the module, connects, opens, keeps
/// and closes, for steps, updates, `watch`, inventories, enrolment and the library alike.
///
/// There is at most one link. Anyone who works with the module asks for what is open and holds no link
/// of its own. How long a search lasts, what happens between two of them, and what outlives the
/// process is decided by its user.
package final class VehicleLink {
    /// What is at the other end.
    private enum State {
        case closed
        /// Connected, and nobody has answered yet.
        case connected(any Link)
        case application(any ModuleApplication, any Link)
        case bootloader(any ImageReceiver)
    }

    /// How long others are looked for that bear the serial of one that did not take our secret.
    package static let lookForOthers = Duration.seconds(5)

    package let serial: Serial
    /// A vehicle may be given another adapter between two links.
    private let adapter: () -> any Central
    package let time: any Timekeeper
    private let bond: BondPolicy
    private let connectLimit: Duration
    private var state = State.closed
    /// With whom there was a link: the host remembers what it was then.
    private var met: Peer?
    private var suspicion: [Peer: SecretSuspicion] = [:]
    /// Two modules may say that they are the vehicle's.
    private var claimants: Claimants
    /// Those of them that are not asked again.
    private var impostors: Set<Peer> = []

    /// `central` is asked for whenever a link is to be made.
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

    // MARK: What is open

    package var isOpen: Bool { application != nil || receiver != nil }

    /// The program that the module runs.
    package var application: (any ModuleApplication)? {
        if case .application(let application, _) = state { return application }
        return nil
    }

    /// Who takes an image on the open link: a bootloader, or the application itself.
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

    /// Hears the module in whichever role it is; nil when it was not heard in time.
    ///
    /// Who did not take our secret yields to others that bear its serial, where there are any.
    package func seek(
        _ recogniser: ModuleRecogniser,
        bootloader place: Peer? = nil,
        before deadline: Moment,
        isLooking: @Sendable () -> Void = {},
        unless isStopped: @Sendable () -> Bool
    ) async throws(RadioError) -> ModuleSighting? {
        // With the same address it may be another program by now, with other services.
        await forget()
        let seeker = ModuleSeeker(central: central, time: time)
        // Its link may have been lost just then, so who has taken it before or since is none of them.
        let suspects = Set(claimants.refused.filter { $0 != claimants.opened })
        let least = min(time.now.duration(to: deadline), ReturnPause.look)
        if !suspects.isSubset(of: impostors) {
            let look = min(deadline, time.now.advanced(by: Self.lookForOthers))
            let other = try await seeker.seek(
                serial,
                by: recogniser,
                bootloader: place,
                avoiding: suspects,
                before: look,
                isLooking: isLooking,
                unless: isStopped
            )
            if let other { return other }
        }
        // As long as none has taken it, a short look is not spent on others alone.
        let end = max(deadline, time.now.advanced(by: claimants.opened == nil ? least : .zero))
        return try await seeker.seek(
            serial,
            by: recogniser,
            bootloader: place,
            avoiding: impostors,
            before: end,
            isLooking: isLooking,
            unless: isStopped
        )
    }

    // MARK: Connect

    /// Connects to what was heard.
    package func connect(to sighting: ModuleSighting) async throws(RadioError) {
        try await connect(to: sighting.peer, as: sighting.role)
    }

    package func connect(
        to peer: Peer,
        as role: ModuleRole = .application,
        before end: Moment? = nil
    ) async throws(RadioError) {
        met = peer
        // A bootloader knows the bond of its application at most: it makes none.
        let bond = role == .application ? bond : .unbonded
        let deadline = end ?? time.now.advanced(by: connectLimit)
        state = .connected(try await central.connect(to: peer, bond, before: deadline))
    }

    // MARK: Open

    /// Opens the application at the other end: authenticates where the family asks for it.
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

    /// Opens the bootloader at the other end.
    package func openBootloader(by driver: any UpdateDriver) async throws(ModuleError) {
        let link = try connected()
        do throws(ModuleError) {
            state = .bootloader(try await driver.receiver(on: link, time: time))
        } catch {
            await close()
            throw error
        }
    }

    private func connected() throws(ModuleError) -> any Link {
        guard case .connected(let link) = state else { throw .radio(.linkLost) }
        return link
    }

    /// The open application; without one the module is looked for, connected to and opened.
    package func present(
        _ driver: any UpdateDriver,
        before deadline: Moment,
        unless isStopped: @Sendable () -> Bool
    ) async throws(ModuleError) -> any ModuleApplication {
        if let application { return application }
        do throws(RadioError) {
            let found = try await seek(driver.recogniser, before: deadline, unless: isStopped)
            guard let found else { throw RadioError.timedOut }
            try await connect(to: found)
        } catch { throw .radio(error) }
        try await openApplication(by: driver)
        guard let application else { throw .radio(.linkLost) }
        return application
    }

    // MARK: Close

    /// Ends our side of the link, whichever it is.
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

    /// The link is gone already.
    package func forgetLink() { state = .closed }

    /// Has the host drop what it keeps about the module, which would pile up else.
    package func forget() async {
        guard let peer = met else { return }
        met = nil
        await central.forget(peer)
    }

    // MARK: Secrets

    /// What the module's refusal to be opened says about our secret: one that refuses it twice is
    /// not asked a third time.
    package func suspects(_ error: ModuleError) -> SecretSuspicion.Judgement {
        let peer = met ?? Peer(handle: "")
        if error.secret != nil { claimants.refuses(peer) }
        let judgement = suspicion[peer, default: SecretSuspicion()].failed(error.secret)
        if judgement == .wrongKey { impostors.insert(peer) }
        return judgement
    }

    /// From now on the module is opened by another secret.
    package func trustAgain() {
        (suspicion, impostors) = ([:], [])
        claimants = Claimants(serial: serial)
    }

    /// What a report says when more than one module claims the serial; nil otherwise.
    package var claims: String? { claimants.sentence }
}
