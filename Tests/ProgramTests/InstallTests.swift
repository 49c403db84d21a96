import Foundation
import Testing
import Workbench

/// The files that 'scripts/install' makes in a separate folder, without root.
@Suite struct InstallTests {
    private func install(
        _ folder: Scratch,
        _ arguments: [String] = ["--prefix", "/usr", "--program", Program.path]
    ) throws -> (status: Int32, errors: String) {
        let process = Process()
        process.executableURL = Program.repository.appending(path: "scripts/install")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["DESTDIR": folder.path]) { $1 }
        process.standardInput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let bytes = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func `program, manual, completions, units and examples are where a system looks`() throws
    {
        let folder = try Scratch()
        let result = try install(folder)
        #expect(result.status == 0, "\(result.errors)")
        let program = try Program()
        for (file, line) in [
            ("share/man/man1/yardmaster.1", ["man"]),
            ("share/bash-completion/completions/yardmaster", ["completion", "bash"]),
            ("share/zsh/vendor-completions/_yardmaster", ["completion", "zsh"]),
            ("share/fish/vendor_completions.d/yardmaster.fish", ["completion", "fish"]),
            (
                "lib/systemd/system/yardmaster@.service",
                ["systemd", "print", "--unit", "service", "--program", "/usr/bin/yardmaster"]
            ),
            (
                "lib/systemd/system/yardmaster@.timer",
                ["systemd", "print", "--unit", "timer", "--program", "/usr/bin/yardmaster"]
            ),
            ("share/yardmaster/manifest.schema.json", ["schema"]),
        ] {
            #expect(try text("\(folder.path)/usr/\(file)") == program.run(line).output, "\(file)")
            #expect(try mode("\(folder.path)/usr/\(file)") == 0o644)
        }
        #expect(try mode(folder.path + "/usr/bin/yardmaster") == 0o755)
        let manifests = folder.path + "/usr/share/yardmaster/manifests"
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: manifests).sorted()
                == [
                    "commands", "demo", "depot-wide", "locks", "mixed", "nightly", "sensors",
                    "tags",
                ]
        )
        // Every user may rehearse with the samples, whose keys open nothing.
        #expect(try mode(manifests + "/commands/keys/car-01.token") == 0o644)
        try PlainUser.own(program.folder.path)
        for path in [folder.path, program.folder.path] { chmod(path, 0o755) }
        let rehearsal = try PlainUser.start(
            [
                folder.path + "/usr/bin/yardmaster", "run", manifests + "/demo/rollout.yaml",
                "--simulate", manifests + "/demo/depot.yaml", "--state", program.state,
                "--limit", "bike-03",
            ],
            in: program.folder.path
        )
        rehearsal.waitUntilExit()
        #expect(rehearsal.terminationStatus == 0)
        #expect(try mode(folder.path + "/etc/yardmaster/credentials") == 0o700)
    }

    @Test func `what an operator has changed is left as it is`() throws {
        let folder = try Scratch()
        #expect(try install(folder).status == 0)
        let flags = folder.path + "/etc/default/yardmaster"
        #expect(try text(flags).hasSuffix("\nYARDMASTER_FLAGS=\"\"\n"))
        try Data("YARDMASTER_FLAGS=--quiet\n".utf8).write(to: URL(filePath: flags))
        #expect(try install(folder).status == 0)
        #expect(try text(flags) == "YARDMASTER_FLAGS=--quiet\n")
    }

    @Test(arguments: [
        (["--prefix", "usr"], 64, "not an absolute path"), (["--prefix"], 64, "needs a value"),
        (["--program", "/nowhere/yardmaster"], 66, "there is no program"),
    ])
    func `what cannot be done says why`(line: [String], status: Int32, words: String) throws {
        let folder = try Scratch()
        let result = try install(folder, line)
        #expect(result.status == status)
        #expect(result.errors.contains(words))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
