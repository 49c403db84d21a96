import Base
import Manifest
import Operations
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization

extension FleetNightStory {
    /// Lives through it; throws only when the story itself makes no sense.
    package func live() throws -> NightResult {
        let ground = try FleetNightGround.shared.get()
        let depot = NightDepot(story: depot)
        let names = gateways.indices.flatMap { gateway in
            (0..<policy.adapters).map { FleetNightLife.adapter($0, of: gateway) }
        }
        let simulated = try SimulatedDepot(try depot.file(adapters: names), seed: seed)
        let simulation = simulated.simulation
        let story = self
        let watch = NightWatch()
        do {
            return try simulation.run(within: watch.bounds) {
                () async -> Result<NightResult, any Error> in
                do {
                    let life = try await FleetNightLife(story, depot, simulated, ground, watch)
                    return .success(try await life.live())
                } catch { return .failure(error) }
            }.get()
        } catch let deadlock as Simulation.Deadlock {
            try ground.abandon()
            var result = NightResult()
            result.broken = [
                BrokenPromise(promise: "T1", night: 0, sentence: deadlock.description)
            ]
            return result
        }
    }
}

/// Nights of several gateways over the same modules and one database.
struct FleetNightLife: Sendable {
    let story: FleetNightStory
    let depot: NightDepot
    let simulated: SimulatedDepot
    let ground: FleetNightGround
    let gateways: [FleetNightGateway]
    let watch: NightWatch
    private let admin: FleetDatabase

    var simulation: Simulation { simulated.simulation }

    static func adapter(_ number: Int, of gateway: Int) -> String { "hci\(10 * gateway + number)" }

    init(
        _ story: FleetNightStory,
        _ depot: NightDepot,
        _ simulated: SimulatedDepot,
        _ ground: FleetNightGround,
        _ watch: NightWatch
    ) async throws {
        self.story = story
        self.watch = watch
        self.depot = depot
        self.simulated = simulated
        self.ground = ground
        try await simulated.populate()
        let simulation = simulated.simulation
        admin = try ground.database(simulation)
        try await ground.prepare(admin)
        let hasPowerCuts = story.nights.contains { night in
            night.incidents.contains { $0.what == .power }
        }
        var gateways: [FleetNightGateway] = []
        for number in story.gateways.indices {
            let journal = try await Journal.inMemory(executor: simulation.worldLane)
            if hasPowerCuts { try await journal.keepDisk() }
            gateways.append(
                FleetNightGateway(number, seed: story.seed, journal, simulation.time)
            )
            gateways[number].clock.set(by: story.gateways[number].clock)
        }
        self.gateways = gateways
    }

    // MARK: Nights

    func live() async throws -> NightResult {
        let doings = FleetNightDoings()
        var wish = NightWish(depot.story)
        var judge = FleetNightJudge(story)
        var result = NightResult()
        let nights = story.nights + FleetNightJudge.cure(story)
        for (index, night) in nights.enumerated() {
            let isCure = index >= story.nights.count
            // What has gone wrong already is not made better by more of it.
            if isCure, !result.broken.isEmpty { break }
            await simulation.time.sleep(for: .seconds(night.pause), "the next night")
            if index == story.nights.count {
                for gateway in gateways { gateway.clock.setRight() }
            }
            // Gateways that wait for most of a day ask the database as long.
            await depot.waitForWindow(gateways[0].clock, simulation.time)
            for edit in night.edits { await depot.change(&wish, edit, simulation.air) }
            var account = FleetNightAccount(index + 1, night)
            account.began = simulation.time.now
            doings.begin(account)
            for said in night.words {
                try await say(said.word, on: gateways[said.gateway], isInside: false, doings)
            }
            let (before, there) = (try await tables(), await modules())
            doings.with { ($0.account.tablesBefore, $0.account.before) = (before, there) }
            try await work(night, wish, doings)
            account = doings.account
            account.after = await modules()
            account.tables = try await tables()
            for gateway in gateways {
                account.untold += try await gateway.journal.untoldCount()
                account.debts.formUnion(
                    try await gateway.journal.debts().map(\.vehicle.text)
                )
            }
            account.ended = simulation.time.now
            result.broken += judge.verdicts(on: account)
            result.nights += 1
            for turn in account.turns {
                result.trace.append(
                    "\(account.number) \(FleetNightStory.name(turn.gateway)) \(turn.rollout) "
                        + "\(turn.counts?.sentence ?? "cut") "
                        + "\(turn.ending.map { "\($0)" } ?? "") at \(turn.ended): "
                        + turn.outcomes.sorted { $0.key < $1.key }
                        .map { "\($0.key) \($0.value?.rawValue ?? "open")" }
                        .joined(separator: ", ")
                )
            }
            result.trace += doings.takeWords().map { "\(account.number) \($0)" }
        }
        if result.broken.isEmpty { result.broken = judge.verdictsInTheEnd() }
        result.records = await records()
        for (what, states) in doings.disturbed { result.coverage.note(what, states) }
        await admin.close()
        return result
    }

    private func modules() async -> [NightScene.Vehicle] {
        let depot = depot
        let ids = NightNames(story.vehicles.count)
        return await simulation.air.arrange { NightScene.modules(depot, ids, in: $0) }
    }

    /// The record of each module, by the name of its vehicle.
    private func records() async -> [String: String] {
        let numbers = depot.numbers(NightNames(story.vehicles.count))
        return await simulation.air.arrange { world in
            var records: [String: String] = [:]
            for device in world.devices {
                guard let number = numbers[device.label], let record = device.record else {
                    continue
                }
                records[NightDepot.name(number)] = record
            }
            return records
        }
    }

    private func tables() async throws -> FleetNightTables {
        try await FleetNightTables(admin, Simulation.firstEvening)
    }

    private func work(
        _ night: FleetNightStory.Night,
        _ wish: NightWish,
        _ doings: FleetNightDoings
    ) async throws {
        await withTaskGroup(of: Void.self) { group in
            await withTaskGroup(of: Void.self) { runs in
                for incident in night.incidents {
                    guard case .second(let second) = incident.at else { continue }
                    let gateway = gateways[incident.gateway]
                    group.addTask {
                        await simulation.time.sleep(for: .seconds(second), "an incident")
                        guard !Task.isCancelled else { return }
                        if let host = gateway.host {
                            await host.strike(Self.own(incident.what, of: gateway.number))
                        } else {
                            await strike(incident.what, on: gateway, doings)
                        }
                    }
                }
                for start in night.starts {
                    runs.addTask { await work(start, night, wish, doings) }
                }
            }
            group.cancelAll()
        }
        if let failure = doings.failure { throw failure }
    }

    /// What is said of adapters, by their numbers in the air.
    private static func own(_ what: NightStory.Event, of gateway: Int) -> NightStory.Event {
        guard case .adapterGone(let number, let seconds) = what else { return what }
        return .adapterGone(10 * gateway + number, seconds: seconds)
    }

    // MARK: One gateway

    /// What is no matter of the radio.
    func strike(
        _ what: NightStory.Event,
        on gateway: FleetNightGateway,
        _ doings: FleetNightDoings
    ) async {
        doings.disturbed(what, gateway.states)
        do {
            switch what {
            case .kill: if gateway.host != nil { try await gateway.dies(isPowerCut: false) }
            case .power: if gateway.host != nil { try await gateway.dies(isPowerCut: true) }
            case .refusedWrite:
                if gateway.host != nil { try await gateway.journal.refuse(after: 0) }
            case .stop: gateway.stop?.request()
            case .clock(let seconds): gateway.clock.set(by: seconds)
            case .say(let word):
                try await say(word, on: gateway, isInside: gateway.host != nil, doings)
            case .cutOff(let seconds): gateway.line.cut(for: seconds)
            case .answerLost: gateway.line.loseAnswer()
            case .databaseAway(let seconds):
                for other in gateways { other.line.cut(for: seconds) }
            case .suspended:
                let records = await records().sorted { $0.key < $1.key }
                    .map { "\($0.key) \($0.value)" }
                doings.say("\(gateway.name) is stopped: " + records.joined(separator: "; "))
            case .adapterGone, .serviceGone: break
            }
        } catch is JournalError {
            // Anyone who says something to a journal that cannot be written gets that answer.
        } catch { doings.fails(error) }
    }

    /// Until it ends by itself: what was killed is started again.
    private func work(
        _ start: FleetNightStory.Start,
        _ night: FleetNightStory.Night,
        _ wish: NightWish,
        _ doings: FleetNightDoings
    ) async {
        let gateway = gateways[start.gateway]
        await simulation.time.sleep(for: .seconds(start.second), "the run to be started")
        var own = night.incidents.filter { $0.gateway == start.gateway }
        let away = own.first { $0.what == .kill || $0.what == .power }?.away ?? 60
        var again = start.again
        do {
            while true {
                for incident in own {
                    guard case .write(let count) = incident.at else { continue }
                    if incident.what == .refusedWrite {
                        try await gateway.journal.refuse(after: count)
                    } else {
                        try await gateway.journal.cut(after: count)
                    }
                }
                await depot.waitForHour(gateway.clock, simulation.time)
                try await turn(start.rollout, on: gateway, own, wish, again: again, doings)
                try await gateway.journal.refuse(after: nil)
                guard try await gateway.isRaised() else { return }
                await simulation.time.sleep(for: .seconds(away), "the gateway to be started again")
                (own, again) = ([], false)
            }
        } catch { doings.fails(error) }
    }

    /// One start of the program.
    private func turn(
        _ which: FleetNightStory.Rollout,
        on gateway: FleetNightGateway,
        _ incidents: [FleetNightStory.Incident],
        _ wish: NightWish,
        again: Bool,
        _ doings: FleetNightDoings
    ) async throws {
        let stop = StopSignal()
        let own = incidents.map {
            NightStory.Incident(Self.own($0.what, of: gateway.number), at: $0.at)
        }
        let host = NightHost(own, clock: gateway.clock) { what in
            await strike(what, on: gateway, doings)
        }
        gateway.begins(host, stop)
        let fleet = try ground.database(simulation, over: gateway.line, watch)
        do {
            try await carryOut(which, on: gateway, host, stop, fleet, wish, again: again, doings)
        } catch let error as JournalError where error.kind == .disk || error.kind == .full {
            doings.say("\(gateway.name): \(error)")
        } catch let error as FleetError {
            doings.say("\(gateway.name): \(error)")
        } catch let error as FleetEntrance.Refusal {
            doings.say("\(gateway.name): \(error)")
        } catch let error as RolloutStart.ClockBehind {
            doings.say("\(gateway.name): \(error)")
        }
        // One link or another may have been made while it died.
        if try await gateway.journal.isCut() { await host.dies() }
        gateway.ends()
        await fleet.close()
    }

    private func carryOut(
        _ which: FleetNightStory.Rollout,
        on gateway: FleetNightGateway,
        _ host: NightHost,
        _ stop: StopSignal,
        _ fleet: FleetDatabase,
        _ wish: NightWish,
        again: Bool,
        _ doings: FleetNightDoings
    ) async throws {
        let (journal, clock) = (gateway.journal, gateway.clock)
        var wish = wish
        if which == .other {
            wish.name = "other"
            wish.listed = wish.listed.filter(story.shared.contains)
            if wish.listed.isEmpty { wish.listed = story.shared }
        }
        var plan = try depot.plan(wish)
        doings.keep(plan, wish)
        let record = try await journal.rollout(plan.name)
        var begun: WallTime?
        if let record { begun = try await journal.run(record.began)?.started }
        let asked = RolloutStart(plan, isWhole: true, zone: .utc, again: again)
        var isKept = false
        let shared = try await fleet.rollout(plan.name)?.shared
        if try asked.goesOn(with: record, begun: begun, shared: shared, at: clock.wallTime),
            let kept = record.flatMap({ doings.kept($0.plan) })
        {
            (plan, wish, isKept) = (kept.plan, kept.wish, true)
        }
        let job = try NightRun(
            plan,
            of: plan.vehicles.map(\.id),
            depot,
            watched: watch,
            kept: doings.plans
        )
        let entrance = FleetEntrance(fleet, journal, gateway: gateway.name)
        guard let holder = try await signIn(gateway, entrance, doings) else { return }
        do {
            let start = RolloutStart(plan, isWhole: true, zone: .utc)
            let (beginning, isNew) = try await entrance.enter(
                plan,
                as: holder,
                again: again && !isKept,
                starts: start
            )
            var part = try await entrance.enlist(plan, job.jobs, as: holder, beginning: beginning)
            part.check = { [name = plan.name] wave in
                doings.checked(name, beginning, wave)
                return nil
            }
            doings.entered(plan.name, beginning, wish, depot.always(wish), await modules())
            let (run, coordinator) = try await gateway.beginRun(
                of: plan,
                part,
                as: holder,
                in: fleet
            ) {
                doings.say("\(gateway.name): \($0)")
            }
            let number = doings.begin(
                FleetNightTurn(
                    gateway: gateway.number,
                    instance: holder.instance,
                    rollout: plan.name,
                    vehicles: plan.vehicles.compactMap { Int($0.id.text.dropFirst()) }
                        .map { $0 - 1 },
                    wish: wish,
                    beginning: beginning,
                    always: depot.always(wish),
                    began: clock.now,
                    ended: clock.now
                )
            )
            // One whose process was killed is over when nothing of it goes on any more.
            defer { doings.end(number, clock.now) }
            let result = try await job.carryOut(
                run,
                again: isNew,
                over: radios(of: gateway, host, holder.instance, doings),
                journal,
                clock,
                stop,
                coordinator
            ) { event in
                doings.hear(number, event, clock.now)
                switch event.body {
                case .stateChanged(let id, let now, _, _): gateway.entered(id, now)
                case .vehicleEnded(let id, _): gateway.entered(id, nil)
                default: break
                }
            }
            doings.end(number, result)
            await entrance.signOff(holder)
        } catch {
            await entrance.signOff(holder)
            throw error
        }
    }

    /// A timer starts it again when that fails, for a few minutes.
    private func signIn(
        _ gateway: FleetNightGateway,
        _ entrance: FleetEntrance,
        _ doings: FleetNightDoings
    ) async throws -> FleetHolder? {
        var left = 6
        while true {
            do {
                let (holder, _) = try await entrance.signIn(
                    after: gateway.starts,
                    program: "yardmaster nights",
                    random: gateway.draw(),
                    at: gateway.clock.wallTime,
                    waiting: gateway.clock
                ) { gateway.starts = $0 }
                return holder
            } catch {
                if try await gateway.journal.isCut() { return nil }
                guard left > 0 else { throw error }
                doings.say("\(gateway.name): \(error)")
            }
            left -= 1
            await gateway.clock.sleep(for: .seconds(60), "another try to sign in")
            if gateway.stop?.isRequested ?? true { return nil }
        }
    }

    private func radios(
        of gateway: FleetNightGateway,
        _ host: NightHost,
        _ instance: String,
        _ doings: FleetNightDoings
    ) -> [NightRadio] {
        let there = story.gateways[gateway.number]
        let place = NightPlace(
            air: simulation.air,
            numbers: depot.numbers(NightNames(story.vehicles.count)),
            losses: story.vehicles.indices.map { vehicle in
                if there.deaf.contains(vehicle) { return nil }
                return there.far.contains(vehicle) ? 20 : 0
            }
        ) { [time = simulation.time] vehicle in
            doings.touched(.init(at: time.now, instance: instance, vehicle: vehicle))
        }
        return (0..<story.policy.adapters).map { number in
            NightRadio(
                radio: simulated.radio(Self.adapter(number, of: gateway.number)),
                host: host,
                place: place
            )
        }
    }
}
