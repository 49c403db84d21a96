import Base
import Commands
import Foundation
import Testing
import Workbench

/// The built program, run as a shell would run it.
@Suite struct ProgramTests {
    /// The path of the program, beside the test program.
    static let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "yardmaster").path(percentEncoded: false)

    private func run(_ line: [String]) throws -> Tool.Result {
        try Tool(path: Self.path).run(line)
    }

    private func shell(_ script: String) throws -> Tool.Result {
        try Tool(path: "/bin/sh").run(["-c", script, Self.path])
    }

    @Test(arguments: [
        (["version"], "yardmaster 0.1.0\n"),
        (["--version"], "yardmaster 0.1.0\n"),
        (["version", "--json"], #"{"schema":1,"name":"yardmaster","version":"0.1.0"}"# + "\n"),
        ([], Help.text(for: nil)),
        (["--help"], Help.text(for: nil)),
        (["help"], Help.text(for: nil)),
        (["help", "run"], Help.text(for: .run)),
        (["run", "--help"], Help.text(for: .run)),
        (["man"], ManualPage.text),
        (["completion", "bash"], Completion.bash.script),
        (["completion", "zsh"], Completion.zsh.script),
        (["completion", "fish"], Completion.fish.script),
    ])
    func `what is asked for goes to standard output`(line: [String], output: String) throws {
        let result = try run(line)
        #expect(result.output == output)
        #expect(result.errors == "")
        #expect(result.status == 0)
    }

    @Test(arguments: [
        ["rum"], ["run"], ["run", "m", "--stat"], ["--state", "x"], ["completion", "csh"],
        ["help", "rum"], ["version", "x"], ["run", "m", "--seed", "7"],
    ])
    func `a wrong line ends with 64 and a hint`(line: [String]) throws {
        let result = try run(line)
        #expect(result.status == 64)
        #expect(result.output == "")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("yardmaster: error: ") == true)
        #expect(lines.last?.hasPrefix("  hint: ") == true)
    }

    @Test func `under json an error is a document too`() throws {
        let result = try run(["run", "--json", "--nonsense"])
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("yardmaster: error: "))
        #expect(result.output.count { $0 == "\n" } == 1)
        let document = try JSONValue(json: result.output)
        #expect(document["error"]?["kind"] == "usage")
        #expect(document["exit"]?["code"] == 64)
    }

    @Test func `a reader that goes away is no error`() throws {
        let result = try shell(#"{ "$0" man; echo "exit $?" >&2; } | true"#)
        #expect(result.errors == "exit 0\n")
    }

    @Test func `closed streams are no error`() throws {
        #expect(try shell(#""$0" version <&- >&- 2>&-"#).status == 0)
        #expect(try shell(#""$0" rum <&- >&- 2>&-"#).status == 64)
    }

    @Test func `a result that does not fit on the disk is one`() throws {
        let result = try shell(#""$0" version > /dev/full"#)
        #expect(result.status == 74)
        #expect(result.errors.contains("because No space left on device"))
    }
}
