import Domain
import Families
import Journal
import Manifest
import Reports
import Rollout
import Simulation

/// Some nights of one rollout that a seed makes: modules with faults, power cuts between two writes
/// of the journal, and what people say in between.
///
/// Judged by what the modules themselves say and by the sentences of docs/promises.md; nothing of
/// what decides in the program is asked.
struct GeneratedNights: Sendable {
    let seed: UInt64
    let modules: [ModulePlan]
    let waves: [[Int]]
    /// How many failures the gate allows; nil without a gate.
    let limit: Int?
    let nights: [Plan]

    /// What happens before and in one night.
    struct Plan: Sendable {
        var words: [Word] = []
        /// So many transactions of the journal are written, and then the power is cut.
        var cut: Int?
    }

    /// What a person says between two nights.
    enum Word: Sendable, Equatable {
        case pause, resume, abort, retry
        case inhibit(Int), uninhibit(Int), clear(Int)

        var isToRollout: Bool {
            switch self {
            case .pause, .resume, .abort, .retry: true
            case .inhibit, .uninhibit, .clear: false
            }
        }
    }

    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        let count = 1 + pick(6)
        modules = (1...count).map { number in
            DepotBench.module(number) { plan in
                let times = 1 + pick(4)
                switch pick(12) {
                case 0: plan.faults = [.init(.returnUnchanged, times: times)]
                case 1: plan.faults = [.init(.neverReturn)]
                case 2: plan.faults = [.init(.linkLost(at: 500 + pick(2_000)), times: times)]
                case 3: plan.faults = [.init(.restart(at: 500 + pick(2_000)))]
                case 4: plan.faults = [.init(.flap(total: .seconds(30), period: .seconds(4)))]
                default: break
                }
            }
        }
        let first = 1 + pick(count)
        let all = Array(0..<count)
        waves = first == count ? [all] : [Array(all[..<first]), Array(all[first...])]
        limit = pick(2) == 0 ? pick(2) : nil
        nights = (0..<(2 + pick(5))).map { _ in
            var plan = Plan()
            if pick(3) > 0 { plan.cut = 1 + pick(60) }
            for _ in 0..<pick(3) {
                let vehicle = pick(count)
                switch pick(14) {
                case 0...1: plan.words.append(.pause)
                case 2...5: plan.words.append(.resume)
                case 6...7: plan.words.append(.retry)
                case 8: plan.words.append(.inhibit(vehicle))
                case 9...11: plan.words.append(.uninhibit(vehicle))
                case 12: plan.words.append(.clear(vehicle))
                default: plan.words.append(pick(4) == 0 ? .abort : .resume)
                }
            }
            return plan
        }
    }

    /// What all of it came to.
    struct Result: Sendable {
        /// A line a night, the same for one seed.
        var trace: [String] = []
        /// Promises that were broken.
        var broken: [String] = []
    }

    static let image = DepotBench.image(bytes: 3_000)

    func run() throws -> Result {
        let bench = DepotBench(seed: seed, modules)
        let outcome = try bench.simulation.run { () async -> Swift.Result<Result, any Error> in
            do {
                return .success(try await live(in: bench))
            } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    private func live(in bench: DepotBench) async throws -> Result {
        await bench.simulation.air.addAdapter("hci0")
        await bench.simulation.air.arrange { world in
            for plan in modules { world.addComodule(plan) }
        }
        let journal = try await Journal.inMemory(executor: bench.simulation.worldLane)
        var schedule = DepotBench.schedule(waves)
        schedule.rules.pause = limit.map { PauseRule(failed: .count($0), atLeast: 1) }
        var judge = NightJudge(vehicles: modules.count, limit: limit)
        var result = Result()
        for (number, plan) in nights.enumerated() {
            // A rollout that nothing is known of takes no orders.
            for word in plan.words where number > 0 || !word.isToRollout {
                try await say(word, journal, bench)
            }
            judge.before = try await scene(of: journal, bench)
            let told = bench.events.count
            try await journal.cut(after: plan.cut)
            var counts: VehicleCounts?
            do {
                let night = try await bench.night(
                    [.update(Self.image)],
                    schedule,
                    ["hci0"],
                    NamedAdapters(),
                    nil,
                    bench.simulation.time,
                    journal
                )
                counts = night.result.vehicles
            } catch let error as JournalError where error.kind == .disk {
                // The next night is a new process.
            }
            try await journal.cut(after: nil)
            judge.after = try await scene(of: journal, bench)
            judge.events = Array(bench.events[told...]).map(\.body)
            let words = "night \(number + 1) \(plan): \(counts?.sentence ?? "cut")"
            result.trace.append("\(words) at \(bench.simulation.time.now)")
            result.broken += judge.verdicts(counts).map { "\(words): \($0)" }
        }
        return result
    }

    private func say(_ word: Word, _ journal: Journal, _ bench: DepotBench) async throws {
        let now = bench.simulation.time.wallTime
        func name(_ index: Int) throws -> VehicleID {
            guard let id = VehicleID("v\(index + 1)") else { throw DepotBench.NoRules() }
            return id
        }
        func hold(_ kind: Hold.Kind) -> Hold {
            Hold(kind, "test", reason: "", author: "anna", at: now)
        }
        switch word {
        case .pause: _ = try await journal.set(hold(.paused), isAtWork: false)
        case .abort: _ = try await journal.set(hold(.aborted), isAtWork: false)
        case .resume: _ = try await journal.resume("test")
        case .retry:
            _ = try await journal.retry("test", [], quarantined: [], by: "anna", at: now)
        case .inhibit(let vehicle):
            try await journal.inhibit(
                Inhibit(try name(vehicle), reason: "", expires: nil, author: "anna", at: now)
            )
        case .uninhibit(let vehicle): _ = try await journal.uninhibit(try name(vehicle))
        case .clear(let vehicle):
            let named = try name(vehicle)
            _ = try await journal.clear(
                [named],
                named: [named],
                atWork: [],
                by: "anna",
                at: now
            )
        }
    }

    private func scene(of journal: Journal, _ bench: DepotBench) async throws -> NightJudge.Scene {
        let found = await bench.simulation.air.arrange { world in
            world.comoduleModules.map {
                NightJudge.Module(
                    version: $0.runningVersion,
                    isInBootloader: $0.isInBootloader,
                    received: $0.receivedBytes
                )
            }
        }
        return NightJudge.Scene(
            modules: found,
            records: try await journal.executions(rollout: "test"),
            debts: Set(try await journal.debts().map(\.vehicle.text)),
            inhibited: Set(
                try await journal.inhibits(at: bench.simulation.time.wallTime)
                    .compactMap { $0.vehicle?.text }
            ),
            hold: try await journal.hold(on: "test")?.kind,
            time: bench.simulation.time.now
        )
    }
}

/// Says which promises a night has broken.
struct NightJudge {
    /// A module by its own words.
    struct Module: Sendable {
        let version: FirmwareVersion
        let isInBootloader: Bool
        let received: Int
    }

    /// What holds between two nights.
    struct Scene: Sendable {
        var modules: [Module] = []
        var records: [ExecutionRecord] = []
        var debts: Set<String> = []
        var inhibited: Set<String> = []
        var hold: Hold.Kind?
        var time = Moment(nanoseconds: 0)
    }

    let vehicles: Int
    let limit: Int?
    var before = Scene()
    var after = Scene()
    var events: [Event.Body] = []

    init(vehicles: Int, limit: Int?) {
        self.vehicles = vehicles
        self.limit = limit
    }

    /// `counts` is nil when the power was cut.
    func verdicts(_ counts: VehicleCounts?) -> [String] {
        var broken: [String] = []
        var told: [String: Outcome] = [:]
        var stands: [String: Outcome?] = [:]
        for event in events {
            switch event {
            case .vehicleEnded(let id, let verdict):
                told[id.text] = verdict.outcome
                stands[id.text] = .some(verdict.outcome)
            case .vehicleStands(let id, let standing):
                stands[id.text] = .some(standing.verdict?.outcome)
            default: break
            }
        }
        let outcomes = Dictionary(
            uniqueKeysWithValues: after.records.map { ($0.vehicle.text, $0.end?.outcome) }
        )
        // N3: what anybody was told stands in the journal.
        for (vehicle, outcome) in told where outcomes[vehicle] != .some(outcome) {
            broken.append("\(vehicle) was told to be \(outcome) and is not")
        }
        if let counts {
            // R1 and section 8: every vehicle once, and the counts are those of the vehicles.
            if counts.total != vehicles || stands.count != vehicles {
                broken.append("\(counts.total) counted, \(stands.count) told of \(vehicles)")
            }
            if VehicleCounts(Array(stands.values)) != counts {
                broken.append("counts \(counts.sentence) are not those of the vehicles")
            }
        }
        for number in 1...vehicles {
            let (name, module) = ("v\(number)", after.modules[number - 1])
            let then = before.modules[number - 1]
            let outcome = outcomes[name] ?? nil
            // Success is proven.
            if let new = told[name], new.tally == .ok || new.tally == .current,
                module.version != GeneratedNights.image.version || module.isInBootloader
            {
                broken.append("\(name) is \(new) and runs \(module.version)")
            }
            // D1, D6: what waits in its bootloader is a debt, or a person has cleared it.
            if module.isInBootloader, !then.isInBootloader, !after.debts.contains(name) {
                broken.append("\(name) is left in its bootloader without a debt")
            }
            if after.debts.contains(name), told[name].map({ $0.tally != .failed }) ?? false {
                broken.append("\(name) has a debt and was told to be \(outcome?.rawValue ?? "")")
            }
            // S2, S4, D7: nothing is begun under a hold or on an inhibited vehicle.
            let isHeld = before.hold != nil || before.inhibited.contains(name)
            let mayPay = before.debts.contains(name) && !before.inhibited.contains(name)
            if isHeld, !mayPay, module.received != then.received {
                broken.append("\(name) was sent something while it was held")
            }
        }
        // G1, G2, S5: the gate is never overshot, and trips in the verdict's own transaction. What nobody
        // may touch has not failed by what was done to it.
        if let limit {
            let failed = after.records.count {
                $0.acted && !$0.forgiven && $0.end?.outcome.tally == .failed
                    && !after.inhibited.contains($0.vehicle.text)
            }
            if failed > limit + 1 { broken.append("\(failed) have failed at a gate of \(limit)") }
            if failed > limit, after.hold == nil { broken.append("the gate has not tripped") }
        }
        // Section 9: every run ends.
        if before.time.duration(to: after.time) > .seconds(24 * 3_600) {
            broken.append("it took \(before.time.duration(to: after.time))")
        }
        return broken
    }
}
