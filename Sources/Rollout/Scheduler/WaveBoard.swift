package import Base
package import Store

/// Decides which wave is active and whether the next one may begin, from the outcomes of vehicles.
///
/// Its inputs are verdicts and times, its outputs are actions. Nothing here waits or writes.
package struct WaveBoard: Sendable {
    /// The state of the current wave.
    package enum Phase: Equatable, Sendable {
        /// Its vehicles are worked on. Next: `soaking`, `checking`, `finished`.
        case working(Int)
        /// All have ended, and the soak time passes. Next: `checking`, `working`.
        case soaking(Int, until: WallTime)
        /// The outside check or a person's look is awaited. Next: `working`.
        case checking(Int)
        case finished
    }

    package enum Action: Equatable, Sendable {
        /// These vehicles may be begun from now on.
        case letIn([Int], wave: Int)
        /// The first vehicle was not reached: another one takes its place in the wave, and it
        /// waits.
        case replace(Int, by: Int, wave: Int)
        /// This wave has ended.
        case ended(wave: Int)
        case check(wave: Int)
        case pause(String)
        case abort(String)
    }

    /// The rules of a rollout that concern waves and gates.
    package struct Rules: Sendable {
        package var pause: PauseRule?
        package var advance: AdvanceRule?
        package var between = BetweenWaves()
        /// Whether the machines of a fleet decide together when the next wave begins.
        package var isShared = false

        package init(
            pause: PauseRule? = nil,
            advance: AdvanceRule? = nil,
            between: BetweenWaves = BetweenWaves()
        ) {
            self.pause = pause
            self.advance = advance
            self.between = between
        }
    }

    private let rules: Rules
    private let strata: [String]
    private var waveOf: [Int]
    private var tallies: [WaveTally]
    /// What each vehicle adds to the gate.
    private var shares: [GateCount]
    private var hasEnded: [Bool]
    private var wasReplaced: [Bool]
    private var isForgiven: [Bool]
    package private(set) var gate = GateCount()
    package private(set) var phase = Phase.working(0)
    /// The last wave that was let in.
    package private(set) var wave = -1
    private let beginning: Int
    private let soakedSince: WallTime?
    private var isTripped = false
    private var isHeld = false

    /// `beginning` is the last wave that an earlier run let in, `soakedSince` the time when it
    /// ended.
    package init(
        _ waves: [[Int]],
        strata: [String],
        rules: Rules,
        beginning: Int = 0,
        soakedSince: WallTime? = nil
    ) {
        self.rules = rules
        self.strata = strata
        self.beginning = min(beginning, max(waves.count - 1, 0))
        self.soakedSince = soakedSince
        let count = waves.reduce(0) { $0 + $1.count }
        waveOf = [Int](repeating: 0, count: count)
        tallies = waves.map { WaveTally(members: $0.count, open: $0.count) }
        shares = [GateCount](repeating: GateCount(), count: count)
        hasEnded = [Bool](repeating: false, count: count)
        wasReplaced = hasEnded
        isForgiven = hasEnded
        for (index, wave) in waves.enumerated() { for vehicle in wave { waveOf[vehicle] = index } }
    }

    package var waveCount: Int { tallies.count }

    package func wave(of vehicle: Int) -> Int { waveOf[vehicle] }

    /// Whether the vehicle has ended in this run.
    func hasVerdict(_ vehicle: Int) -> Bool { hasEnded[vehicle] }

    package func isLast(_ wave: Int) -> Bool { wave == tallies.count - 1 }

    /// How many vehicles may be under way without overshooting the gate.
    package func headroom(most: Int) -> Int {
        guard let rule = rules.pause else { return most }
        return gate.headroom(rule, most: most)
    }

    // MARK: Events

    /// The vehicle no longer counts at the gate: a person has looked at it.
    package mutating func forgive(_ vehicle: Int) { isForgiven[vehicle] = true }

    /// An outcome of an earlier run: it counts at the gate, and the vehicle has not ended.
    package mutating func remember(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool
    ) {
        share(of: vehicle, outcome, failure, touched)
    }

    /// A vehicle was done by an earlier run: its wave does not wait for it, and it is checked once
    /// more at the very end.
    package mutating func wasDone(_ vehicle: Int, _ outcome: Outcome) {
        let wave = waveOf[vehicle]
        tallies[wave].open -= 1
        tallies[wave].count(outcome, touched: false)
        waveOf[vehicle] = tallies.count - 1
        tallies[waveOf[vehicle]].open += 1
    }

    /// Lets in the waves up to the one that an earlier run had reached.
    package mutating func begin() -> [Action] {
        guard !tallies.isEmpty else {
            phase = .finished
            return []
        }
        wave = beginning
        phase = .working(wave)
        let letIn = (0...wave).map { wave in
            Action.letIn(waveOf.indices.filter { waveOf[$0] == wave }, wave: wave)
        }
        // A part of the rollout, which sets no hold, may have failed as often as the gate allows.
        guard let trip else { return letIn }
        (isTripped, isHeld) = (true, true)
        return [trip] + letIn
    }

    /// Counts a verdict at the gate before it is written; returns the hold when the gate trips.
    ///
    /// So when two verdicts are written at the same time, the second one takes account of the
    /// first.
    package mutating func counts(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool
    ) -> Action? {
        guard !hasEnded[vehicle] else { return nil }
        share(of: vehicle, outcome, failure, touched)
        guard !isHeld, let trip else { return nil }
        isHeld = true
        return trip
    }

    /// A vehicle has its verdict.
    package mutating func verdict(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool
    ) -> [Action] {
        guard !hasEnded[vehicle] else { return [] }
        hasEnded[vehicle] = true
        share(of: vehicle, outcome, failure, touched)
        let wave = waveOf[vehicle]
        tallies[wave].open -= 1
        tallies[wave].count(outcome, touched: touched)
        guard !isTripped, let trip else { return [] }
        isTripped = true
        return [trip]
    }

    /// What the gate does now; nil while it does not trip.
    private var trip: Action? {
        guard let trip = rules.pause.flatMap({ gate.tripped($0) }) else { return nil }
        return trip.kind == .aborted ? .abort(trip.reason) : .pause(trip.reason)
    }

    private mutating func share(
        of vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        _ touched: Bool
    ) {
        guard let rule = rules.pause, !isForgiven[vehicle] else { return }
        var share = GateCount()
        share.count(outcome, failure, touched: touched, counting: rule.classes)
        gate = GateCount(
            attempted: gate.attempted - shares[vehicle].attempted + share.attempted,
            failed: gate.failed - shares[vehicle].failed + share.failed
        )
        shares[vehicle] = share
    }

    /// A vehicle that had ended is worked on again.
    package mutating func again(_ vehicle: Int) {
        guard hasEnded[vehicle] else { return }
        hasEnded[vehicle] = false
        tallies[waveOf[vehicle]].open += 1
        if case .finished = phase { phase = .working(wave) }
    }

    /// This vehicle is not heard: in a wave before the last one, another vehicle takes its place.
    ///
    /// The place goes to a vehicle of the same model from the nearest later wave, or of any model
    /// when there is none of the same. Nil when the wave has to wait for this vehicle.
    package mutating func missing(_ vehicle: Int) -> Action? {
        let wave = waveOf[vehicle]
        // When several machines listen, another one may hear it.
        guard !rules.isShared else { return nil }
        guard !hasEnded[vehicle], !isLast(wave), wave <= self.wave else { return nil }
        let later = waveOf.indices.filter {
            waveOf[$0] > self.wave && !hasEnded[$0] && !wasReplaced[$0]
        }
        let same = later.filter { strata[$0] == strata[vehicle] }
        func nearest(_ list: [Int]) -> Int? { list.min { (waveOf[$0], $0) < (waveOf[$1], $1) } }
        guard let other = nearest(same) ?? nearest(later) else { return nil }
        move(other, to: wave)
        move(vehicle, to: tallies.count - 1)
        wasReplaced[vehicle] = true
        return .replace(vehicle, by: other, wave: wave)
    }

    private mutating func move(_ vehicle: Int, to wave: Int) {
        let from = waveOf[vehicle]
        tallies[from].members -= 1
        tallies[from].open -= 1
        tallies[wave].members += 1
        tallies[wave].open += 1
        waveOf[vehicle] = wave
    }

    /// The check after a wave has ended.
    package mutating func checked(_ wave: Int, failure: String?) -> [Action] {
        guard phase == .checking(wave) else { return [] }
        return goOn(after: wave, .checked(failure: failure))
    }

    /// Lets in the waves up to this one, which is active for all machines.
    package mutating func follow(_ wave: Int) -> [Action] {
        let last = min(wave, tallies.count - 1)
        guard rules.isShared, last > self.wave else { return [] }
        let news = (self.wave + 1)...last
        self.wave = last
        phase = .working(last)
        return news.map { wave in
            .letIn(waveOf.indices.filter { waveOf[$0] == wave }, wave: wave)
        }
    }

    /// Continues as far as the time, verdicts and checks allow.
    package mutating func tick(at now: WallTime) -> [Action] {
        switch phase {
        case .working(let wave):
            if rules.isShared, !isLast(wave) { return [] }
            // Every wave up to this one: a vehicle that is worked on again may be in an earlier
            // wave.
            guard tallies[...wave].allSatisfy({ $0.open == 0 }) else { return [] }
            return ended(wave, at: now)
        case .soaking(let wave, let until):
            guard now >= until else { return [] }
            return goOn(after: wave, .soaked)
        case .checking, .finished:
            return []
        }
    }

    private mutating func ended(_ wave: Int, at now: WallTime) -> [Action] {
        guard !isLast(wave) else {
            phase = .finished
            return [.ended(wave: wave)]
        }
        // The clock may have been set back since the wave ended.
        let since = wave == beginning ? min(soakedSince ?? now, now) : now
        phase = .soaking(wave, until: since.advanced(by: rules.between.soak))
        let stage = WaveStep.Stage.ended(tallies[wave], soaked: since.duration(to: now))
        return [.ended(wave: wave)] + goOn(after: wave, stage)
    }

    private mutating func goOn(after wave: Int, _ stage: WaveStep.Stage) -> [Action] {
        switch WaveStep(after: wave, isLast: false, stage, rules.advance, rules.between) {
        case .soak: return []
        case .check:
            phase = .checking(wave)
            return [.check(wave: wave)]
        case .stop(let why):
            phase = .checking(wave)
            return [.pause(why)]
        case .advance, .finish: return [next(after: wave)]
        }
    }

    private mutating func next(after wave: Int) -> Action {
        self.wave = wave + 1
        phase = .working(self.wave)
        let members = waveOf.indices.filter { waveOf[$0] == self.wave }
        return .letIn(members, wave: self.wave)
    }
}

extension WaveBoard.Rules {
    /// The rules for a run's own board, without those that all machines decide together.
    init(_ schedule: Schedule, isHeld: Bool, shared wave: Int?) {
        guard wave != nil else {
            self = isHeld ? WaveBoard.Rules() : schedule.rules
            return
        }
        self.init()
        isShared = !isHeld && !schedule.isPartial
    }
}
