package import Domain
package import Radio

/// What goes on at one adapter: who scans, who connects, and whether it hears anything.
///
/// Connecting is done by one at a time, with the scan at rest unless the module has to be heard
/// first.
package struct AdapterMachine: Equatable {
    /// What the operator decides about an adapter.
    package struct Rules: Equatable, Sendable {
        /// The most links at once.
        package var links = 7
        /// How long a scan may hear nothing before something is done about it.
        package var silence = Duration.seconds(30)
        /// Whether a deaf adapter may be switched off and on.
        package var mayCyclePower = true
        /// How long a stop of the scan is waited for before connecting.
        package var quiet = Duration.seconds(3)

        package init() {}
    }

    /// Names one who scans or wants to connect.
    package typealias Ticket = UInt64

    package enum Action: Equatable {
        case perform(ScannerMachine.Step)
        /// All scans end with this.
        case endScans(RadioError)
        /// The ticket's attempt begins.
        case admit(Ticket)
        case refuse(Ticket, RadioError)
        case note(BlueZNote)
    }

    /// Whose turn it is to connect.
    package enum Turn: Equatable {
        /// Nobody's. Next: `resting`.
        case free
        /// The scan is being stopped for the ticket, until a moment. Next: `connecting`, `free`.
        case resting(Ticket, until: Moment)
        /// The scan rests, or is on because the module has to be heard. Next: `free`.
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
    /// When the last advertisement was heard, the scan began, or something was done about its
    /// silence; nil while none is on.
    private var quietSince: Moment?
    /// Links of ours that stand.
    private var links = 0
    /// Attempts in a row that failed for the services of a module, by its address.
    private var unresolved: [String: Int] = [:]
    /// Modules whose last attempt broke off on the keys of their bond.
    private var keyless: Set<String> = []
    /// Whether a central is connected to a service of ours here.
    package var servesCentral = false

    /// An adapter by the operator's word for it.
    package init(_ word: String, rules: Rules = Rules()) {
        self.word = word
        self.rules = rules
        cap = LinkCap(rules.links)
    }

    /// The next moment at which something is to be done; nil when only events bring it on.
    package var deadline: Moment? {
        var moments: [Moment] = []
        if let quietSince { moments.append(quietSince.advanced(by: rules.silence)) }
        if case .resting(_, let until) = turn { moments.append(until) }
        return moments.min()
    }

    // MARK: Scans

    package mutating func scanBegan(_ scan: Ticket, at now: Moment) -> [Action] {
        scans.insert(scan)
        // A scan whose filter is about to be set takes the new one's wishes in.
        return drive(scanner.filterChanged(), at: now) + settle(at: now)
    }

    package mutating func scanEnded(_ scan: Ticket, at now: Moment) -> [Action] {
        scans.remove(scan)
        return settle(at: now)
    }

    /// Whether what is heard is offered to those who scan.
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

    /// The step under way has ended.
    package mutating func stepDone(
        _ refusal: BlueZRefusal?,
        isFree: Bool,
        at now: Moment
    ) -> [Action] {
        let action = scanner.done(refusal, mayCyclePower: mayCyclePower(isFree))
        return drive(action, at: now) + settle(at: now)
    }

    // MARK: The adapter itself

    /// Whether the adapter is there and switched on.
    package enum Presence: Equatable, Sendable { case missing, off, on }

    package mutating func changed(to presence: Presence, at now: Moment) -> [Action] {
        switch presence {
        case .on: return []
        case .missing: return lost(.adapterMissing, at: now)
        case .off:
            switch scanner.state {
            // Our own doing.
            case .doing(.powerOff), .doing(.powerOn): return []
            case .off, .on, .doing: return lost(.adapterOff, at: now)
            }
        }
    }

    /// It is off, gone, or BlueZ is: all who scan are told; who connects finds out by itself.
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

    /// The host does not know the module: it is heard with the scan on.
    package mutating func mustHear(_ ticket: Ticket, at now: Moment) -> [Action] {
        guard turn == .connecting(ticket, hearing: false) else { return [] }
        turn = .connecting(ticket, hearing: true)
        return drive(scanner.filterChanged(), at: now) + settle(at: now)
    }

    /// Whether the scan serves somebody who connects, and so must let everything through.
    package var hearsForConnecting: Bool {
        if case .connecting(_, hearing: true) = turn { return true }
        return false
    }

    /// The ticket's attempt is over, whether or not it had begun.
    package mutating func attemptEnded(_ ticket: Ticket, at now: Moment) -> [Action] {
        queue.removeAll { $0 == ticket }
        switch turn {
        case .resting(ticket, _), .connecting(ticket, _): turn = .free
        case .free, .resting, .connecting: break
        }
        return settle(at: now)
    }

    /// A link has come up.
    package mutating func linked(_ module: String) {
        cap.connected()
        unresolved[module] = nil
        keyless.remove(module)
        links += 1
    }

    package mutating func unlinked() { links -= 1 }

    /// No link came about.
    package mutating func failed(
        _ module: String,
        _ error: RadioError,
        at now: Moment
    ) -> [Action] {
        let isNews: Bool
        switch error {
        case .noFreeLink: isNews = cap.refused(beside: links, at: now)
        case .connectFailed: isNews = cap.failed(module, beside: links, at: now)
        case .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized, .linkLost,
            .heldByAnother, .bond, .timedOut, .missingService, .missingCharacteristic, .att,
            .tooLong, .cancelled:
            isNews = false
        }
        return isNews ? [.note(.limitLearned(adapter: word, links: cap.limit))] : []
    }

    /// The services of a module were not found; true when the host had better forget it.
    package mutating func servicesMissed(_ module: String) -> Bool {
        let count = unresolved[module, default: 0] + 1
        unresolved[module] = count < 3 ? count : nil
        return count == 3
    }

    /// A link broke off when it should have been encrypted; true at the second time in a row.
    package mutating func keysMissed(_ module: String) -> Bool {
        guard keyless.insert(module).inserted else {
            keyless.remove(module)
            return true
        }
        return false
    }

    // MARK: Time

    package mutating func tick(at now: Moment, isFree: Bool) -> [Action] {
        var actions: [Action] = []
        if case .resting(let ticket, let until) = turn, until <= now {
            // A stop that hangs must not keep us from connecting.
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

    // MARK: What follows

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
