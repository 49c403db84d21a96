extension FleetNightStory: Story {
    /// Stories with one thing fewer, the greatest first.
    package var smaller: [FleetNightStory] {
        var list: [FleetNightStory] = []
        func add(_ change: (inout FleetNightStory) -> Void) {
            var story = self
            change(&story)
            if story != self { list.append(story) }
        }
        if nights.count > 1 {
            for index in nights.indices { add { $0.nights.remove(at: index) } }
        }
        if vehicles.count > 1 { add { $0.dropLastVehicle() } }
        if gateways.count > 1 { add { $0.dropLastGateway() } }
        add { $0.dropShared() }
        for index in vehicles.indices {
            add { $0.vehicles[index].faults = [] }
            for step in vehicles[index].steps.indices where vehicles[index].steps.count > 1 {
                add { $0.vehicles[index].steps.remove(at: step) }
            }
        }
        for night in nights.indices {
            for index in nights[night].starts.indices where nights[night].starts.count > 1 {
                add { $0.nights[night].starts.remove(at: index) }
            }
            for index in nights[night].incidents.indices {
                add { $0.nights[night].incidents.remove(at: index) }
            }
            for index in nights[night].words.indices {
                add { $0.nights[night].words.remove(at: index) }
            }
            for index in nights[night].edits.indices {
                add { $0.nights[night].edits.remove(at: index) }
            }
            for index in nights[night].starts.indices {
                add { $0.nights[night].starts[index].second = 0 }
                add { $0.nights[night].starts[index].again = false }
            }
            add { $0.nights[night].pause = 3_600 }
        }
        for index in gateways.indices {
            add { $0.gateways[index].deaf = [] }
            add { $0.gateways[index].far = [] }
            add { $0.gateways[index].clock = 0 }
        }
        for policy in policy.smaller { add { $0.policy = policy } }
        return list
    }

    private mutating func dropLastVehicle() {
        vehicles.removeLast()
        let last = vehicles.count
        for index in gateways.indices {
            gateways[index].deaf.removeAll { $0 == last }
            gateways[index].far.removeAll { $0 == last }
        }
        shared.removeAll { $0 == last }
        if shared.isEmpty { dropShared() }
        for index in nights.indices {
            nights[index].edits.removeAll { $0.isAbout(last) }
            nights[index].words.removeAll { $0.word.isAbout(last) }
            nights[index].incidents.removeAll { incident in
                if case .say(let word) = incident.what { return word.isAbout(last) }
                return false
            }
        }
        policy.waves.removeAll { $0 >= vehicles.count }
    }

    private mutating func dropLastGateway() {
        gateways.removeLast()
        let last = gateways.count
        for index in nights.indices {
            nights[index].starts.removeAll { $0.gateway == last }
            nights[index].words.removeAll { $0.gateway == last }
            nights[index].incidents.removeAll { $0.gateway == last }
            if nights[index].starts.isEmpty { nights[index].starts = [Start(0, second: 0)] }
        }
    }

    private mutating func dropShared() {
        shared = []
        for index in nights.indices {
            for start in nights[index].starts.indices {
                nights[index].starts[start].rollout = .whole
            }
        }
    }
}
