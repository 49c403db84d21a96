package import Base

/// Keeps our registrations at an adapter up to date: a table of services and an advertisement.
///
/// One call runs at a time. Tables and advertisements are identified by numbers: a new number means
/// a new one.
package struct StationMachine: Equatable {
    package enum Step: Equatable, Sendable {
        case register(Int)
        case unregister(Int)
        case advertise(Int)
        case withdraw(Int)
    }

    package enum Action: Equatable {
        case perform(Step)
        /// The step was refused: it is not repeated unless the wishes change.
        case refused(Step, BlueZRefusal)
        /// All registrations are as requested.
        case settled
        case note(BlueZNote)
    }

    private struct Advertised: Equatable {
        let number: Int
        let since: Moment
    }

    /// How soon to try again when other programs have taken all slots.
    static let slotPause = Duration.seconds(1)
    /// How long to wait before an advertisement that BlueZ dropped is registered again: the adapter
    /// may be going off, which BlueZ reports soon after.
    private static let dropPause = Duration.milliseconds(500)

    private let word: String
    /// How long an advertisement stays registered before it is registered again; nil means without
    /// limit.
    private let round: Duration?
    private var wantedTable: Int?
    private var wantedAdvertisement: Int?
    private var table: Int?
    private var advertisement: Advertised?
    private var step: Step?
    private var isUsable = true
    /// No call is made before this moment.
    private var pausedUntil: Moment?
    private var refused: Step?
    private var hasNoted = false
    /// While a central is connected, its advertisement is not registered again.
    package var isVisited = false

    package init(_ word: String, round: Duration?) {
        self.word = word
        self.round = round
    }

    package var deadline: Moment? {
        if let pausedUntil { return pausedUntil }
        guard let round, !isVisited, let advertisement, step == nil else { return nil }
        return advertisement.since.advanced(by: round)
    }

    /// Whether nothing is registered and no call is running.
    package var isBare: Bool { table == nil && advertisement == nil && step == nil }

    package var isAdvertising: Bool { advertisement != nil }
    /// Whether the requested advertisement has been registered at least once; false while other
    /// programs have all slots.
    package private(set) var hasAdvertised = false

    // MARK: Events

    package mutating func want(
        table: Int?,
        advertisement: Int?,
        at now: Moment
    ) -> [Action] {
        if table != wantedTable || advertisement != wantedAdvertisement {
            refused = nil
            hasNoted = false
            hasAdvertised = false
            pausedUntil = nil
        }
        wantedTable = table
        wantedAdvertisement = advertisement
        return settle(at: now)
    }

    package mutating func done(
        _ step: Step,
        _ refusal: BlueZRefusal?,
        at now: Moment
    ) -> [Action] {
        // Otherwise it is the answer to an earlier call.
        guard self.step == step else { return [] }
        self.step = nil
        switch (step, refusal) {
        case (.register(let number), nil), (.register(let number), .alreadyExists):
            table = number
        case (.advertise(let number), nil), (.advertise(let number), .alreadyExists):
            advertisement = Advertised(number: number, since: now)
            hasAdvertised = true
        case (.unregister, _): table = nil
        case (.withdraw, _): advertisement = nil
        case (.advertise, .notPermitted), (.advertise, .inProgress):
            // Slots become free when other advertisements end.
            pausedUntil = now.advanced(by: Self.slotPause)
            guard !hasNoted, refusal == .notPermitted else { return [] }
            hasNoted = true
            return [.note(.advertisingSlotsTaken(adapter: word))]
        case (.register, .some(let reason)), (.advertise, .some(let reason)):
            refused = step
            return [.refused(step, reason)]
        }
        return settle(at: now)
    }

    /// BlueZ has dropped the advertisement.
    package mutating func released(at now: Moment) -> [Action] {
        advertisement = nil
        pausedUntil = now.advanced(by: Self.dropPause)
        return []
    }

    /// BlueZ or the adapter is gone, so nothing is registered.
    package mutating func voided() {
        isUsable = false
        table = nil
        advertisement = nil
        step = nil
        refused = nil
        pausedUntil = nil
    }

    /// BlueZ and the adapter are available again.
    package mutating func usable(at now: Moment) -> [Action] {
        isUsable = true
        return settle(at: now)
    }

    package mutating func tick(at now: Moment) -> [Action] {
        if let until = pausedUntil, until <= now { pausedUntil = nil }
        if let round, !isVisited, step == nil, let advertisement,
            advertisement.since.advanced(by: round) <= now
        {
            return begin(.withdraw(advertisement.number))
        }
        return settle(at: now)
    }

    // MARK: Consequences

    private mutating func settle(at now: Moment) -> [Action] {
        guard isUsable, step == nil, pausedUntil == nil else { return [] }
        // An advertised service must exist, so the advertisement is removed first and added last.
        if let advertisement, advertisement.number != wantedAdvertisement || table != wantedTable {
            return begin(.withdraw(advertisement.number))
        }
        if let table, table != wantedTable { return begin(.unregister(table)) }
        if table == nil, let wantedTable { return begin(.register(wantedTable)) }
        if advertisement == nil, let wantedAdvertisement {
            return begin(.advertise(wantedAdvertisement))
        }
        return [.settled]
    }

    private mutating func begin(_ step: Step) -> [Action] {
        guard step != refused else { return [] }
        self.step = step
        return [.perform(step)]
    }
}
