package import Base
package import Radio

/// Decides what happens at one adapter: who scans, who connects, and what to do when it hears
/// nothing.
///
/// Only one connection attempt runs at a time. The scan is stopped during the attempt, unless the
/// module must be heard first.
package struct AdapterMachine: Equatable {
    /// The operator's settings for an adapter.
    package struct Rules: Equatable, Sendable {
        /// The most simultaneous links.
        package var links = 7
        /// How long a scan may hear nothing before the machine acts on it.
        package var silence = Duration.seconds(30)
        /// Whether a deaf adapter may be switched off and on.
        package var mayCyclePower = true
        /// How long to wait for the scan to stop before connecting.
        package var quiet = Duration.seconds(3)

        package init() {}
    }

    /// Identifies a user that scans or wants to connect.
    package typealias Ticket = UInt64

    package enum Action: Equatable {
        case perform(ScannerMachine.Step)
        /// Ends all scans with this error.
        case endScans(RadioError)
        /// Begins the attempt of this ticket.
        case admit(Ticket)
        case refuse(Ticket, RadioError)
        case note(BlueZNote)
    }

    /// The current turn to connect.
    package enum Turn: Equatable {
        /// No attempt is running.
        ///
        /// Next: `resting`.
        case free
        /// The scan is being stopped for the ticket, at the latest until this moment.
        ///
        /// Next: `connecting`, `free`.
        case resting(Ticket, until: Moment)
        /// The scan is stopped, or it runs because the module must be heard.
        ///
        /// Next: `free`.
        case connecting(Ticket, hearing: Bool)
    }

    private let word: String
    private let rules: Rules
    package private(set) var scanner = ScannerMachine()
    private var ladder = WatchdogLadder()
    package private(set) var cap: LinkCap
    package private(set) var turn = Turn.free
    private var queue: [Ticket] = []
    private var scans: Set<Ticket> = []
    /// The last time at which an advertisement was heard, the scan began, or the machine acted on
    /// silence; nil while no scan runs.
    private var quietSince: Moment?
    /// The number of our open links.
    private var links = 0
    /// Consecutive attempts in which a module's services were not found, by its address.
    private var unresolved: [String: Int] = [:]
    /// Modules whose last attempt failed because of the keys of their bond.
    private var keyless: [String: Int] = [:]
    /// Whether a central is connected to a service of this program on the adapter.
    package var servesCentral = false

    /// `word` is the operator's name for the adapter.
    package init(_ word: String, rules: Rules = Rules()) {
        self.word = word
        self.rules = rules
        cap = LinkCap(rules.links)
    }

    /// The next moment at which `tick` is due; nil when only events have effects.
    package var deadline: Moment? {
        var moments: [Moment] = []
        if let quietSince { moments.append(quietSince.advanced(by: rules.silence)) }
        if case .resting(_, let until) = turn { moments.append(until) }
        return moments.min()
    }

    // MARK: Scans

    package mutating func scanBegan(_ scan: Ticket, at now: Moment) -> [Action] {
        scans.insert(scan)
        // The next `setFilter` also covers a scan that begins before it.
        return drive(scanner.filterChanged(), at: now) + settle(at: now)
    }

    package mutating func scanEnded(_ scan: Ticket, at now: Moment) -> [Action] {
        scans.remove(scan)
        return settle(at: now)
    }

    /// Whether advertisements are passed to the scans.
    package var isListening: Bool {
        switch turn {
        case .free: true
        case .resting: false
        case .connecting(_, let hearing): hearing
        }
    }

    package mutating func heard(at now: Moment) {
        guard quietSince != nil else { return }
        quietSince = now
        ladder.heard()
    }

    /// The current step has ended.
    package mutating func stepDone(
        _ refusal: BlueZRefusal?,
        isFree: Bool,
        at now: Moment
    ) -> [Action] {
        let action = scanner.done(refusal, mayCyclePower: mayCyclePower(isFree))
        return drive(action, at: now) + settle(at: now)
    }

    // MARK: The adapter itself

    /// Whether the adapter is present and switched on.
    package enum Presence: Equatable, Sendable { case missing, off, on }

    package mutating func changed(to presence: Presence, at now: Moment) -> [Action] {
        switch presence {
        case .on: return []
        case .missing: return lost(.adapterMissing, at: now)
        case .off:
            switch scanner.state {
            // The machine itself has switched it off.
            case .doing(.powerOff), .doing(.powerOn): return []
            case .off, .on, .doing: return lost(.adapterOff, at: now)
            }
        }
    }

    /// The adapter is off or missing, or BlueZ is gone: all scans end; connection attempts notice
    /// this themselves.
    package mutating func lost(_ error: RadioError, at now: Moment) -> [Action] {
        scanner.lost()
        quietSince = nil
        let hadScans = !scans.isEmpty
        scans = []
        return (hadScans ? [.endScans(error)] : []) + settle(at: now)
    }

    // MARK: Connecting

    package mutating func wantsToConnect(_ ticket: Ticket, at now: Moment) -> [Action] {
        queue.append(ticket)
        return settle(at: now)
    }

    /// The host does not know the module, so the attempt must hear it with the scan on.
    package mutating func mustHear(_ ticket: Ticket, at now: Moment) -> [Action] {
        guard turn == .connecting(ticket, hearing: false) else { return [] }
        turn = .connecting(ticket, hearing: true)
        return drive(scanner.filterChanged(), at: now) + settle(at: now)
    }

    /// Whether the scan must find a module for a connection attempt, and so must not filter.
    package var hearsForConnecting: Bool {
        if case .connecting(_, hearing: true) = turn { return true }
        return false
    }

    /// The attempt of the ticket has ended, whether or not it had begun.
    package mutating func attemptEnded(_ ticket: Ticket, at now: Moment) -> [Action] {
        queue.removeAll { $0 == ticket }
        switch turn {
        case .resting(ticket, _), .connecting(ticket, _): turn = .free
        case .free, .resting, .connecting: break
        }
        return settle(at: now)
    }

    /// A link was established.
    package mutating func linked(_ module: String, at now: Moment) {
        links += 1
        cap.connected(module, as: links, at: now)
        unresolved[module] = nil
        keyless[module] = nil
    }

    package mutating func unlinked(at now: Moment) {
        cap.carries(links, at: now)
        links -= 1
    }

    /// No link was established.
    package mutating func failed(
        _ module: String,
        _ error: RadioError,
        at now: Moment
    ) -> [Action] {
        switch error {
        case .noFreeLink:
            guard cap.refused(beside: links, at: now) else { return [] }
            return [.note(.limitLearned(adapter: word, links: cap.limit))]
        case .connectFailed:
            guard cap.failed(module, beside: links, at: now) else { return [] }
            return [.note(.limitGuessed(adapter: word, links: cap.limit))]
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized, .servicesRefused,
            .linkLost, .heldByAnother, .bond, .timedOut, .missingService, .missingCharacteristic,
            .att, .tooLong, .cancelled:
            return []
        }
    }

    /// The services of a module were not found; returns true when the host should forget the
    /// module.
    package mutating func servicesMissed(_ module: String) -> Bool {
        let count = unresolved[module, default: 0] + 1
        unresolved[module] = count < 3 ? count : nil
        return count == 3
    }

    /// A link was lost when it should have been encrypted; returns true the third consecutive
    /// time: at the edge of its range, a module loses links just so.
    package mutating func keysMissed(_ module: String) -> Bool {
        let count = keyless[module, default: 0] + 1
        keyless[module] = count < 3 ? count : nil
        return count == 3
    }

    /// An attempt failed in a way that does not speak of keys.
    package mutating func keysUntried(_ module: String) { keyless[module] = nil }

    // MARK: Time

    package mutating func tick(at now: Moment, isFree: Bool) -> [Action] {
        var actions: [Action] = []
        if case .resting(let ticket, let until) = turn, until <= now {
            // A stop that hangs must not block connecting.
            turn = .connecting(ticket, hearing: false)
            actions.append(.admit(ticket))
        }
        if let since = quietSince, since.advanced(by: rules.silence) <= now, scanner.isOn {
            quietSince = now
            switch ladder.silent(mayCyclePower: mayCyclePower(isFree)) {
            case .restartScan:
                actions.append(.note(.scanRestarted(adapter: word)))
                actions += drive(scanner.restart(), at: now)
            case .cyclePower: actions += drive(scanner.cyclePower(), at: now)
            case .report: actions.append(.note(.deaf(adapter: word)))
            case nil: break
            }
        }
        return actions + settle(at: now)
    }

    // MARK: Consequences

    private func mayCyclePower(_ isFree: Bool) -> Bool {
        rules.mayCyclePower && !servesCentral && isFree
    }

    private var wantsScan: Bool {
        switch turn {
        case .free: !scans.isEmpty
        case .resting: false
        case .connecting(_, let hearing): hearing
        }
    }

    private mutating func settle(at now: Moment) -> [Action] {
        var actions = drive(scanner.want(wantsScan), at: now)
        if turn == .free, !queue.isEmpty {
            let ticket = queue.removeFirst()
            if servesCentral {
                actions += [
                    .note(.adapterServesACentral(adapter: word)), .refuse(ticket, .noFreeLink),
                ]
                return actions + settle(at: now)
            }
            guard cap.hasRoom(beside: links, at: now) else {
                return actions + [.refuse(ticket, .noFreeLink)] + settle(at: now)
            }
            turn = .resting(ticket, until: now.advanced(by: rules.quiet))
            actions += drive(scanner.want(false), at: now)
        }
        if case .resting(let ticket, _) = turn, scanner.isOff {
            turn = .connecting(ticket, hearing: false)
            actions.append(.admit(ticket))
        }
        return actions
    }

    private mutating func drive(_ action: ScannerMachine.Action, at now: Moment) -> [Action] {
        quietSince = scanner.isOn ? quietSince ?? now : nil
        switch action {
        case .nothing: return []
        case .perform(let step):
            let isPowerOff = step == .powerOff
            return (isPowerOff ? [.note(.powerCycled(adapter: word))] : []) + [.perform(step)]
        case .fail(let error):
            guard !scans.isEmpty else { return [] }
            scans = []
            return [.endScans(error)]
        }
    }
}
