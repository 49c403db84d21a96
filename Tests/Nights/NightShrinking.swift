import Foundation

/// A life as a value: it is made from a seed or read from a test, played, and made smaller.
package protocol Story: Codable, Sendable, Equatable {
    init(seed: UInt64)
    func live() throws -> NightResult
    /// Stories with one element fewer, the largest reductions first.
    var smaller: [Self] { get }
}

extension Story {
    /// The smallest story found that breaks the same promise, and all promises that it breaks.
    package func shrunk(
        breaking promise: String,
        tries: Int = 400
    ) -> (story: Self, broken: [BrokenPromise]) {
        var best = self
        var found: [BrokenPromise] = []
        var left = tries
        func breaks(_ story: Self) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            guard let broken = try? story.live().broken,
                broken.contains(where: { $0.promise == promise })
            else { return false }
            found = broken
            return true
        }
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            var index = 0
            var candidates = best.smaller
            while index < candidates.count {
                if breaks(candidates[index]) {
                    best = candidates[index]
                    candidates = best.smaller
                    isSmaller = true
                    // Elements that could not be left out before seldom can be now: continue at the
                    // same index.
                    index = min(index, candidates.count)
                } else {
                    index += 1
                }
            }
            if left == 0 { break }
        }
        if found.isEmpty { found = (try? best.live().broken) ?? [] }
        return (best, found)
    }

    // MARK: As text

    /// The text of the story, which as a file in `Tests/NightsTests/Stories` is a test.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    package init(text: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }
}

extension NightStory: Story {
    package var smaller: [NightStory] {
        var list: [NightStory] = []
        func add(_ change: (inout NightStory) -> Void) {
            var story = self
            change(&story)
            if story != self { list.append(story) }
        }
        if nights.count > 1 {
            for index in nights.indices { add { $0.nights.remove(at: index) } }
        }
        if vehicles.count > 1 { add { $0.dropLastVehicle() } }
        for index in vehicles.indices {
            add { $0.vehicles[index].faults = [] }
            add { $0.vehicles[index].isListed = true }
            for step in vehicles[index].steps.indices where vehicles[index].steps.count > 1 {
                add { $0.vehicles[index].steps.remove(at: step) }
            }
        }
        for night in nights.indices {
            for index in nights[night].incidents.indices {
                add { $0.nights[night].incidents.remove(at: index) }
            }
            for index in nights[night].words.indices {
                add { $0.nights[night].words.remove(at: index) }
            }
            for index in nights[night].edits.indices {
                add { $0.nights[night].edits.remove(at: index) }
            }
            add { $0.nights[night].start = .run }
            add { $0.nights[night].clock = 0 }
            add { $0.nights[night].pause = 3_600 }
            add { $0.nights[night].rival = nil }
            add { $0.nights[night].isElsewhere = nil }
            for index in (nights[night].rival?.vehicles ?? []).indices {
                add { $0.nights[night].rival?.vehicles.remove(at: index) }
            }
        }
        for policy in policy.smaller { add { $0.policy = policy } }
        return list
    }

    /// Removes the last vehicle and everything about it.
    private mutating func dropLastVehicle() {
        vehicles.removeLast()
        let last = vehicles.count
        for index in nights.indices {
            nights[index].edits.removeAll { $0.isAbout(last) }
            nights[index].words.removeAll { $0.isAbout(last) }
            nights[index].incidents.removeAll { incident in
                if case .say(let word) = incident.what { return word.isAbout(last) }
                return false
            }
            nights[index].rival?.vehicles.removeAll { $0 == last }
            switch nights[index].start {
            case .exec(last, _): nights[index].start = .none
            case .limit(let numbers):
                let others = numbers.filter { $0 != last }
                nights[index].start = others.isEmpty ? .none : .limit(others)
            default: break
            }
        }
        policy.waves.removeAll { $0 >= vehicles.count }
    }
}

extension NightStory.Policy {
    /// Policies with one condition fewer.
    var smaller: [Self] {
        var list: [Self] = []
        func add(_ change: (inout Self) -> Void) {
            var policy = self
            change(&policy)
            list.append(policy)
        }
        add { $0.waves = [] }
        add { $0.gate = nil }
        add { $0.again = "when-asked" }
        add { $0.window = nil }
        add { $0.airtime = nil }
        add { $0.quarantine = nil }
        add { $0.links = 1 }
        add { $0.steadyLinks = nil }
        add { $0.erasesSilently = nil }
        add { $0.adapters = 1 }
        add { $0.takesTurns = true }
        add { $0.transient = 4 }
        add { $0.device = 1 }
        for index in always.indices { add { $0.always.remove(at: index) } }
        add { $0.aborts = false }
        add { $0.asks = false }
        add { $0.judge = nil }
        add { $0.keys = nil }
        add { $0.soak = nil }
        add { $0.checks = nil }
        add { $0.window?.close = "finish" }
        add { $0.window?.closed = nil }
        add { $0.window?.own = nil }
        return list
    }
}

extension NightStory.Edit {
    func isAbout(_ vehicle: Int) -> Bool {
        switch self {
        case .steps(vehicle, _), .remove(vehicle), .add(vehicle), .drives(vehicle),
            .stands(vehicle), .leaves(vehicle), .returns(vehicle), .enrol(vehicle, _),
            .called(vehicle, _), .exchanged(vehicle, _), .exchanged(_, vehicle), .rehearse(vehicle),
            .refitted(vehicle), .swapped(vehicle, _, _), .swapped(_, vehicle, _), .twin(vehicle, _),
            .twin(_, vehicle):
            true
        case .newImages, .recall, .steps, .remove, .add, .rename, .drives, .stands, .leaves,
            .returns, .enrol, .called, .exchanged, .refitted, .swapped, .twin, .rehearse, .paste,
            .restore, .accept:
            false
        }
    }
}

extension NightStory.Word {
    func isAbout(_ vehicle: Int) -> Bool {
        switch self {
        case .retry(vehicle), .inhibit(vehicle), .uninhibit(vehicle), .clear(vehicle): true
        default: false
        }
    }
}
