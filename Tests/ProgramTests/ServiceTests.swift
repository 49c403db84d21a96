import Foundation
import Glibc
import Testing

/// The behaviour of the program when a service manager has started it.
@Suite struct ServiceTests {
    /// The demo with its secrets as credentials.
    private func program(mode: Int) throws -> (Program, [String: String]) {
        let program = try Program()
        try program.copyDemo()
        let fleet = URL(filePath: program.folder.path + "/demo/fleet.csv")
        let text = String(decoding: try Data(contentsOf: fleet), as: UTF8.self)
            .replacing("file:keys/demo.key", with: "credential:depot_demo.key")
        try Data(text.utf8).write(to: fleet)
        let directory = program.folder.path + "/credentials"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        let key = try Data(
            contentsOf: URL(filePath: program.folder.path + "/demo/keys/demo.key")
        )
        try program.write("credentials/depot_demo.key", key, mode: mode)
        return (program, ["CREDENTIALS_DIRECTORY": directory])
    }

    /// systemd gives the service's user access by an access control list, which shows as mode 0440.
    @Test(arguments: [0o400, 0o440, 0o600])
    func `a credential is taken from the service manager's directory`(mode: Int) throws {
        let (program, environment) = try program(mode: mode)
        let line = program.demo("depot", "--limit", "bike-0*")
        let result = try program.run(line, environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lastLine.contains("ok=9"))
    }

    @Test(arguments: [0o444, 0o660, 0o404])
    func `one that everybody can read, or others can write, is refused`(mode: Int) throws {
        let (program, environment) = try program(mode: mode)
        let result = try program.run(program.demo(), environment: environment)
        #expect(result.status == 78)
        #expect(result.errors.contains("the secret of vehicle bike-01 cannot be read"))
    }

    @Test func `without the directory, or the credential, it is said what is to be added`() throws {
        let (program, _) = try program(mode: 0o400)
        let none = try program.run(program.demo())
        #expect(none.status == 78)
        #expect(none.errors.contains("add LoadCredential=depot_demo.key:PATH to the service"))
        let empty = try program.run(
            program.demo(),
            environment: ["CREDENTIALS_DIRECTORY": program.folder.path]
        )
        #expect(empty.status == 66)
        #expect(empty.errors.contains("/depot_demo.key: No such file or directory"))
    }

    @Test func `units for a manifest have its window, zone and credentials`() throws {
        let (program, _) = try program(mode: 0o400)
        try program.write(
            "demo/rollout.yaml",
            try String(
                contentsOfFile: program.folder.path + "/demo/rollout.yaml",
                encoding: .utf8
            ) + "rollout: {window: {from: \"01:30\", for: 3h, zone: Europe/Tallinn}}\n"
        )
        let result = try program.run(["systemd", "print", "demo/rollout.yaml"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "# /etc/systemd/system/yardmaster-demo-4.12.service")
        #expect(lines.contains("OnCalendar=*-*-* 01:30:00 Europe/Tallinn"))
        #expect(
            lines.contains(
                "LoadCredential=depot_demo.key:/etc/yardmaster/credentials/depot_demo.key"
            )
        )
        #expect(lines.contains { $0.hasSuffix(program.folder.path + "/demo/rollout.yaml") })
        #expect(lines.contains { $0.hasPrefix("ExecStart=" + Program.path + " run --report ") })
        let wrong = try program.run(["systemd", "print", "demo/depot.yaml"])
        #expect(wrong.status == 65)
    }

    /// A shell sets the environment that names the file of standard error, as the service manager
    /// would.
    @Test func `where nobody listens for records, lines to the journal have a level`() throws {
        let program = try Program()
        try program.copyDemo()
        chmod(program.folder.path + "/demo/keys/demo.key", 0o644)
        let words = ([Program.path] + program.demo()).map { "'\($0)'" }.joined(separator: " ")
        let script = """
            exec 2>errors.txt
            JOURNAL_STREAM=$(stat -c %d:%i errors.txt) \(words)
            """
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.currentDirectoryURL = URL(filePath: program.folder.path)
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 78)
        let errors = try String(
            contentsOfFile: program.folder.path + "/errors.txt",
            encoding: .utf8
        )
        #expect(errors.hasPrefix("<3>demo/fleet.csv:2:36: error: the secret of"))
        #expect(errors.split(separator: "\n").allSatisfy { $0.hasPrefix("<3>") })
    }

    @Test func `another stream than the journal's gets plain lines`() throws {
        let program = try Program()
        let result = try program.run(
            ["validate", "none.yaml"],
            environment: ["JOURNAL_STREAM": "8:123456789"]
        )
        #expect(result.errors.hasPrefix("yardmaster: error: "))
    }

    @Test(arguments: [["TERM": "xterm-256color"], ["TERM": "xterm-256color", "NO_COLOR": ""]])
    func `what is no terminal gets neither colour nor bars`(environment: [String: String]) throws {
        let program = try Program()
        try program.copyDemo()
        let result = try program.run(program.demo(), environment: environment)
        #expect(result.status == 0)
        #expect(!result.output.contains("\u{1B}") && !result.errors.contains("\u{1B}"))
    }
}
