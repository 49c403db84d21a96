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

    @Test func `a story of several gateways is read back as it was written`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let story = FleetNightStory(seed: seed)
            #expect(try FleetNightStory(text: story.text) == story)
        }
    }
}
