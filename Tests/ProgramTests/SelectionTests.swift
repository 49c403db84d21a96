import Foundation
import Testing

/// The vehicles that `--limit` and vehicle arguments select: by label, and by outcome of the last
/// run.
@Suite struct SelectionTests {
    /// A bad night of the demo depot, with the vehicles that failed and those that were away.
    private func badNight() throws -> (program: Program, failed: Set<String>, away: Set<String>) {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo("depot-troubled"))
        let status = try program.run(["status", "--json", "--state", program.state])
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
        )
        let vehicles = try #require(json["vehicles"] as? [[String: Any]])
        func ids(_ outcomes: Set<String>) -> Set<String> {
            Set(
                vehicles.filter { outcomes.contains($0["outcome"] as? String ?? "") }
                    .compactMap { $0["id"] as? String }
            )
        }
        return (
            program, ids(["failed", "rolled-back", "rejected", "timed-out", "in-doubt"]),
            ids(["unreachable"])
        )
    }

    private func chosen(_ program: Program, _ limit: String) throws -> Set<String> {
        let result = try program.run([
            "status", "--json", "--state", program.state, "--limit", limit,
        ])
        #expect(result.status == 0, "\(result.errors)")
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let vehicles = (json as? [String: Any])?["vehicles"] as? [[String: Any]]
        return Set((vehicles ?? []).compactMap { $0["id"] as? String })
    }

    @Test func `those who failed and those who were away can be named by that`() throws {
        let (program, failed, away) = try badNight()
        #expect(!failed.isEmpty && !away.isEmpty)
        #expect(try chosen(program, "@failed") == failed)
        #expect(try chosen(program, "@unreachable") == away)
        #expect(try chosen(program, "@doubt") == [])
        #expect(try chosen(program, "plate=10? DMO").count == 9)
        #expect(try chosen(program, "family=comodule").count == 24)
        let plan = try program.run([
            "plan", "demo/rollout.yaml", "--json", "--state", program.state, "--limit", "@failed",
        ])
        for id in failed { #expect(plan.output.contains("\"id\":\"\(id)\"")) }
        for id in away { #expect(!plan.output.contains("\"id\":\"\(id)\"")) }
        let again = try program.run(["retry", "@unreachable", "--state", program.state])
        #expect(again.status == 0)
        for id in away { #expect(again.output.contains(id), "\(again.output)") }
        #expect(try chosen(program, "@unreachable") == [])
        let nobody = try program.run(["retry", "@unreachable", "--state", program.state])
        #expect(nobody.status == 0)
        #expect(nobody.output.contains("no change, @unreachable selects no vehicle now"))
        let run = try program.run(program.demo("depot", "--limit", "@unreachable"))
        #expect(run.status == 64)
        #expect(run.errors.contains("because @unreachable selects no vehicle now"))
        let left = try program.run([
            "inhibit", "plate=101 DMO", "@failed", "--state", program.state, "--reason", "service",
        ])
        #expect(left.status == 0)
        for id in failed.union(["bike-01"]) { #expect(left.output.contains(id)) }
    }

    @Test func `what is no selection is refused with the list of what there is`() throws {
        let program = try Program()
        try program.copyDemo()
        let cases: [([String], String)] = [
            (["--limit", "@faild"], "@failed, @unreachable, @deferred, @doubt"),
            (["--limit", "depto=tallinn-1"], "did you mean `depot`?"),
            (["--limit", "depot=tartu-1"], "known here: `tallinn-1`"),
            (["--limit", "@failed"], "nothing has run of the rollout demo-4.12"),
        ]
        for (flags, words) in cases {
            let result = try program.run(
                ["plan", "demo/rollout.yaml", "--state", program.state] + flags
            )
            #expect(result.status == 64, "\(flags): \(result.errors)")
            #expect(result.errors.contains(words), "\(result.errors)")
        }
        let verb = try program.run(["inhibit", "@faild", "--state", program.state])
        #expect(verb.status == 64)
        #expect(verb.errors.contains("@failed, @unreachable, @deferred, @doubt"))
        let order = try program.run([
            "exec", "depot=tallin-1", "command lock", "--manifest", "demo/rollout.yaml", "--state",
            program.state,
        ])
        #expect(order.status == 64)
        #expect(order.errors.contains("did you mean `tallinn-1`?"))
    }
}
