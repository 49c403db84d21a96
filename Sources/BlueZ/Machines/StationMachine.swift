package import Domain

/// What is registered at an adapter in our name, kept as it is wanted: a table of services and an
/// advertisement.
///
/// One call at a time. Tables and advertisements go by numbers: another number is another one.
package struct StationMachine: Equatable {
    package enum Step: Equatable, Sendable {
        case register(Int)
        case unregister(Int)
        case advertise(Int)
        case withdraw(Int)
    }

    package enum Action: Equatable {
        case perform(Step)
        /// The step was refused: it is not tried again unless something else is wanted.
        case refused(Step, BlueZRefusal)
        /// All is as it is wanted.
        case settled
        case note(BlueZNote)
    }

    private struct Advertised: Equatable {
        let number: Int
        let since: Moment
    }

    /// How soon a slot is asked for again that others have taken.
    private static let slotPause = Duration.seconds(1)
    /// How long an advertisement that was dropped is not made again: perhaps the adapter goes off,
    /// which is reported soon.
    private static let dropPause = Duration.milliseconds(500)

    private let word: String
    /// How long an advertisement stays up before it is made again; nil means forever.
    private let round: Duration?
    private var wantedTable: Int?
    private var wantedAdvertisement: Int?
    private var table: Int?
    private var advertisement: Advertised?
    private var step: Step?
    private var isUsable = true
    /// Not asked for again before this moment.
    private var pausedUntil: Moment?
    private var refused: Step?
    private var hasNoted = false
    /// While somebody is there, what he came for is left alone.
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

    /// Whether nothing stands and nothing is under way.
    package var isBare: Bool { table == nil && advertisement == nil && step == nil }

    package var isAdvertising: Bool { advertisement != nil }
    /// Whether what is wanted now was on the air at all, or others have all slots.
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
        // Else it is the answer to a call of before.
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
            // Slots become free again when others end.
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

    /// BlueZ or the adapter went: nothing stands any more.
    package mutating func voided() {
        isUsable = false
        table = nil
        advertisement = nil
        step = nil
        refused = nil
        pausedUntil = nil
    }

    /// They are back.
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

    // MARK: What follows

    private mutating func settle(at now: Moment) -> [Action] {
        guard isUsable, step == nil, pausedUntil == nil else { return [] }
        // What is advertised must be there: the advertisement goes first and comes last.
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
