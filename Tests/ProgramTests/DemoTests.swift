import Foundation
import Testing

/// The shipped demo, from manifest to exit code.
@Suite struct DemoTests {
    @Test func `the demo brings every vehicle home, and a second run finds all current`() throws {
        let program = try Program()
        try program.copyDemo()
        let first = try program.run(program.demo())
        #expect(first.status == 0, "\(first.errors.suffix(600))")
        #expect(
            first.lastLine
                == "rollout=demo-4.12 ok=23 current=1 deferred=0 unreachable=0 failed=0 exit=0"
        )
        let second = try program.run(program.demo())
        #expect(second.status == 0)
        #expect(
            second.lastLine
                == "rollout=demo-4.12 ok=0 current=24 deferred=0 unreachable=0 failed=0 exit=0"
        )
    }

    @Test func `a bad night ends with 10 and says what became of each vehicle`() throws {
        let program = try Program()
        try program.copyDemo()
        let result = try program.run(program.demo("depot-troubled"))
        #expect(result.status == 10)
        #expect(
            result.lastLine
                == "rollout=demo-4.12 ok=20 current=1 deferred=1 unreachable=1 failed=1 exit=10"
        )
        #expect(result.output.contains("state_of_charge is 12, required is >= 40"))
        #expect(result.output.contains("did not come back in time"))
        #expect(result.output.contains("not heard within 1m"))
    }

    @Test func `what is not failed but missed ends with 11`() throws {
        let program = try Program()
        try program.copyDemo()
        let result = try program.run(
            program.demo("depot-troubled", "--limit", "bike-13", "--limit", "bike-14")
        )
        #expect(result.status == 11)
        #expect(result.lastLine.hasSuffix("deferred=1 unreachable=1 failed=0 exit=11"))
    }

    @Test func `two runs of one seed write the same events byte by byte`() throws {
        func events(_ seed: String) throws -> Data {
            let program = try Program()
            try program.copyDemo()
            let result = try program.run(
                program.demo("depot", "--seed", seed, "--events", "events.jsonl")
            )
            #expect(result.status == 0)
            return try Data(contentsOf: URL(filePath: program.folder.path + "/events.jsonl"))
        }
        let first = try events("7")
        #expect(first.count > 10_000)
        #expect(try events("7") == first)
        #expect(try events("8") != first)
    }

    @Test func `json is one document that agrees with the exit code`() throws {
        let program = try Program()
        try program.copyDemo()
        let result = try program.run(program.demo("depot-troubled", "--json"))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
        let exit = try #require(object["exit"] as? [String: Any])
        #expect(exit["code"] as? Int == 10)
        #expect(Int(result.status) == 10)
        #expect((object["vehicles"] as? [Any])?.count == 24)
    }

    @Test func `quiet says nothing when all is well, and what is not when it is not`() throws {
        let program = try Program()
        try program.copyDemo()
        let well = try program.run(program.demo("depot", "--quiet"))
        #expect(well.output == "" && well.errors == "" && well.status == 0)
        let other = try Program()
        try other.copyDemo()
        let bad = try other.run(other.demo("depot-troubled", "--quiet"))
        #expect(bad.output.contains("bike-12"))
        #expect(!bad.output.contains("bike-01 "))
        // Why, and the next command, before the line for scripts.
        let last = bad.output.split(separator: "\n").suffix(3)
        #expect(last.first?.hasSuffix(": some vehicles failed") == true)
        #expect(
            last.dropFirst().first?.hasPrefix("next: yardmaster status --state ") == true,
            "\(last)"
        )
        #expect(bad.lastLine.hasSuffix("exit=10"))
    }

    @Test func `plan and validate touch nothing`() throws {
        let program = try Program()
        try program.copyDemo()
        let plan = try program.run(["plan", "demo/rollout.yaml", "--state", program.state])
        #expect(plan.status == 0)
        #expect(plan.output.contains("bike-24"))
        #expect(plan.output.contains("update to city-4.12 (4.12.0)"))
        #expect(!plan.output.contains("bike-90"))
        let valid = try program.run(["validate", "demo/rollout.yaml"])
        #expect(valid.status == 0)
        #expect(!FileManager.default.fileExists(atPath: program.state))
    }
}
