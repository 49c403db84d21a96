import Foundation
import Nights
import Testing

/// Nights generated from seeds, checked against docs/promises.md; `scripts/nights` runs more.
@Suite struct GeneratedNightTests {
    /// Lives that once broke a promise, as printed by `scripts/nights`.
    private static let stories: [String] = {
        let folder = Bundle.module.url(forResource: "Stories", withExtension: nil)
        let files = folder.flatMap {
            try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        return (files ?? []).map(\.lastPathComponent).filter { $0.hasSuffix(".json") }.sorted()
    }()

    @Test(arguments: stories)
    func `a life that once broke a promise breaks none`(name: String) throws {
        let folder = try #require(Bundle.module.url(forResource: "Stories", withExtension: nil))
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let result = try NightStory(text: text).live()
        #expect(result.broken == [], "\(name)")
    }

    @Test func `generated nights break no promise`() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["YARDMASTER_NIGHTS"].flatMap { UInt64($0) } ?? 60
        let first = environment["YARDMASTER_NIGHTS_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<(first + count) {
            let story = NightStory(seed: seed)
            let result = try story.live()
            for broken in result.broken { Issue.record("seed \(seed): \(broken)") }
            if seed % 20 == 0 {
                #expect(try story.live().trace == result.trace, "one seed, one life: \(seed)")
            }
        }
    }

    @Test func `a story is read back as it was written`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            let story = NightStory(seed: seed)
            #expect(try NightStory(text: story.text) == story)
        }
    }
}
