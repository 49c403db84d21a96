package import Base

/// Decides when rights are renewed, and when work on a module must end because they are not.
///
/// It uses the gateway's own clock, which continues while the machine sleeps, and counts from
/// before each request was sent: here a right ends earlier than at the server, never later.
package struct LeaseKeeper: Sendable {
    package enum State: Sendable, Equatable {
        /// Renewed in time. Next: `ending`, `lost`.
        case held(until: Moment)
        /// Work was asked to end at its safe point; a renewal only gives it more time. Next:
        /// `lost`.
        case ending(until: Moment)
        /// Over: the link is closed and nothing more is sent. Next: removed, when work has ended.
        case lost
    }

    package enum Action: Sendable, Equatable {
        case renew([FleetLease])
        /// The work on the module is to end at its next safe point.
        case rest(Serial)
        /// The link to the module is to be closed immediately.
        case cut(Serial)
    }

    private struct Entry: Sendable, Equatable {
        let lease: FleetLease
        var state: State
    }

    private let terms: LeaseTerms
    private var entries: [Serial: Entry] = [:]
    /// Whether a renewal is under way.
    private var isAsking = false
    private var nextBeat: Moment?
    /// The pause before the next renewal if this one is not answered.
    private var pause: Duration

    package init(_ terms: LeaseTerms) {
        self.terms = terms
        pause = Self.shortestPause
    }

    private static let shortestPause = Duration.seconds(1)

    package func state(of serial: Serial) -> State? { entries[serial]?.state }
    package var isEmpty: Bool { entries.isEmpty }

    /// A right was granted by a request that was sent at `sent`.
    package mutating func granted(_ lease: FleetLease, sent: Moment) {
        entries[lease.serial] = Entry(lease: lease, state: .held(until: end(sent)))
        if nextBeat == nil { nextBeat = sent.advanced(by: terms.beat) }
    }

    /// Work on the module has ended, and its right is given back or lost.
    package mutating func ended(_ serial: Serial) {
        entries[serial] = nil
        if entries.isEmpty {
            nextBeat = nil
            pause = Self.shortestPause
        }
    }

    /// When `tick` has something to do; nil while nothing is held.
    package var next: Moment? {
        var moments = entries.values.compactMap { entry -> Moment? in
            switch entry.state {
            case .held(let until): until.advanced(by: .zero - terms.reserve)
            case .ending(let until): until
            case .lost: nil
            }
        }
        if !isAsking, let nextBeat, hasLive { moments.append(nextBeat) }
        return moments.min()
    }

    package mutating func tick(_ now: Moment) -> [Action] {
        var actions: [Action] = []
        for serial in entries.keys.sorted(by: { $0.text < $1.text }) {
            guard var entry = entries[serial] else { continue }
            switch entry.state {
            case .held(let until):
                if until <= now {
                    entry.state = .lost
                    actions.append(.cut(serial))
                } else if until.advanced(by: .zero - terms.reserve) <= now {
                    entry.state = .ending(until: until)
                    actions.append(.rest(serial))
                }
            case .ending(let until):
                if until <= now {
                    entry.state = .lost
                    actions.append(.cut(serial))
                }
            case .lost: break
            }
            entries[serial] = entry
        }
        if !isAsking, let nextBeat, nextBeat <= now, hasLive {
            isAsking = true
            actions.append(.renew(live))
        }
        return actions
    }

    /// The renewal that was sent at `sent` was answered: a lease that is not in the answer is lost.
    package mutating func renewed(
        _ kept: Set<FleetLease>,
        of asked: [FleetLease],
        sent: Moment
    ) -> [Action] {
        isAsking = false
        pause = Self.shortestPause
        nextBeat = sent.advanced(by: terms.beat)
        var actions: [Action] = []
        for lease in asked {
            // Ended meanwhile, or granted again.
            guard var entry = entries[lease.serial], entry.lease == lease else { continue }
            switch (entry.state, kept.contains(lease)) {
            case (.held, true): entry.state = .held(until: end(sent))
            case (.ending, true): entry.state = .ending(until: end(sent))
            case (.held, false), (.ending, false):
                entry.state = .lost
                actions.append(.cut(lease.serial))
            // The link was closed already, and its work was ended.
            case (.lost, _): break
            }
            entries[lease.serial] = entry
        }
        return actions
    }

    /// The renewal was not answered: it is tried again after a pause, which grows.
    package mutating func unanswered(_ now: Moment) {
        isAsking = false
        nextBeat = now.advanced(by: pause)
        pause = min(pause * 2, terms.beat)
    }

    private func end(_ sent: Moment) -> Moment {
        sent.advanced(by: terms.length - terms.margin)
    }

    private var hasLive: Bool { entries.values.contains { $0.state != .lost } }

    private var live: [FleetLease] {
        entries.values.filter { $0.state != .lost }.map(\.lease)
            .sorted { $0.serial.text < $1.serial.text }
    }
}
