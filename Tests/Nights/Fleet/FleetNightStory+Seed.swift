import Base

extension FleetNightStory {
    /// What a seed makes.
    package init(seed: UInt64) {
        // Vehicles, their faults and the policy are those of a night of one gateway.
        let single = NightStory(seed: seed)
        self.init(seed: seed, vehicles: single.vehicles, gateways: [], nights: [])
        if vehicles.count > 6 { vehicles.removeLast(vehicles.count - 6) }
        for index in vehicles.indices { vehicles[index].isListed = true }
        policy = single.policy
        policy.waves = policy.waves.filter { $0 < vehicles.count }
        policy.adapters = 1
        var teller = NightTeller(seed: seed ^ 0xF1EE_7000)
        teller.placeGateways(&self)
        teller.divide(&self)
        for _ in 0..<5 { nights.append(teller.night(self)) }
    }
}

extension NightTeller {
    fileprivate mutating func placeGateways(_ story: inout FleetNightStory) {
        let count = 2 + pick(one(of: [1, 2, 4]))
        let vehicles = story.vehicles.indices
        for _ in 0..<count {
            var gateway = FleetNightStory.Gateway()
            gateway.deaf = vehicles.filter { _ in pick(3) == 0 }
            gateway.far = vehicles.filter { _ in pick(4) == 0 }
            if pick(4) == 0 { gateway.clock = one(of: [-3_600, -60, 60, 3_600]) }
            story.gateways.append(gateway)
        }
        // Everybody is heard by somebody.
        for vehicle in vehicles where story.gateways.allSatisfy({ $0.deaf.contains(vehicle) }) {
            story.gateways[pick(count)].deaf.removeAll { $0 == vehicle }
        }
        if pick(4) == 0 { story.shared = vehicles.filter { _ in pick(2) == 0 } }
    }

    /// Most lives begin their rollout several times, in waves with something between them.
    fileprivate mutating func divide(_ story: inout FleetNightStory) {
        if pick(2) == 0 { story.policy.again = one(of: ["each-run", "each-run", "daily"]) }
        let vehicles = story.vehicles.count
        if vehicles > 1, pick(2) == 0 { story.policy.waves = [1 + pick(vehicles - 1)] }
        if pick(3) == 0 { story.policy.soak = one(of: [30, 600, 7_200]) }
        if pick(4) == 0 { story.policy.checks = true }
    }

    fileprivate mutating func night(_ story: FleetNightStory) -> FleetNightStory.Night {
        let (gateways, vehicles) = (story.gateways.count, story.vehicles.count)
        var night = FleetNightStory.Night(starts: [])
        night.pause = one(of: [10, 600, 3_600, 8 * 3_600, 20 * 3_600])
        for gateway in 0..<gateways where pick(6) > 0 {
            var start = FleetNightStory.Start(gateway, second: pick(one(of: [5, 60, 600])))
            if !story.shared.isEmpty, pick(3) == 0 { start.rollout = .other }
            start.again = pick(10) == 0
            night.starts.append(start)
        }
        if night.starts.isEmpty { night.starts = [.init(pick(gateways), second: 0)] }
        if pick(4) == 0 { night.edits.append(edit(vehicles)) }
        if pick(3) == 0 { night.edits.append(.newImages) }
        for _ in 0..<pick(one(of: [1, 1, 3])) {
            night.words.append(.init(word(vehicles), on: pick(gateways)))
        }
        for _ in 0..<pick(one(of: [2, 3, 4])) { night.incidents.append(incident(story)) }
        return night
    }

    private mutating func edit(_ vehicles: Int) -> NightStory.Edit {
        let vehicle = pick(vehicles)
        return switch pick(5) {
        case 0: .newImages
        case 1: .drives(vehicle)
        case 2: .stands(vehicle)
        case 3: .leaves(vehicle)
        default: .returns(vehicle)
        }
    }

    private mutating func incident(_ story: FleetNightStory) -> FleetNightStory.Incident {
        let (place, second, state, write) = places()
        func on(
            _ what: NightStory.Event,
            _ place: NightStory.Place
        ) -> FleetNightStory.Incident {
            .init(what, at: place, on: 0)
        }
        var incident: FleetNightStory.Incident
        switch pick(26) {
        case 0...2: incident = on(.kill, place)
        case 3: incident = on(.kill, write)
        case 4: incident = on(.power, place)
        case 5: incident = on(.power, write)
        case 6...9: incident = on(.suspended(seconds: one(of: [5, 50, 70, 200, 400])), place)
        case 10...12: incident = on(.cutOff(seconds: one(of: [5, 40, 90, 300, 2_500])), place)
        case 13, 14: incident = on(.answerLost, place)
        case 15, 16: incident = on(.databaseAway(seconds: one(of: [3, 30, 120, 600])), place)
        case 17: incident = on(.refusedWrite, pick(2) == 0 ? write : place)
        case 18: incident = on(.stop, place)
        case 19: incident = on(.adapterGone(0, seconds: one(of: [5, 60, 200, 5_000])), place)
        case 20: incident = on(.serviceGone(seconds: one(of: [5, 60, 200, 5_000])), place)
        case 21:
            let jump = story.policy.window == nil ? clock() : one(of: [-3_600, -60, 60, 3_600])
            incident = on(.clock(jump), pick(2) == 0 ? second : state)
        default: incident = on(.say(word(story.vehicles.count)), place)
        }
        incident.gateway = pick(story.gateways.count)
        incident.away = one(of: [1, 30, 90, 300, 3_000])
        return incident
    }
}
