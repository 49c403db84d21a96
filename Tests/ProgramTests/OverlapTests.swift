import Foundation
import Testing

/// Two runs with one state directory, as when cron starts one while the last one still works.
@Suite(.serialized) struct OverlapTests {
    /// The first run would take a minute, so it still runs however long the second takes to start.
    private func pair(
        _ overlap: String
    ) throws -> (first: Program.Running, second: Program.Running) {
        let program = try Program.steered(5, rollout: "{overlap: \(overlap)}")
        let first = try program.begin("first", program.steeredRun + ["--pace", "2", "--json"])
        #expect(first.waits(for: "transferring"))
        let second = try program.begin("second", program.steeredRun + ["--json"])
        kept.append(program)
        return (first, second)
    }

    /// Keeps the folders as long as the runs.
    private final class Kept { var programs: [Program] = [] }
    private let shelf = Kept()
    private var kept: [Program] {
        get { shelf.programs }
        nonmutating set { shelf.programs = newValue }
    }

    private func count(_ result: Program.Result, _ name: String) throws -> Int {
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let counts = try #require((document as? [String: Any])?["counts"] as? [String: Any])
        return try #require(counts[name] as? Int)
    }

    @Test func `with skip the second leaves at once and the first is not disturbed`() throws {
        let (first, second) = try pair("skip")
        let refused = second.result()
        #expect(refused.status == 75)
        #expect(refused.errors.contains("process \(first.process.processIdentifier)"))
        #expect(second.events.isEmpty)
        first.hurries()
        let done = first.result()
        #expect(done.status == 0)
        #expect(try count(done, "succeeded") == 5)
    }

    @Test func `with wait the second begins when the first has ended`() throws {
        let (first, second) = try pair("wait")
        #expect(second.says("this one waits"))
        #expect(second.events.isEmpty)
        first.hurries()
        let done = first.result()
        #expect(done.status == 0)
        #expect(try count(done, "succeeded") == 5)
        let after = second.result()
        #expect(after.status == 0)
        #expect(try count(after, "already-current") == 5)
    }

    @Test func `who waits can be told to leave, and has begun nothing`() throws {
        let (first, second) = try pair("wait")
        #expect(second.says("this one waits"))
        kill(second.process.processIdentifier, SIGTERM)
        let left = second.result()
        #expect(left.status == 75)
        #expect(left.errors.contains("ended while it waited for another run"))
        #expect(second.events.isEmpty)
        first.hurries()
        #expect(first.result().status == 0)
    }

    @Test func `with replace the first ends at a safe point and the second goes on there`() throws {
        // The image takes about 24 s of air time, at twice real time: the second run starts long
        // before its end.
        let slow = "link: {interval: 60ms, packets-per-interval: 1, loss: 0%}\n"
        let program = try Program.steered(5, rollout: "{overlap: replace}", depot: slow)
        let first = try program.begin("first", program.steeredRun + ["--pace", "2", "--json"])
        // A module keeps complete objects of 4 KiB over a lost link.
        #expect(first.waits(for: #/"acknowledged":\d{5}/#))
        let second = try program.begin("second", program.steeredRun + ["--json"])
        let replaced = first.result()
        #expect(replaced.status == 15)
        let (_, reason) = try replaced.exit()
        #expect(reason.contains("another run took over"))
        #expect(try count(replaced, "unfinished") > 0)
        #expect(try count(replaced, "failed") == 0)
        #expect(first.events.contains("\"state\":\"interrupted\""))
        let after = second.result()
        #expect(after.status == 0, "\(after.errors)")
        let done = try count(after, "succeeded") + count(after, "already-current")
        #expect(done == 5)
        // The transfer of the vehicle in work continues from its last object.
        #expect(second.events.contains(#/"resumed-from":[1-9]/#))
    }
}
