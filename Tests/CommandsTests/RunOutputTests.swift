import Commands
import Domain
import Foundation
import Reports
import Testing
import Wire

@testable import yardmaster

@Suite struct RunOutputTests {
    private func options(_ line: [String]) throws -> RunOptions {
        guard case .run(let invocation) = try Parser.parse(["run"] + line) else {
            throw UsageError.unknownCommand("help", nearest: nil)
        }
        return try RunOptions(invocation, try context())
    }

    private func context() throws -> Context {
        Context(console: Console(outlet: try Outlet.open(name: "test")))
    }

    private let end = Event(
        number: 1,
        time: WallTime(milliseconds: 0),
        body: .runEnded(
            RunEnd(
                rollout: "r",
                counts: [.succeeded: 1],
                unfinished: 0,
                exitCode: 0,
                reason: "done",
                took: .seconds(1)
            )
        )
    )

    @Test func `the flags of a run are resolved`() throws {
        let options = try options([
            "m.yaml", "--state", "/s", "--simulate", "d.yaml", "--pace", "2.5", "--seed", "9",
            "--events", "-", "--limit", "v1", "--limit", "bus-*", "-q",
        ])
        #expect(options.manifest == "m.yaml")
        #expect(options.state == "/s")
        #expect(options.simulation?.depot == "d.yaml")
        #expect(options.simulation?.pace == 2.5)
        #expect(options.simulation?.seed == 9)
        #expect(options.events == .standardOutput)
        #expect(options.common.isQuiet)
        #expect(!options.common.wantsJSON)
        #expect(options.common.takes(try #require(VehicleID("v1"))))
        #expect(options.common.takes(try #require(VehicleID("bus-7"))))
        #expect(!options.common.takes(try #require(VehicleID("v2"))))
    }

    @Test func `without flags there is no simulation and every vehicle is taken`() throws {
        let options = try options(["m.yaml", "--state", "/s"])
        #expect(options.simulation == nil)
        #expect(options.events == .none)
        #expect(options.common.takes(try #require(VehicleID("v2"))))
    }

    @Test func `events are added to their file`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "events-\(UUID().uuidString).jsonl")
        let path = file.path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(at: file) }
        for _ in 0..<2 {
            let output = try RunOutput(
                try options(["m", "--state", "/s", "-q", "--events", path]),
                try context()
            )
            await output.whileWriting { output.take(end, at: Moment(nanoseconds: 0)) }
        }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            #expect(try JSONValue(json: String(line))["kind"] == "run-ended")
        }
    }

    @Test func `a file that cannot be made is told before the run`() throws {
        let options = try options(["m", "--state", "/s", "--events", "/dev/null/events"])
        let error = #expect(throws: CommandError.self) { try RunOutput(options, try context()) }
        #expect(error?.kind == .cannotCreate)
        #expect(error?.causes == ["Not a directory"])
    }
}
