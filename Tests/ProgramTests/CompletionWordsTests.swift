import Foundation
import Testing

/// Completions of shells with words from the state directory.
@Suite struct CompletionWordsTests {
    private func night() throws -> Program {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo("depot-troubled"))
        return program
    }

    private func words(_ program: Program, _ kind: String, _ state: String? = nil) throws
        -> [String]
    {
        let result = try program.run(["complete", kind, "--state", state ?? program.state])
        #expect(result.status == 0 && result.errors.isEmpty)
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test func `vehicles, labels, groups, rollouts and runs are known`() throws {
        let program = try night()
        let vehicles = try words(program, "vehicles")
        #expect(vehicles.first == "bike-01")
        #expect(vehicles.count { $0.hasPrefix("bike-") } == 24)
        #expect(vehicles.contains("plate=114 DMO"))
        #expect(vehicles.suffix(4) == ["@failed", "@unreachable", "@deferred", "@doubt"])
        // Each of these words is accepted as a vehicle argument.
        for word in [vehicles[0], "@failed"] + ["plate=114 DMO"] {
            let result = try program.run(["status", "--limit", word, "--state", program.state])
            #expect(result.status == 0, "\(word): \(result.errors)")
        }
        _ = try program.run(program.demo("depot-troubled"))
        #expect(try words(program, "rollouts") == ["demo-4.12"])
        #expect(try words(program, "runs") == ["last", "2", "1"])
        for kind in ["vehicles", "rollouts"] {
            #expect(try words(program, kind, program.folder.path + "/none").isEmpty)
        }
    }

    @Test(arguments: [
        (["status", "--limit", "bike-0"], (1...9).map { "bike-0\($0)" }),
        (["show", "bike-24"], ["bike-24"]),
        (["retry", "@fa"], ["@failed"]),
        (["history", "show", ""], ["1", "last"]),
        (["resume", "--rollout", "demo"], ["demo-4.12"]),
    ])
    func `bash asks the program`(line: [String], offered: [String]) throws {
        let program = try night()
        let script = try program.run(["completion", "bash"]).output
        var words = line
        // The state directory is given first, because the word to complete is the last one.
        words.insert(contentsOf: ["--state", program.state], at: line[0] == "history" ? 2 : 1)
        let quoted = ([Program.path] + words).map { "'\($0)'" }.joined(separator: " ")
        let path = try program.write(
            "ask.bash",
            script + """
                compopt() { :; }
                COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count)
                _yardmaster
                for word in "${COMPREPLY[@]}"; do echo "$word"; done | sort
                """
        )
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["--norc", path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let found = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(found == offered)
    }
}
