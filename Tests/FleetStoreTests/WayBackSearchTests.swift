import Base
import Families
import Manifest
import Radio
import Rollout
import Store
import Testing

/// What each vehicle of a rollout goes back to, and why it stays as it is.
@Suite struct WayBackSearchTests {
    private typealias Bus = RecallContractTests.Bus
    private typealias Fate = WayBackSearch.Fate

    /// The plan of a rollout that sends image 2, of version 2, to a bus and a tram.
    private func plan(_ trust: String = "") throws -> FrozenPlan {
        let digest = String(repeating: "02", count: 32)
        let text = """
            name: city
            vehicles:
              - {id: bus, serial: a1, family: nordic}
              - {id: tram, serial: a2, family: nordic}
            images:
              city-2:
                url: file:city-2
                sha256: "\(digest)"
                version: "2.0.0"
                fits: {family: nordic}
            steps: [{update: city-2}]
            rollout: {waves: [1, rest], again: daily}
            \(trust)
            """
        let read = try ManifestReader.read(Array(text.utf8), path: "city.yaml") {
            (_, _) throws(FileError) in []
        }
        return try #require(read.plan, "\(read.diagnostics)")
    }

    private func image(_ byte: UInt8, _ version: UInt32, _ name: String = "old") throws
        -> PlannedImage
    {
        PlannedImage(
            name: name,
            path: "/images/\(name)",
            digest: try #require(SHA256Digest(bytes: [UInt8](repeating: byte, count: 32))),
            version: FirmwareVersion(version, 0),
            for: Family(rawValue: "nordic")
        )
    }

    private func answer(
        _ bus: Bus,
        _ images: [PlannedImage],
        trust: String = "",
        objection: @escaping WayBackSearch.Objection = { _, _, _ in nil }
    ) async throws -> WayBackSearch.Answer {
        WayBackSearch(
            from: try plan(trust),
            try await bus.transfers,
            among: images.map { WayBackSearch.Candidate($0) },
            recalls: try await bus.recalls,
            objection: objection
        ).answer()
    }

    @Test func `a vehicle goes back to the build that it ran, and one that got nothing is left`()
        async throws
    {
        try await Bus.with(.journal) { bus in
            try await bus.pay(try await bus.begin(1, 1, over: 9).debt)
            try await bus.pay(try await bus.begin(2, 2, over: 1).debt)
            let (other, own) = (try image(8, 1, "other"), try image(1, 1))
            let answer = try await answer(bus, [other, own])
            #expect(answer.fates.map(\.fate) == [.back(to: own), .untouched])
            let plan = try plan().returning(answer.way)
            #expect(plan.name == "city-rollback" && plan.vehicles.map(\.id.text) == ["bus"])
            #expect(plan.images.map(\.digest) == [own.digest])
            #expect(plan.rollout.overlap == .replace && plan.rollout.again == .whenAsked)
            #expect(FrozenPlan.rolledBack(by: plan.name) == "city")
            let kept = try #require(WayBack(text: answer.way.text))
            // A place is where somebody reads it.
            #expect(kept.targets == answer.way.targets && kept.text == answer.way.text)
            #expect(try self.plan().returning(kept).digest == plan.digest)
        }
    }

    @Test func `a vehicle is refused before the radio for its own reason`() async throws {
        try await Bus.with(.journal) { bus in
            func refusal(
                _ images: [PlannedImage],
                trust: String = "",
                objection: @escaping WayBackSearch.Objection = { _, _, _ in nil }
            ) async throws -> String {
                let found = try await answer(bus, images, trust: trust, objection: objection)
                guard case .refused(let why) = found.fates[0].fate else { return "" }
                #expect(found.way.targets.isEmpty)
                return why
            }
            _ = try await bus.begin(2, 2, over: nil)
            #expect(try await refusal([try image(1, 1)]).contains("in its bootloader"))
            _ = try await bus.begin(2, 2, over: 1)
            #expect(try await refusal([]).contains("give it with --image FILE"))
            #expect(try await refusal([try image(1, 7)]).contains("it ran 1.0.0 before"))
            let one = String(repeating: "01", count: 32)
            let denied = try await refusal([try image(1, 1)], trust: "trust: {deny: [\"\(one)\"]}")
            #expect(denied.contains("denies"))
            let objected = try await refusal([try image(1, 1)]) { vehicle, sent, image in
                "\(vehicle.id) \(sent.name) \(image.name)"
            }
            #expect(objected == "bus city-2 old")
            try await bus.recall(1)
            #expect(try await refusal([try image(1, 1)]).contains("is recalled, by mia: brakes"))
            #expect(try await bus.lift(1))
            #expect(try await refusal([try image(1, 1)]).isEmpty)
        }
    }

    @Test
    func `an image of which only the store knows goes to modules that have run it, and no other`()
        async throws
    {
        try await Bus.with(.journal) { bus in
            func fate() async throws -> Fate {
                WayBackSearch(
                    from: try plan(),
                    try await bus.transfers,
                    among: [WayBackSearch.Candidate(try image(1, 1), isOwn: true)],
                    recalls: []
                ).answer().fates[0].fate
            }
            try await bus.pay(try await bus.begin(2, 2, over: 1).debt)
            guard case .refused = try await fate() else {
                Issue.record("nothing says that it fits")
                return
            }
            try await bus.pay(try await bus.begin(1, 1, over: 2).debt)
            try await bus.pay(try await bus.begin(2, 2, over: 1).debt)
            #expect(try await fate() == .back(to: try image(1, 1)))
        }
    }

    @Test func `a lower security counter than the module's is refused`() {
        func content(_ counters: [Int: UInt32]) -> ImageContent {
            var content = ImageContent(
                protocol: .smp,
                title: "an image",
                uses: [.application],
                version: nil,
                parts: []
            )
            content.securityCounters = counters
            return content
        }
        #expect(content([0: 3]).refusal(after: content([0: 3])) == nil)
        #expect(content([0: 4]).refusal(after: content([:])) == nil)
        #expect(
            content([0: 2]).refusal(after: content([0: 3]))?.contains("is 2, lower than 3") == true
        )
        #expect(content([:]).refusal(after: content([0: 3]))?.contains("missing") == true)
        #expect(content([0: 9]).refusal(after: content([0: 3, 1: 1])) != nil)
    }
}
