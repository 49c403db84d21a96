import Foundation
import Testing

/// Lives of nights with an update server and its operator.
@Suite struct ServedLifeTests {
    private struct Count {
        var nights = 0
        var broken: [String] = []
    }

    private func live(_ seeds: Range<UInt64>, isDeaf: Bool = false) async throws -> Count {
        let ground = try ServedLife.Ground()
        var count = Count()
        let result: Result<Void, any Error>
        do {
            for seed in seeds {
                let life = try await ServedLife(seed: seed, on: ground, isDeaf: isDeaf)
                do { try await life.live() } catch let broken as ServedLife.Broken {
                    count.broken.append("seed \(seed): \(broken)")
                }
                count.nights += life.nights
            }
            result = .success(())
        } catch { result = .failure(error) }
        await ground.end()
        try result.get()
        return count
    }

    /// More with YARDMASTER_SERVED_LIVES=COUNT, from the seed YARDMASTER_SERVED_SEED on.
    @Test func `what a server shows of its actions is true over nights with its operator`()
        async throws
    {
        let environment = ProcessInfo.processInfo.environment
        let lives = environment["YARDMASTER_SERVED_LIVES"].flatMap { UInt64($0) } ?? 100
        let first = environment["YARDMASTER_SERVED_SEED"].flatMap { UInt64($0) } ?? 1
        let count = try await live(first..<(first + lives))
        #expect(count.broken == [])
        #expect(count.nights >= lives * 2)
        if lives > 100 { print("\(count.nights) nights in \(lives) lives from seed \(first)") }
    }

    @Test func `the judge sees runs that begin what has ended at the server`() async throws {
        let count = try await live(1..<101, isDeaf: true)
        #expect(count.broken.contains { $0.hasSuffix("begins after its end") })
    }
}
