import Foundation
import Testing

/// Tests of the scripts that decide whether a change is accepted.
@Suite struct ScriptTests {
    private static let names: [String] =
        (try? FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: "scripts").path
        ))?.filter { !$0.hasPrefix(".") }.sorted() ?? []

    private struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    private func run(
        _ script: String,
        _ arguments: [String] = [],
        input: String = "",
        environment: [String: String] = [:]
    ) throws -> Result {
        let process = Process()
        let given = Pipe()
        let output = Pipe()
        let errors = Pipe()
        process.executableURL =
            script.hasPrefix("/")
            ? URL(filePath: script) : Repository.root.appending(path: script)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = given
        process.standardOutput = output
        process.standardError = errors
        // Threads of a test may block signals, and then a shell would wait forever for its child.
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        // All of this is far smaller than a pipe, so reading one after the other cannot block.
        try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try given.fileHandleForWriting.close()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let told = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: printed, as: UTF8.self),
            errors: String(decoding: told, as: UTF8.self)
        )
    }

    @Test(arguments: names)
    func `a script can be started, and says what it is for`(name: String) throws {
        let text = try Repository.text("scripts/\(name)")
        guard name != "common" else { return }
        let lines = text.split(separator: "\n")
        #expect(lines.first == "#!/bin/bash")
        #expect(lines.dropFirst().first?.hasPrefix("# scripts/\(name): ") == true)
        #expect(
            FileManager.default.isExecutableFile(
                atPath: Repository.root.appending(path: "scripts/\(name)").path
            )
        )
    }

    @Test(arguments: names.filter { $0 != "common" && $0 != "tally" })
    func `a script explains itself and refuses what it does not know`(name: String) throws {
        let help = try run("scripts/\(name)", ["--help"])
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("scripts/\(name): "))
        let mistake = try run("scripts/\(name)", ["--no-such-thing"])
        #expect(mistake.status == 64)
        #expect((mistake.output + mistake.errors).contains("error:"))
    }

    private static let hasShellCheck = ["/usr/bin", "/usr/local/bin"].contains {
        FileManager.default.isExecutableFile(atPath: $0 + "/shellcheck")
    }

    @Test(.enabled(if: hasShellCheck, "shellcheck is not installed"))
    func `shellcheck has nothing to say about the scripts`() throws {
        let result = try run(
            "/usr/bin/env",
            ["shellcheck", "--external-sources", "--format", "gcc"]
                + (Self.names.map { "scripts/\($0)" } + [".ci/run"] + parts().map(\.name))
                .map { Repository.root.appending(path: $0).path }
        )
        #expect(result.status == 0, "\(result.output)")
    }

    /// The parts that scripts run or source: shell files in Bench, recognised by their first line.
    private func parts() throws -> [Repository.Source] {
        try Repository.texts("Bench").filter { source in
            guard let first = source.lines.first else { return false }
            return first.hasPrefix("#!/bin/") || first.hasPrefix("# shellcheck shell=")
        }
    }

    @Test func `a script can be read at once`() throws {
        let scripts = try Repository.texts("scripts") + parts()
        #expect(scripts.count > 40)
        for script in scripts {
            #expect(script.lines.count <= 151, "\(script.name) has \(script.lines.count - 1) lines")
        }
    }

    /// In bash a function cannot make a constant's name local: the script ends there.
    @Test func `no part of a script makes a constant of that script local`() throws {
        var found = 0
        for name in Self.names {
            let script = try Repository.text("scripts/\(name)")
            let parts = try script.matches(of: #/shellcheck source=\.\./(Bench/\S+)/#)
                .map { try Repository.text(String($0.1)) }
            let lines = ([script] + parts).flatMap { $0.split(separator: "\n") }
            let constants = variables(after: "readonly ", in: lines)
            let locals = variables(
                after: "local ",
                in: lines.map { $0.drop { $0 == " " } }
            )
            let both = constants.intersection(locals).sorted()
            #expect(both.isEmpty, "scripts/\(name): \(both.joined(separator: ", "))")
            found += min(constants.count, locals.count)
        }
        #expect(found > 40)
    }

    private func variables(after keyword: String, in lines: [Substring]) -> Set<Substring> {
        Set(
            lines.filter { $0.hasPrefix(keyword) }.flatMap { line in
                line.dropFirst(keyword.count)
                    .replacing(#/'[^']*'|"[^"]*"|\$?\([^)]*\)|\s#.*/#, with: "")
                    .matches(of: #/(?:^|\s)([a-z_]+)(?==|\s|;|$)/#).map(\.1)
            }
        )
    }

    @Test func `a toolchain that is not there is reported with its remedy`() throws {
        let result = try run("scripts/setup", environment: ["SWIFT_HOME": "/nowhere"])
        #expect(result.status == 69)
        #expect(result.errors.contains("there is no swift in it"))
        #expect(result.errors.contains("point it at"))
    }

    @Test func `a toolchain that does not start is reported with its own words`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "yardmaster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let swift = folder.appending(path: "swift")
        try Data("#!/bin/sh\necho 'a library is missing' >&2\nexit 127\n".utf8).write(to: swift)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: swift.path
        )
        let result = try run("scripts/setup", environment: ["SWIFT_HOME": folder.path])
        #expect(result.status == 69)
        #expect(result.errors.contains("a library is missing"))
        #expect(result.errors.contains("does not start"))
    }

    /// The output of a test run, with a separate name, because a log that quotes results would be
    /// taken for them.
    private struct Log: CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let passed: Int
        let failed: Int
        let skipped: Int

        init(_ name: String, passed: Int, failed: Int, skipped: Int = 0, _ text: String) {
            testDescription = name
            self.text = text
            self.passed = passed
            self.failed = failed
            self.skipped = skipped
        }
    }

    private static let logs = [
        Log(
            "all well",
            passed: 14,
            failed: 0,
            "✔ Test run with 14 tests in 3 suites passed after 0.005 seconds."
        ),
        Log(
            "a single one",
            passed: 1,
            failed: 0,
            "✔ Test run with 1 test in 0 suites passed after 1.005 seconds."
        ),
        Log(
            "two fail, one of them with a table",
            passed: 5,
            failed: 2,
            """
            ✘ Test "a: bad" recorded an issue at T.swift:5:33: Expectation failed: 1 == 2
            ✘ Test "a: bad" failed after 0.001 seconds with 1 issue.
            ✘ Test "table" with 3 test cases failed after 0.001 seconds with 2 issues.
            ✘ Test case passing 1 argument n → 2 to "table" failed after 0.001 seconds with 1 issue.
            ✘ Suite Things failed after 0.002 seconds with 3 issues.
            ✘ Test run with 7 tests in 1 suite failed after 0.002 seconds with 3 issues.
            """
        ),
        Log(
            "an issue outside of any test",
            passed: 6,
            failed: 1,
            "✘ Test run with 7 tests in 1 suite failed after 0.002 seconds with 1 issue."
        ),
        Log(
            "a known issue",
            passed: 2,
            failed: 0,
            "━ Test run with 2 tests in 1 suite passed after 0.1 seconds with 1 known issue."
        ),
        Log(
            "a test's own words without an end of line",
            passed: 2,
            failed: 0,
            "hello✔ Test run with 2 tests in 1 suite passed after 0.1 seconds."
        ),
        Log(
            "an argument that looks like results",
            passed: 3,
            failed: 0,
            """
            ◇ Test case passing 1 argument n → "Test run with 9 tests failed after 1.0 seconds." to x
            ◇ Test case passing 1 argument n → "✘ Test a failed after 1.0 seconds." started.
            ✔ Test run with 3 tests in 1 suite passed after 0.1 seconds.
            """
        ),
        Log(
            "a filter that matches nothing",
            passed: 0,
            failed: 0,
            "✔ Test run with 0 tests in 0 suites passed after 0.001 seconds."
        ),
        Log(
            "the process dies on the way",
            passed: 2,
            failed: 1,
            """
            ✔ Test "good" passed after 0.001 seconds.
            ✔ Test "better" with 2 test cases passed after 0.001 seconds.
            Fatal error: Index out of range
            """
        ),
        Log("nothing at all", passed: 0, failed: 1, ""),
        Log(
            "XCTest beside it",
            passed: 7,
            failed: 1,
            """
            \t Executed 2 tests, with 1 failure (0 unexpected) in 0.0 (0.0) seconds
            \t Executed 5 tests, with 1 failure (0 unexpected) in 0.0 (0.0) seconds
            ✔ Test run with 3 tests in 1 suite passed after 0.1 seconds.
            """
        ),
        Log(
            "two are skipped, which the closing line counts in",
            passed: 2,
            failed: 0,
            skipped: 2,
            """
            ➜ Test "bleak hears" skipped: "needs a Python"
            ✔ Test "good" passed after 0.001 seconds.
            ➜ Test "a table" skipped: "bluetoothctl is not installed"
            ✔ Test "better" passed after 0.001 seconds.
            ✔ Test run with 4 tests in 1 suite passed after 0.1 seconds.
            """
        ),
        Log(
            "XCTest skips",
            passed: 5,
            failed: 2,
            skipped: 1,
            """
            \t Executed 5 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.0 seconds
            ✔ Test run with 3 tests in 1 suite passed after 0.1 seconds.
            """
        ),
    ]

    @Test(arguments: logs)
    private func `the closing lines of a test run are counted`(log: Log) throws {
        let result = try run("scripts/tally", input: log.text + "\n")
        #expect(result.status == 0)
        #expect(result.output == "\(log.passed) \(log.failed) \(log.skipped)\n")
    }

    /// A script that behaves like a test bundle: one test hangs, one ends the process, one is
    /// skipped.
    private static let bundle = """
        #!/bin/bash
        list='A.Hanging/`good`()
        A.Hanging/`hangs (forever)`()
        A.Hanging/`comes after it`()
        A.Dying/`dies`(n:)
        A.Dying/`lives`()
        B.Skipping/`skipped`()
        B.Skipping/plain()'
        pattern=''
        while (($#)); do
            case $1 in
            --list-tests) echo "$list" && exit ;;
            --filter) pattern=$2 ;;
            esac
            shift
        done
        ran=0
        while read -r id; do
            [[ $id =~ $pattern ]] || continue
            name=${id##*/}
            [[ $name != *'`'* ]] || { name=${name#?} && name="\\"${name%%'`'*}\\"" ; }
            ran=$((ran + 1))
            case $name in
            *skipped*) echo "➜ Test $name skipped: \\"there is no such thing\\"" && continue ;;
            esac
            echo "◇ Test $name started."
            case $name in
            *hangs*) sleep 1000 ;;
            *dies*) kill -SEGV $$ ;;
            esac
            echo "✔ Test $name passed after 0.5 seconds."
        done <<<"$list"
        echo "✔ Test run with $ran tests in 1 suite passed after 0.1 seconds."

        """

    @Test func `a test that hangs and one that dies are named, and the others go on`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = folder.appending(path: "bundle")
        try Self.bundle.write(to: bundle, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: bundle.path
        )
        let result = try run(
            "scripts/suites",
            [bundle.path, folder.path + "/logs"],
            environment: ["YARDMASTER_TEST_SILENCE": "4"]
        )
        #expect(result.output.hasSuffix("\n4 passed, 2 failed, 1 skipped\n"), "\(result.output)")
        #expect(result.status == 1)
        for line in [
            "✘ Test \"hangs (forever)\" recorded an issue: it said nothing for 4 s and was ended",
            "✘ Test \"dies\" recorded an issue: it took its process with it (exit 139)",
            "Test \"skipped\" skipped: \"there is no such thing\"",
            "✔ Test \"comes after it\" passed", "✔ Test \"lives\" passed",
            "✔ Test plain() passed",
        ] {
            #expect(result.output.contains(line), "\(line) in \(result.output)")
        }
        // Often only the end of a long output is visible, so it names the failed tests.
        let end = try #require(result.output.split(separator: "\nfailed:\n").last)
        #expect(end.contains("  Test \"dies\" recorded an issue: it took its process with it"))
        #expect(end.split(separator: "\n").count == 3, "\(end)")
        let well = try run("scripts/suites", ["--filter", "Skipping", bundle.path])
        #expect(well.status == 0)
        #expect(well.output.hasSuffix("\n1 passed, 0 failed, 1 skipped\n"))
        let none = try run("scripts/suites", ["--filter", "Nothing", bundle.path])
        #expect(none.status == 1)
        #expect(none.output.hasSuffix("\n0 passed, 0 failed, 0 skipped\n"))
    }
}
