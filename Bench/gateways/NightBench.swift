import Base
import Store
import Synchronization

/// How many depots a database has, each with a rollout of its own, and with how many gateways and vehicles.
struct NightShape: Sendable {
    var depots = 1
    var gateways = FleetBench.gateways
    var vehicles = 10_000
    /// Each vehicle is heard by this many gateways of its depot, and one in fifty by none.
    let hearers = 2

    /// A text as in `50x10x2000`, or only the vehicles.
    init?(_ text: String) {
        let numbers = text.split(separator: "x").map { Int($0) ?? 0 }
        guard let last = numbers.last, numbers.allSatisfy({ $0 > 0 }) else { return nil }
        vehicles = last
        if numbers.count == 3 { (depots, gateways) = (numbers[0], numbers[1]) }
    }

    init() {}

    /// A hundredth, a twentieth, a fifth and a half of the vehicles; the last wave has the rest.
    var waves: [Int] { [vehicles / 100, vehicles / 20, vehicles / 5, vehicles / 2] }
}

/// One gateway of a depot in a night with waves: it looks, claims, leaves what it does not hear and brings waves on, by
/// the same calls and in the same intervals as a run.
actor NightGateway {
    /// A vehicle that this gateway has worked on.
    struct Work: Sendable {
        let wave: Int
        let asked: Moment
        /// Of the claim, in milliseconds.
        let claim: Double
        let settled: Moment
    }

    let gateway: BenchGateway
    let rollout: BenchRollout
    /// The number of the gateway in its depot, and its place among those that hear the same vehicles.
    let number: Int
    let shape: NightShape
    /// From when on, how often and until when it claims; nil for as often as it can.
    var pace: (first: Moment, gap: Duration, end: Moment)?

    private var wave = -1
    private var changes = 0
    private var isWaveDue = false
    private var queue: [Int] = []
    /// Vehicles that another gateway had, which are asked for again after the next look.
    private var parked: [Int] = []
    private var missed: [Int] = []
    private var ended: Set<VehicleID> = []
    private var isOver = false

    private(set) var work: [Work] = []
    /// What one look at the wave took, and one report of vehicles that were left, in milliseconds.
    private(set) var looks: [Double] = []
    private(set) var leaves: [Double] = []
    /// How often a statement had waited too long for others, and was repeated, as a run does.
    private(set) var repeats = 0

    static let soak = Duration.seconds(1)

    init(_ gateway: BenchGateway, _ number: Int, of shape: NightShape, in rollout: BenchRollout) {
        (self.gateway, self.number, self.shape) = (gateway, number, shape)
        self.rollout = rollout
    }

    func play(at pace: (first: Moment, gap: Duration, end: Moment)? = nil) async throws {
        self.pace = pace
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.keep() }
            group.addTask { try await self.leaveUnheard() }
            group.addTask { try await self.workOn() }
            try await group.waitForAll()
        }
    }

    /// Gives signs of life, renews rights and brings waves on.
    private func keep() async throws {
        let links = try await FleetBench.holdings(number, FleetBench.links, gateway, rollout.name)
        // The gateways of a depot do not begin at the same moment.
        try await Task.sleep(for: FleetDatabase.lookPause * number / shape.gateways)
        var nextBeat = Clock.now()
        while !isOver {
            if Clock.now() >= nextBeat {
                let terms = LeaseTerms.standard
                _ = try await gateway.fleet.renew(links, of: gateway.holder, terms: terms)
                _ = try await gateway.fleet.beat(gateway.holder)
                nextBeat = Clock.now().advanced(by: terms.beat)
            }
            do { try await bringOn() } catch { try note(error) }
            try await Task.sleep(for: FleetDatabase.lookPause)
        }
    }

    /// Goes on after a statement that had waited too long.
    private func note(_ error: any Error) throws {
        guard (error as? FleetError)?.kind == .busy else { throw error }
        repeats += 1
    }

    private func bringOn() async throws {
        let fleet = gateway.fleet
        guard isWaveDue else { return }
        isWaveDue = false
        let (name, beginning) = (rollout.name, rollout.beginning)
        let began = Clock.now()
        let isDue = try await fleet.takeLook(at: name, beginning: beginning, every: FleetDatabase.lookShare)
        guard isDue else { return }
        let wave = try await fleet.endedWave(of: name, beginning: beginning)
        looks.append(Clock.milliseconds(since: began))
        guard let wave else { return }
        var between = BetweenWaves()
        between.soak = Self.soak
        let stage = WaveStep.Stage.ended(wave.tally, soaked: wave.soaked)
        switch WaveStep(after: wave.number, isLast: wave.isLast, stage, nil, between) {
        case .advance, .finish:
            _ = try await fleet.advance(name, beginning: beginning, from: wave)
        case .soak, .check, .stop: break
        }
    }

    /// Leaves the vehicles of the waves that have begun and that it does not hear.
    private func leaveUnheard() async throws {
        while !isOver {
            let batch = missed.prefix(FleetDatabase.mostLeftAtOnce).map { LeftVehicle(rollout.vehicles[$0].vehicle) }
            guard !batch.isEmpty else {
                try await Task.sleep(for: .milliseconds(100))
                continue
            }
            let began = Clock.now()
            do {
                try await gateway.fleet.leave(
                    batch,
                    in: rollout.name,
                    beginning: rollout.beginning,
                    as: gateway.holder
                )
                missed.removeFirst(batch.count)
                leaves.append(Clock.milliseconds(since: began))
            } catch { try note(error) }
        }
    }

    private func workOn() async throws {
        defer { isOver = true }
        // Gateways do not begin at the same moment.
        var nextLook = Clock.now().advanced(by: FleetDatabase.lookPause * number / shape.gateways)
        var next = pace?.first ?? Clock.now()
        while true {
            let now = Clock.now()
            if let pace, now >= pace.end { return }
            if now >= nextLook {
                nextLook = now.advanced(by: FleetDatabase.lookPause)
                do { if try await look() { return } } catch { try note(error) }
            }
            guard now >= next, let index = queue.popLast() else {
                // As far as the next claim that is due; without one, news may bring more.
                let due = pace == nil || queue.isEmpty ? now : min(next, nextLook)
                try await Task.sleep(for: max(.milliseconds(20), now.duration(to: due)))
                continue
            }
            if ended.contains(rollout.vehicles[index].vehicle) { continue }
            do { try await carryOut(index) } catch {
                // The same gateway gets the same right once more.
                try note(error)
                parked.append(index)
            }
            // What was not claimed while no wave was on is not made up for.
            if let pace { next = max(next, now).advanced(by: pace.gap) }
        }
    }

    /// Reads the news; true when the rollout is finished.
    private func look() async throws -> Bool {
        let fleet = gateway.fleet
        let glance = try await fleet.glance(at: rollout.name, for: gateway.holder)
        guard let glance, glance.rollout.beginning == rollout.beginning else {
            throw BenchError.state("the rollout was begun again")
        }
        let news = try await fleet.news(of: glance, since: changes, for: gateway.holder)
        (changes, isWaveDue) = (glance.changes, glance.isLookDue)
        ended.formUnion(news.ended.map(\.vehicle))
        queue = parked + queue
        parked = []
        while wave < glance.rollout.wave {
            wave += 1
            let members = rollout.vehicles.indices.filter { rollout.vehicles[$0].wave == wave }
            let heard = members.filter { isHeard($0) }
            // Gateways that hear the same vehicles begin at two ends.
            let isFirst = number < shape.gateways / shape.hearers
            queue = (isFirst ? heard.reversed() : heard) + queue
            missed += members.filter { !isHeard($0) }
        }
        return glance.rollout.isFinished
    }

    private func isHeard(_ index: Int) -> Bool {
        guard !index.isMultiple(of: 50) else { return false }
        return rollout.isHeard(index, by: number, of: shape.gateways, hearers: shape.hearers)
    }

    private func carryOut(_ index: Int) async throws {
        let asked = Clock.now()
        let answer = try await rollout.ask(index, as: gateway)
        let took = Clock.milliseconds(since: asked)
        switch answer {
        case .granted(let lease, _):
            if pace != nil { try await rollout.intend(index, lease, as: gateway) }
            try await rollout.settle(index, lease, as: gateway)
            work.append(
                Work(
                    wave: rollout.vehicles[index].wave,
                    asked: asked,
                    claim: took,
                    settled: Clock.now()
                )
            )
        case .ended(let end): ended.insert(end.vehicle)
        case .held, .nearer, .resting: parked.append(index)
        default: throw BenchError.state("\(rollout.vehicles[index].vehicle): \(answer)")
        }
    }
}

extension FleetBench {
    // MARK: Waves

    /// The first waves of a night at ten times the need.
    static func waves(_ address: String, seconds: Int) async throws -> Bool {
        let shape = NightShape()
        return try await Crew.with(shape.gateways, address) { crew in
            let gap = Duration.seconds(Double(gateways) / (10 * need))
            let rollout = try await begin("town", shape, crew.all, [20, 100, 200])
            let first = Clock.now().advanced(by: .seconds(1))
            let all = try await play(shape, [rollout], crew) { number in
                (
                    first.advanced(by: gap * number / gateways), gap,
                    first.advanced(by: .seconds(seconds))
                )
            }
            let claims = Spread(all.work.map(\.claim))
            let name = "a claim at \(Int(10 * need)) a second in waves (\(claims.count) of them)"
            row("\(name), p50, ms", claims.share(0.5), "")
            row("\(name), p99, ms", claims.share(0.99), "at most 50")
            rowOfLooks(all)
            return claims.share(0.99) <= 100
        }
    }

    static func night(_ address: String, _ shape: NightShape) async throws -> Bool {
        try await Crew.with(shape.depots * shape.gateways, address) { crew in
            try await night(crew, shape)
        }
    }

    private static func night(_ crew: Crew, _ shape: NightShape) async throws -> Bool {
        var rollouts: [BenchRollout] = []
        for depot in 0..<shape.depots {
            let own = Array(crew.all[depot * shape.gateways..<(depot + 1) * shape.gateways])
            rollouts.append(try await begin("city-\(depot)", shape, own, shape.waves))
        }
        let all = try await play(shape, rollouts, crew) { _ in nil }
        let work = all.work
        let began = work.map(\.asked).min() ?? Clock.now()
        let ended = work.map(\.settled).max() ?? began
        let whole = Double(began.duration(to: ended).nanoseconds) / 1e9
        // The time in which some vehicle was worked on.
        var (busy, until) = (Duration.zero, began)
        for one in work.sorted(by: { $0.asked < $1.asked }) where one.settled > until {
            busy = busy + max(one.asked, until).duration(to: one.settled)
            until = one.settled
        }
        let rate = Double(work.count) / (Double(busy.nanoseconds) / 1e9)
        let claims = Spread(work.map(\.claim))
        let name = "\(shape.depots) × \(shape.gateways) gateways × \(shape.vehicles), in five waves"
        row("\(name): claims with verdicts a second", rate, atLeast: 100)
        row("  with the waits between waves", Double(work.count) / whole, "")
        row("  the claim, p50, ms", claims.share(0.5), "")
        row("  the claim, p99, ms", claims.share(0.99), "")
        rowOfLooks(all)
        return rate >= 50
    }

    private typealias Played = (
        work: [NightGateway.Work], looks: Spread, leaves: Spread, repeats: Int
    )

    private static func rowOfLooks(_ all: Played) {
        row("  a look at the wave (\(all.looks.count)), the longest, ms", all.looks.share(1), "")
        row("  statements that waited too long, and were repeated", Double(all.repeats), "")
        row(
            "  a report of vehicles not heard (\(all.leaves.count)), longest, ms",
            all.leaves.share(1),
            ""
        )
    }

    private static func begin(
        _ name: String,
        _ shape: NightShape,
        _ gateways: [BenchGateway],
        _ waves: [Int]
    ) async throws -> BenchRollout {
        try await BenchRollout.begin(
            name,
            shape.vehicles,
            as: gateways[0],
            atWork: gateways,
            waves: waves,
            hearers: shape.hearers
        )
    }

    private static func play(
        _ shape: NightShape,
        _ rollouts: [BenchRollout],
        _ crew: Crew,
        at pace: @escaping @Sendable (Int) -> (first: Moment, gap: Duration, end: Moment)?
    ) async throws -> Played {
        let players = try await crew.together { index, gateway in
            let (depot, number) = index.quotientAndRemainder(dividingBy: shape.gateways)
            let player = NightGateway(gateway, number, of: shape, in: rollouts[depot])
            try await player.play(at: pace(number))
            return player
        }
        var work: [NightGateway.Work] = []
        var (looks, leaves): ([Double], [Double]) = ([], [])
        var repeats = 0
        for player in players {
            work += await player.work
            looks += await player.looks
            leaves += await player.leaves
            repeats += await player.repeats
        }
        return (work, Spread(looks), Spread(leaves), repeats)
    }
}
