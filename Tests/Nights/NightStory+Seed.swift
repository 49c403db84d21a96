import Base

extension NightStory {
    /// The story of a seed.
    package init(seed: UInt64) {
        var teller = NightTeller(seed: seed)
        self = teller.story(seed)
        // Random numbers of their own, so that all else in a life stays as it was without keys.
        var locksmith = NightTeller(seed: seed ^ 0x4B45_5953)
        locksmith.addKeys(to: &self)
        var clerk = NightTeller(seed: seed ^ 0x4C49_5354)
        clerk.addLists(to: &self)
        var people = NightTeller(seed: seed ^ 0x4841_4E44)
        people.addPeople(to: &self)
        var keeper = NightTeller(seed: seed ^ 0x4241_434B)
        keeper.addRestores(to: &self)
        var driver = NightTeller(seed: seed ^ 0x4452_4956)
        driver.addDrivers(to: &self)
        var dispatcher = NightTeller(seed: seed ^ 0x4D4F_5645)
        dispatcher.addMoves(to: &self)
        var fitter = NightTeller(seed: seed ^ 0x4649_5454)
        fitter.addModules(to: &self)
        var undoer = NightTeller(seed: seed ^ 0x554E_444F)
        undoer.addWaysBack(to: &self)
        var planner = NightTeller(seed: seed ^ 0x434C_4E44)
        planner.addCalendars(to: &self)
        var engineer = NightTeller(seed: seed ^ 0x4C49_4E4B)
        engineer.addLinks(to: &self)
    }
}

/// Makes stories from random numbers.
struct NightTeller {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed &* 0x9E37_79B9 &+ 0x7F4A) }

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    mutating func one<Value>(of list: [Value]) -> Value { list[pick(list.count)] }

    mutating func story(_ seed: UInt64) -> NightStory {
        let few: [Int] = [1, 1, 2, 2, 3, 3, 4, 5, 6, 8]
        let count = pick(40) == 0 ? 10 + pick(20) : one(of: few)
        // A depot of one kind, of one of the two usual pairs, or of all kinds.
        let kinds: [NightStory.Kind] =
            switch pick(4) {
            case 0: [one(of: NightStory.Kind.allCases)]
            case 1: [.bike, .car]
            case 2: [.van, .car]
            default: NightStory.Kind.allCases
            }
        var story = NightStory(seed: seed, vehicles: [], nights: [])
        for _ in 0..<count { story.vehicles.append(vehicle(one(of: kinds))) }
        story.policy = policy(count)
        // A vehicle that is not listed yet may be added later.
        if count > 1, pick(5) == 0 { story.vehicles[count - 1].isListed = false }
        for _ in 0..<(2 + pick(5)) { story.nights.append(night(story)) }
        var other = NightTeller(seed: seed ^ 0x5DEE_CE66)
        other.add(to: &story)
        return story
    }

    /// Judges, recalls, nights over midnight, and pauses of people beside gates that abort.
    private mutating func add(to story: inout NightStory) {
        if pick(4) == 0 { story.policy.judge = pick(3) - 1 }
        if pick(5) == 0 {
            story.nights[pick(story.nights.count)].edits.append(.recall)
            // What was begun is found by an order for one vehicle, too.
            if pick(2) == 0 {
                let vehicle = pick(story.vehicles.count)
                story.nights[pick(story.nights.count)].start = .exec(
                    vehicle: vehicle,
                    [order(story.vehicles[vehicle].kind)]
                )
            }
        }
        if pick(8) == 0 {
            story.policy.again = "daily"
            var window = NightStory.Window(from: (20 + pick(4)) * 60, minutes: 300 + pick(3) * 60)
            window.close = one(of: ["finish", "safe-point", "stop"])
            story.policy.window = window
            for night in story.nights.indices where pick(2) == 0 {
                story.nights[night].pause = one(of: [1_800, 3_600, 7_200])
            }
        }
        if pick(8) == 0 {
            (story.policy.gate, story.policy.aborts) = (0, true)
            let place = one(of: [
                Place.second(5 + pick(60)), .state("acting", 1), .use(3 + pick(40)),
            ])
            story.nights[0].incidents.append(.init(.say(.pause), at: place))
        }
        let updated = story.vehicles.indices.filter { story.vehicles[$0].steps.contains(.update) }
        if pick(8) == 0, !updated.isEmpty {
            // An order finds an update that was begun, on trial or in its transfer.
            let vehicle = updated[pick(updated.count)]
            let state = one(of: ["transferring", "settling", "settling", "confirming"])
            if pick(2) == 0 { story.policy.judge = 0 }
            story.nights[0].start = .run
            story.nights[0].incidents = [.init(.kill, at: .state(state, 1))]
            var night = NightStory.Night()
            night.pause = one(of: [10, 600])
            night.start = .exec(vehicle: vehicle, [.wait(seconds: 1)])
            if pick(2) == 0 { night.edits = [.recall] }
            story.nights.insert(night, at: 1)
        }
        if pick(10) == 0, story.vehicles.count > 1 {
            // A part by a plan, another plan, and the plan of the part.
            let vehicle = pick(story.vehicles.count)
            let (old, new) = (story.vehicles[vehicle].steps, steps(story.vehicles[vehicle].kind))
            for start in [Start.limit([vehicle]), .run, .run] {
                var night = NightStory.Night()
                night.start = start
                let isOld = start == .run && story.nights.last?.start == .limit([vehicle])
                night.edits = [.steps(vehicle: vehicle, isOld ? old : new)]
                story.nights.append(night)
            }
        }
    }

    /// People who rotate and enrol, in some of the lives in which there are keys.
    mutating func addKeys(to story: inout NightStory) {
        guard story.vehicles.contains(where: \.kind.isComodule), pick(3) == 0 else { return }
        story.policy.keys = pick(2) == 0 ? .shared : .own
        if story.policy.keys == .shared {
            // Nobody knows that a vehicle in no list needs the key that others share.
            for index in story.vehicles.indices { story.vehicles[index].isListed = true }
            for index in story.nights.indices {
                story.nights[index].edits.removeAll { edit in
                    if case .remove = edit { return true }
                    return false
                }
            }
        }
        for index in story.nights.indices {
            switch pick(5) {
            case 0, 1:
                story.nights[index].start = .rotate(splits: pick(2) == 0)
                story.nights[index].rival = nil
            case 2:
                story.nights[index].edits.append(
                    .enrol(pick(story.vehicles.count), writes: pick(5))
                )
            default: break
            }
        }
    }

    /// People who rehearse, and who give verbs where they are.
    mutating func addPeople(to story: inout NightStory) {
        guard pick(3) == 0 else { return }
        for index in story.nights.indices {
            if pick(3) == 0 { story.nights[index].isElsewhere = true }
            if pick(8) == 0 { story.nights[index].edits.append(.paste) }
            if story.policy.keys != nil, pick(3) == 0 {
                story.nights[index].edits.append(.rehearse(pick(story.vehicles.count)))
            }
        }
    }

    /// A journal that is put back, in some of the lives in which neither keys nor ids change.
    mutating func addRestores(to story: inout NightStory) {
        guard story.policy.keys == nil, !story.nights.contains(where: \.changesIDs),
            pick(4) == 0, story.nights.count > 1
        else { return }
        let night = 1 + pick(story.nights.count - 1)
        story.nights[night].edits.append(.restore(nights: 1 + pick(2)))
        // Where it is accepted later, the runs until then are refused.
        let later = night + pick(3) / 2
        if later < story.nights.count { story.nights[later].edits.append(.accept) }
    }

    /// Days on which a window does not open, and vehicles with times of their own.
    mutating func addCalendars(to story: inout NightStory) {
        if story.policy.window == nil, pick(6) == 0 {
            story.policy.window = NightStory.Window(from: pick(24) * 60, minutes: 60 + pick(8) * 60)
        }
        guard story.policy.window != nil else { return }
        if pick(2) == 0 { story.policy.window?.closed = Set([pick(7), pick(7)]).sorted() }
        if pick(2) == 0 {
            let kind = one(of: story.vehicles).kind
            story.policy.window?.own = NightStory.Window.Own(kind: kind, from: pick(24) * 60)
        }
    }

    /// Adapters with many links, some of which drop those that are too many, and lights that are
    /// silent while they erase.
    mutating func addLinks(to story: inout NightStory) {
        if pick(3) == 0 {
            story.policy.links = one(of: [3, 7])
            if pick(2) == 0 {
                story.policy.steadyLinks = 1 + pick(3)
                // Which of two is at fault, the module or the adapter, a second loss does not say.
                story.policy.transient = max(story.policy.transient, 4)
            }
        }
        if pick(4) == 0 { story.policy.erasesSilently = true }
    }

    /// A vehicle that drives when the rest of its image would be sent, in some lives.
    mutating func addDrivers(to story: inout NightStory) {
        let able = story.vehicles.indices.filter { index in
            let vehicle = story.vehicles[index]
            return vehicle.kind.isComodule && vehicle.isListed && vehicle.steps.contains(.update)
        }
        guard pick(8) == 0, !able.isEmpty, case .run = story.nights[0].start else { return }
        let vehicle = able[pick(able.count)]
        if !story.vehicles[vehicle].steps.contains(where: \.isRequirement) {
            let otherwise = one(of: ["defer", "skip", "fail"])
            story.vehicles[vehicle].steps.insert(.require(otherwise: otherwise), at: 0)
        }
        story.nights[0].incidents = [.init(.kill, at: .state("transferring", 1 + pick(2)))]
        var night = NightStory.Night()
        night.pause = one(of: [10, 600, 3_600])
        night.edits = [.drives(vehicle)]
        if pick(2) == 0 { night.start = .exec(vehicle: vehicle, [.wait(seconds: 1)]) }
        story.nights.insert(night, at: 1)
        if pick(2) == 0 {
            var later = NightStory.Night()
            later.edits = [.stands(vehicle)]
            story.nights.insert(later, at: 2)
        }
    }

    /// Vehicles that go to another depot, where another program works on them, and some that come back.
    mutating func addMoves(to story: inout NightStory) {
        // The other program's commands would be taken for ours.
        let able = story.vehicles.indices.filter { index in
            let kind = story.vehicles[index].kind
            return kind.hasUpdates && !kind.hasCommands
        }
        guard story.policy.keys == nil, pick(6) == 0, story.vehicles.count > 1, !able.isEmpty else {
            return
        }
        let vehicle = able[pick(able.count)]
        let away = pick(story.nights.count)
        let back = away + 1 + pick(3)
        story.nights[away].edits.append(.remove(vehicle))
        for index in away..<min(back, story.nights.count) where pick(3) > 0 {
            story.nights[index].rival = NightStory.Rival([vehicle], second: pick(60))
        }
        if pick(3) == 0 { story.nights[away].words.append(.clear(vehicle)) }
        if back < story.nights.count { story.nights[back].edits.append(.add(vehicle)) }
    }

    /// Other modules in vehicles, in some of the lives in which nothing else of the list changes.
    mutating func addModules(to story: inout NightStory) {
        let able = story.vehicles.indices.filter { index in
            // What locks and GO devices have done is theirs.
            let kind = story.vehicles[index].kind
            return kind != .lock && kind != .car
        }
        guard story.policy.keys == nil, pick(5) == 0, !able.isEmpty,
            !story.nights.contains(where: { $0.changesIDs || $0.putsBack })
        else { return }
        if pick(2) == 0, case .run = story.nights[0].start {
            let state = one(of: ["transferring", "settling"])
            story.nights[0].incidents = [.init(.kill, at: .state(state, 1 + pick(2)))]
        }
        for index in story.nights.indices {
            let vehicle = able[pick(able.count)]
            let likes = able.filter { other in
                other != vehicle && story.vehicles[other].kind == story.vehicles[vehicle].kind
            }
            switch pick(6) {
            case 0, 1: story.nights[index].edits.append(.refitted(vehicle))
            case 2, 3:
                guard !likes.isEmpty else { break }
                let other = likes[pick(likes.count)]
                story.nights[index].edits.append(.swapped(vehicle, other, isSaid: pick(2) == 0))
            case 4:
                if !likes.isEmpty { story.nights[index].edits.append(.twin(vehicle, likes[0])) }
            default: break
            }
        }
    }

    /// People who roll back and recall, in some of the lives in which modules and ids stay where they are.
    mutating func addWaysBack(to story: inout NightStory) {
        let hasUpdates = story.vehicles.contains { $0.steps.contains(.update) }
        guard pick(4) == 0, hasUpdates, refitless(story) else { return }
        let release = pick(story.nights.count)
        story.nights[release].edits.append(.newImages)
        if pick(2) == 0 {
            let place = one(of: [
                Place.second(5 + pick(90)), .state("transferring", 1 + pick(2)), .use(3 + pick(60)),
                .state("inspecting", 1 + pick(3)),
            ])
            story.nights[release].incidents.append(.init(.say(.recallImages), at: place))
        }
        for index in (release + 1)..<max(release + 1, story.nights.count) {
            switch pick(4) {
            case 0, 1: (story.nights[index].start, story.nights[index].rival) = (.rollback, nil)
            case 2: story.nights[index].words.append(.recallImages)
            default: if pick(3) == 0 { story.nights[index].words.append(.liftRecalls) }
            }
        }
        var night = NightStory.Night()
        night.start = .rollback
        if pick(2) == 0 {
            let state = one(of: ["transferring", "settling", "inspecting"])
            night.incidents = [
                .init(one(of: [.kill, .power, .stop]), at: .state(state, 1 + pick(2)))
            ]
            story.nights.append(night)
            night.incidents = []
        }
        if pick(3) > 0 { story.nights.append(night) }
    }

    private func refitless(_ story: NightStory) -> Bool {
        story.policy.keys == nil
            && !story.nights.contains { $0.changesIDs || $0.putsBack || !$0.refits.isEmpty }
    }

    /// Lists that change, in some of the lives without keys.
    mutating func addLists(to story: inout NightStory) {
        guard story.policy.keys == nil, pick(4) == 0 else { return }
        for index in story.nights.indices {
            for _ in 0..<2 {
                let vehicle = pick(story.vehicles.count)
                switch pick(9) {
                case 0, 1: story.nights[index].edits.append(.called(vehicle, isSaid: true))
                case 2, 3: story.nights[index].edits.append(.called(vehicle, isSaid: false))
                case 4:
                    let other = pick(story.vehicles.count)
                    if other != vehicle {
                        story.nights[index].edits.append(.exchanged(vehicle, other))
                    }
                case 5: story.nights[index].edits.append(.remove(vehicle))
                case 6: story.nights[index].edits.append(.add(vehicle))
                default: break
                }
            }
        }
    }

    private mutating func policy(_ count: Int) -> NightStory.Policy {
        var policy = NightStory.Policy()
        if count > 1, pick(2) == 0 { policy.waves = [1 + pick(count - 1)] }
        if pick(2) == 0 { policy.gate = pick(2) }
        if pick(4) == 0 { policy.again = pick(2) == 0 ? "each-run" : "daily" }
        if pick(5) == 0 {
            policy.window = NightStory.Window(from: pick(24) * 60, minutes: 60 + pick(6) * 60)
        }
        if pick(4) == 0 { policy.adapters = 2 }
        if pick(4) == 0 { policy.links = 2 }
        if pick(6) == 0 { policy.takesTurns = false }
        if pick(8) == 0 { policy.airtime = 20 + pick(100) }
        if pick(4) == 0 { policy.transient = pick(2) }
        if pick(6) == 0 { policy.device = 0 }
        if pick(8) == 0 { policy.quarantine = 1 + pick(2) }
        if pick(3) == 0 {
            let menus: [[NightStory.Step]] = [
                [.command(["lock"])], [.lights("disabled")],
                [.command(["lock"]), .command(["ignition-inhibit"])],
                [.command(["lock"]), .lights("disabled")], [.feature("auto-lock", "9")],
                [.command(["locate"]), .command(["lock"])],
            ]
            policy.always = one(of: menus)
        }
        policy.aborts = pick(12) == 0
        policy.asks = pick(10) == 0
        if pick(3) == 0 { policy.window?.close = one(of: ["safe-point", "stop"]) }
        return policy
    }

    // MARK: Vehicles

    private mutating func vehicle(_ kind: NightStory.Kind) -> NightStory.Vehicle {
        var vehicle = NightStory.Vehicle(kind, steps(kind))
        if pick(5) < 2 { vehicle.faults = [fault(kind)] }
        if !vehicle.faults.isEmpty, pick(4) == 0 {
            let second = fault(kind)
            if second.prefix(8) != vehicle.faults[0].prefix(8) { vehicle.faults.append(second) }
        }
        return vehicle
    }

    private mutating func steps(_ kind: NightStory.Kind) -> [NightStory.Step] {
        var steps: [NightStory.Step] = []
        if kind.isComodule, pick(3) == 0 {
            steps.append(.require(otherwise: one(of: ["defer", "skip", "fail"])))
        }
        if kind.hasCommands, pick(3) > 0 { steps.append(.command(words())) }
        if kind.hasUpdates, pick(5) > 0 || (kind != .van && !kind.isComodule) {
            steps.append(.update)
        }
        if kind.isComodule {
            if pick(3) == 0 { steps.append(.lights(one(of: ["disabled", "enabled"]))) }
            if pick(5) == 0 { steps.append(.read("odometer")) }
        }
        if kind == .lock {
            for name in ["auto-lock", "lock", "led", "name"] where pick(2) == 0 {
                steps.append(feature(name))
            }
            if pick(4) == 0 { steps.append(.read("lock")) }
            if pick(6) == 0 { steps.append(.expect("lock", "== locked")) }
        }
        if kind.hasCommands, pick(2) == 0 {
            steps.append(.command(words()))
            // Two equal steps count as two.
            if pick(6) == 0, let last = steps.last { steps.append(last) }
        }
        if pick(8) == 0 { steps.append(.wait(seconds: 1 + pick(20))) }
        if steps.allSatisfy(\.onlyReads) {
            switch kind {
            case .car, .van: steps.append(.command(words()))
            case .lock: steps.append(feature("auto-lock"))
            default: steps.append(.update)
            }
        }
        return steps
    }

    private mutating func feature(_ name: String) -> NightStory.Step {
        switch name {
        case "auto-lock": .feature(name, "\(5 + pick(50))")
        case "lock": .feature(name, one(of: ["locked", "unlocked"]))
        case "led": .feature(name, one(of: ["on", "off"]))
        default: .feature(name, "gate\(pick(9))")
        }
    }

    private mutating func words() -> [String] {
        let single = [
            "lock", "unlock-all", "unlock-driver", "open-trunk", "close-trunk", "locate",
            "ignition-inhibit", "ignition-enable", "check-in", "check-out",
        ]
        if pick(6) == 0 { return ["unlock-all", "locate"] }
        return [one(of: single)]
    }

    private mutating func fault(_ kind: NightStory.Kind) -> String {
        let at = 200 + pick(2_500)
        let times = 1 + pick(4)
        let phase = one(of: [
            "handshake", "request", "challenge", "command", "acknowledgement", "result",
        ])
        let list: [String] =
            switch kind {
            case .bike, .van:
                [
                    "link-lost-at: \(at), times: \(times)", "silent-at: \(at), times: \(times)",
                    "restart-at: \(at)", "restarts-in-erase-at: \(at)", "drops-packet-at: \(at)",
                    "wrong-checksum-from: \(at)", "wrong-offset-from: \(at)",
                    "loses-notification: \(1 + pick(9))", "repeats-notification: \(1 + pick(9))",
                    "flash-full: true", "refuses-boot: true, times: \(times)",
                    "reverts-after: \(1 + pick(15))s", "refuses-init: true",
                    "refuses-bootloader: true, times: \(times)",
                    "returns-unchanged: true, times: \(times)", "never-returns: true",
                    "ongoing-for: \(10 + pick(50))s, period: 4s", "restarts-after-return: true",
                    "connect-fails: true, times: \(times)", "address-changes: true",
                    "link-lost-in: state, times: \(times)", "silent-in: register",
                    "refuses-key: true", "ignores-writes: true, times: \(times)",
                ]
            case .car:
                [
                    "no-handshake: true", "no-handshake-ack: true",
                    "handshake-again-in: \(phase)", "challenge-early: true",
                    "wrong-checksum: true", "no-reply-in: command", "rejects-in: command",
                    "no-challenge: true", "no-ack: true", "no-result: true, times: \(times)",
                    "late-result: \(10 + pick(150))s", "nack: 4", "nack: 9",
                    "fails-silently: true", "disconnect-in: \(phase), times: \(times)",
                ]
            case .lock:
                [
                    "slow: \(1 + pick(20))s", "silent: true, times: \(times)",
                    "wrong-kind: true, times: \(times)", "garbage: true", "storm: 5",
                    "link-lost: true, times: \(times)", "connect-fails: true, times: \(times)",
                ]
            case .light:
                [
                    "link-lost-at: \(at), times: \(times)", "silent-at: \(at)",
                    "restart-at: \(at)", "answer-lost-at: \(at)", "answer-twice-at: \(at)",
                    "piece-lost-at: \(at)", "corrupted-at: \(at)", "wrong-offset-at: \(at)",
                    "flash-full-at: \(at)", "busy: true, times: \(times)",
                    "restarts-in-erase: true", "marks-lost: true", "crashes: true",
                    "refuses-test: true", "refuses-confirm: true", "ignores-reset: true",
                    "never-returns: true", "connect-fails: true, times: \(times)",
                    "address-changes: true",
                ]
            case .tag, .oldTag:
                [
                    "link-lost-at: \(at), times: \(times)", "silent-at: \(at)",
                    "restart-at: \(at)", "packet-lost-at: \(at)",
                    "loses-notification: \(1 + pick(9))", "refuses-init: true",
                    "ignores-entry: true, times: \(times)",
                    "returns-unchanged: true, times: \(times)", "never-returns: true",
                    "connect-fails: true, times: \(times)",
                ]
            case .sensor:
                [
                    "link-lost-at: \(at), times: \(times)", "silent-at: \(at)",
                    "restart-at: \(at)", "loses-ack: \(1 + pick(2))", "refuses-start: true",
                    "fails-silently: true, times: \(times)", "rolls-back: true",
                    "never-returns: true", "connect-fails: true, times: \(times)",
                ]
            }
        return one(of: list)
    }

    // MARK: Nights

    private mutating func night(_ story: NightStory) -> NightStory.Night {
        let count = story.vehicles.count
        var night = NightStory.Night()
        night.pause = one(of: [10, 600, 3_600, 8 * 3_600, 20 * 3_600])
        if pick(6) == 0 { night.clock = clock() }
        if pick(3) == 0 { for _ in 0...pick(2) { night.edits.append(edit(story)) } }
        for _ in 0..<pick(4) { night.words.append(word(count)) }
        switch pick(14) {
        case 0: night.start = .again
        case 1: night.start = .limit((0...pick(2)).map { _ in pick(count) })
        case 2:
            let vehicle = pick(count)
            night.start = .exec(vehicle: vehicle, [order(story.vehicles[vehicle].kind)])
        default: break
        }
        if pick(3) > 0 { night.incidents.append(incident(story)) }
        if pick(5) == 0 { night.incidents.append(incident(story)) }
        if pick(10) == 0 {
            let vehicles = story.vehicles.indices.filter {
                let kind = story.vehicles[$0].kind
                return kind.hasUpdates && !kind.hasCommands && pick(2) == 0
            }
            if !vehicles.isEmpty {
                night.rival = NightStory.Rival(vehicles, second: pick(one(of: [5, 300])))
            }
        }
        return night
    }

    mutating func clock() -> Int {
        one(of: [-30 * 86_400, -86_400, -3_600, -60, 60, 3_600, 86_400, 30 * 86_400])
    }

    private mutating func order(_ kind: NightStory.Kind) -> NightStory.Step {
        switch kind {
        case .car: .command(words())
        case .van: pick(2) == 0 ? .command(words()) : .read("odometer")
        case .lock: pick(2) == 0 ? feature("auto-lock") : .read("lock")
        case .bike: pick(2) == 0 ? .lights("enabled") : .read("odometer")
        case .light, .tag, .oldTag, .sensor: .update
        }
    }

    private mutating func edit(_ story: NightStory) -> NightStory.Edit {
        let vehicle = pick(story.vehicles.count)
        let kind = story.vehicles[vehicle].kind
        return switch pick(12) {
        case 0, 1: .newImages
        case 2, 3: .steps(vehicle: vehicle, steps(kind))
        case 4: .remove(vehicle)
        case 5: .add(vehicle)
        case 6: .rename(one(of: ["yard", "other"]))
        case 7, 8: .drives(vehicle)
        case 9: .stands(vehicle)
        case 10: .leaves(vehicle)
        default: .returns(vehicle)
        }
    }

    mutating func word(_ count: Int) -> NightStory.Word {
        let vehicle = pick(count)
        return switch pick(26) {
        case 24: .clearDepot
        case 25: .abort
        case 0...2: .pause
        case 3...7: .resume
        case 8...10: .retryAll
        case 11...13: .retry(vehicle)
        case 14, 15: .inhibit(vehicle)
        case 16...18: .uninhibit(vehicle)
        case 19, 20: .clear(vehicle)
        case 21: .inhibitDepot
        case 22: .uninhibitDepot
        default: pick(3) == 0 ? .abort : .resume
        }
    }

    /// A place that is not a write, one by the clock, one by a state, and a write.
    mutating func places() -> (any: Place, second: Place, state: Place, write: Place) {
        let use = Place.use(1 + pick(one(of: [20, 100, 400])))
        let second = Place.second(1 + pick(one(of: [20, 120, 600])))
        let state = Place.state(
            one(of: ExecutionState.allCases.filter { $0 != .ended }).rawValue,
            1 + pick(3)
        )
        let place = one(of: [use, second, state, state])
        return (place, second, state, .write(1 + pick(one(of: [10, 60]))))
    }

    typealias Place = NightStory.Place
    typealias Start = NightStory.Start

    private mutating func incident(_ story: NightStory) -> NightStory.Incident {
        let count = story.vehicles.count
        let (place, second, state, write) = places()
        switch pick(22) {
        case 0...2: return .init(.kill, at: place)
        case 3, 4: return .init(.power, at: place)
        case 5: return .init(.kill, at: write)
        case 6, 7: return .init(.power, at: write)
        case 20, 21: return .init(.refusedWrite, at: pick(2) == 0 ? write : place)
        case 8, 9:
            let gone = one(of: [5, 60, 200, 5_000])
            return .init(
                .adapterGone(pick(story.policy.adapters), seconds: gone),
                at: place
            )
        case 10, 11:
            return .init(.serviceGone(seconds: one(of: [5, 60, 200, 5_000])), at: place)
        case 12, 13: return .init(.stop, at: place)
        case 14: return .init(.clock(clock()), at: pick(2) == 0 ? second : state)
        default: return .init(.say(word(count)), at: place)
        }
    }
}
