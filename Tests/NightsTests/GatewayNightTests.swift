import Foundation
import Nights
import Testing

/// Nights of several gateways over a real PostgreSQL, checked against docs/promises.md.
///
/// `scripts/nights --gateways` runs more of them.
@Suite(.enabled(if: FleetNightGround.absence == nil, "PostgreSQL is not installed"), .serialized)
struct GatewayNightTests {
    /// Lives that once broke a promise, as printed by `scripts/nights --gateways`.
    private static let stories: [String] = {
        let files = folder.flatMap {
            try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        return (files ?? []).map(\.lastPathComponent).filter { $0.hasSuffix(".json") }.sorted()
    }()

    private static let folder = Bundle.module.url(
        forResource: "Gateways",
        withExtension: nil,
        subdirectory: "Stories"
    )

    @Test(arguments: stories)
    func `a life of several gateways that once broke a promise breaks none`(name: String) throws {
        let folder = try #require(Self.folder)
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let result = try FleetNightStory(text: text).live()
        #expect(result.broken == [], "\(name)")
    }

    @Test func `generated nights of several gateways break no promise`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["YARDMASTER_GATEWAY_NIGHTS"].flatMap { UInt64($0) } ?? 10
        let first = environment["YARDMASTER_NIGHTS_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<(first + count) {
            let story = FleetNightStory(seed: seed)
            let result = try story.live()
            for broken in result.broken { Issue.record("seed \(seed): \(broken)") }
            if seed % 10 == 0 {
                #expect(try story.live().trace == result.trace, "one seed, one life: \(seed)")
            }
        }
    }

    /// With SMP, in which each packet is a use of the radio and a module reports how much it has.
    ///
    /// The link of a stopped process stays: nobody hears the module before the process continues.
    @Test
    func
        `a gateway stopped past its right in mid-image sends nothing more, and another one resumes there`()
        throws
    {
        func live(_ incidents: [FleetNightStory.Incident]) throws -> NightResult {
            var night = FleetNightStory.Night(starts: [.init(0, second: 0), .init(1, second: 1)])
            night.incidents = incidents
            let story = FleetNightStory(
                seed: 1,
                vehicles: [.init(.light, [.update])],
                gateways: [.init(), .init()],
                nights: [night]
            )
            return try story.live()
        }
        /// How much the module has received in all, by its own count.
        func count(_ record: Substring?) throws -> Int {
            let words = try #require(record).split(separator: " ")
            let place = try #require(words.firstIndex(of: "got"))
            return try #require(Int(words[place + 1]))
        }
        func stopped(at use: Int) throws -> (NightResult, before: Int?) {
            let result = try live([.init(.suspended(seconds: 220), at: .use(use), on: 0)])
            let stop = result.trace.first { $0.contains("g1 is stopped: v1") }
            return (result, try stop.map { try count($0[...]) })
        }
        // A use of the radio at which the module has little of the image, and one at which it has most of it.
        var (use, end) = (1, 128)
        while use < end {
            let middle = (use + end) / 2
            if let before = try stopped(at: middle).before, before < 11 {
                use = middle + 1
            } else {
                end = middle
            }
        }
        var counts: [(before: Int, all: Int)] = []
        for use in [use, use + 12] {
            let (result, before) = try stopped(at: use)
            #expect(result.broken == [], "among others: nothing is sent without a right")
            let trace = result.trace.joined(separator: "\n")
            let taken = result.trace.first { $0.hasPrefix("1 g2") }
            #expect(taken?.hasSuffix("v1 succeeded") == true, "\(trace)")
            counts.append((try #require(before), try count(result.records["v1"].map { $0[...] })))
        }
        #expect(counts[1].before >= counts[0].before + 5, "\(counts)")
        // What the module had before the stop is not sent again: its place costs at most the packet that was lost.
        #expect(counts[1].all <= counts[0].all + 2, "\(counts)")
    }

    /// The dead gateway has sent everything, so the other one only sees what came of it.
    @Test func `a gate counts what one gateway began and another found unchanged`() throws {
        var night = FleetNightStory.Night(starts: [.init(0, second: 0), .init(1, second: 1)])
        var death = FleetNightStory.Incident(.kill, at: .state("settling", 1), on: 0)
        death.away = 3_000
        night.incidents = [death]
        let faults = ["returns-unchanged: true, times: 99"]
        var story = FleetNightStory(
            seed: 1,
            vehicles: (1...3).map { _ in .init(.bike, [.update], faults: faults) },
            gateways: [.init(), .init()],
            nights: [night]
        )
        story.policy.gate = 0
        let result = try story.live()
        let trace = result.trace.joined(separator: "\n")
        #expect(result.trace.first?.hasPrefix("1 g1 yard cut") == true, "\(trace)")
        #expect(result.broken == [], "\(trace)")
    }

    @Test func `a story of several gateways is read back as it was written`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let story = FleetNightStory(seed: seed)
            #expect(try FleetNightStory(text: story.text) == story)
        }
    }
}
