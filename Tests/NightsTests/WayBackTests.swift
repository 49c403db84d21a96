import Base
import Foundation
import Nights
import Testing

/// A depot that is brought back after a tripped gate, by a process that dies again and again.
@Suite struct WayBackTests {
    private static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    /// The modules' own records decide.
    ///
    /// `YARDMASTER_ROLLBACK_VEHICLES=300 YARDMASTER_ROLLBACK_KILLS=200` is the
    /// long run.
    @Test func `whenever the process dies, a depot that is rolled back runs what it ran before`()
        throws
    {
        let count = Self.number("YARDMASTER_ROLLBACK_VEHICLES", 20)
        let kills = Self.number("YARDMASTER_ROLLBACK_KILLS", 6)
        let seed = UInt64(Self.number("YARDMASTER_ROLLBACK_SEED", 7))
        var random = SplitMix64(seed: seed)
        let kinds: [NightStory.Kind] = [.bike, .tag, .light, .oldTag, .sensor]
        var story = NightStory(
            seed: seed,
            vehicles: (0..<count).map { NightStory.Vehicle(kinds[$0 % kinds.count], [.update]) },
            nights: []
        )
        // The second release is found unwell, so that the gate trips in the middle of it.
        (story.policy.judge, story.policy.gate) = (1, count / 3)
        // An update that is found unwell is not tried again.
        story.policy.device = 0
        (story.policy.adapters, story.policy.links) = (2, 2)
        var release = NightStory.Night()
        release.edits = [.newImages]
        story.nights = [NightStory.Night(), release]
        for _ in 0..<kills {
            var night = NightStory.Night()
            night.start = .rollback
            let most = UInt64(max(20, count * 80 / max(1, kills)))
            night.incidents = [.init(.kill, at: .write(1 + Int(random.next() % most)))]
            story.nights.append(night)
        }
        var last = NightStory.Night()
        last.start = .rollback
        story.nights.append(last)
        let result = try story.live()
        #expect(result.broken == [])
        let (before, tripped) = (result.versions[0], result.versions[1])
        #expect(zip(before, tripped).count { $0 != $1 } > count / 5, "the gate came too early")
        #expect(zip(before, tripped).contains { $0 == $1 }, "the gate did not trip")
        #expect(result.versions[story.nights.count - 1] == before)
    }
}
