import Commands
import Foundation
import Testing
import Workbench

/// A rehearsal touches nothing real: no key, no list, no notice, and not the directory of real runs.
@Suite(.timeLimit(.minutes(5))) struct RehearsalTests {
    private static let key = "d0c5000000000000000000000000000000000001"

    private let program: Program
    /// The files that a rehearsal could touch; `user` has the directories that are found without a
    /// flag.
    private let world: String

    private var environment: [String: String] {
        ["HOME": world + "/user", "XDG_STATE_HOME": "", "STATE_DIRECTORY": ""]
    }

    private var real: String { world + "/user/.local/state/yardmaster" }
    private var own: String { real + "-rehearsal" }

    init() throws {
        program = try Program()
        world = URL(filePath: program.folder.path).resolvingSymlinksInPath().path + "/world"
        for folder in ["keys", "user/.local/state/yardmaster"] {
            try FileManager.default.createDirectory(
                atPath: world + "/" + folder,
                withIntermediateDirectories: true
            )
        }
        for number in 1...2 {
            try program.write("world/keys/b\(number).key", Self.key + "\n")
        }
        try program.write("world/maker.key", Self.key + "\n")
        try program.write(
            "world/fleet.csv",
            "id,serial,family,secret\n"
                + "b1,00a0000000000001,comodule,file:keys/b1.key\n"
                + "b2,00a0000000000002,comodule,file:keys/b2.key\n"
        )
        try program.write(
            "world/depot.yaml",
            "name: yard\nseed: 9\nmodules:\n  - {serial: \"00a0000000000001\", count: 3, key: "
                + "\"\(Self.key)\", type: 17, version: \"4.11.3\"}\n"
        )
        try program.write(
            "world/yard.yaml",
            """
            name: yard
            vehicles: {from: fleet.csv}
            steps: [{read: state_of_charge}]
            notify: {targets: {own: {program: [/bin/sh, -c, "cat >> \(world)/called"]}}}

            """
        )
        // What would happen if a notice were sent, and a secret handed on.
        try program.write(
            "world/user/.local/state/yardmaster/notify.yaml",
            "targets: {pager: {program: [/bin/sh, -c, \"cat >> \(world)/called\"]}}\n"
        )
        try program.write("world/taker", "#!/bin/sh\ncat >> \(world)/called\n", mode: 0o755)
    }

    /// The command lines of each command that can rehearse, without `--simulate`.
    private var lines: [CommandName: [[String]]] {
        let yard = world + "/yard.yaml"
        let enrol = ["--list", world + "/fleet.csv", "--hand-to", world + "/taker"]
        let image = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip").path
        return [
            .initialise: [["--scan", "--for", "2s", program.folder.path + "/first.yaml"]],
            .plan: [[yard]],
            .run: [[yard], [yard, "--again"]],
            .scan: [["--for", "2s"]],
            .inventory: [["--manifest", yard], ["--for", "2s"]],
            .enrol: [
                enrol + ["b3", "--serial", "00a0000000000003", "--old-secret", "file:maker.key"],
                enrol + ["b3", "--rotate"], enrol + ["b1", "--rotate"],
                enrol + ["b3", "--undo", "--old-secret", "file:maker.key"],
            ],
            .watch: [["--manifest", yard, "--for", "2s", "b2"]],
            .update: [[image, "--yes", "--secret", "file:\(world)/keys/b2.key", "b2"]],
            // Its run has sent nothing that could be taken back.
            .rollback: [["yard", "--yes"]],
            .exec: [
                ["--manifest", yard, "b2", "read state_of_charge"],
                ["--manifest", yard, "b2", "rotate secret"],
            ],
            .secretsRotate: [[yard], [yard, "--again"]],
        ]
    }

    /// Everything about each file outside the rehearsal's own directory.
    private func snapshot() throws -> [String: String] {
        var found: [String: String] = [:]
        let names = try #require(FileManager.default.enumerator(atPath: world))
        for case let name as String in names {
            let path = world + "/" + name
            guard path != own, !path.hasPrefix(own + "/") else { continue }
            var status = stat()
            #expect(lstat(path, &status) == 0, "\(path)")
            // Another entry in a folder shows itself; only a folder's own time may change by the
            // making of the rehearsal's directory.
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let time = isFolder ? "" : "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
            let content = isFolder ? Data() : try Data(contentsOf: URL(filePath: path))
            found[name] =
                "\(status.st_mode) \(status.st_uid) \(status.st_ino) \(time) "
                + content.base64EncodedString()
        }
        return found
    }

    @Test func `a rehearsal of any command touches nothing outside its directory`() throws {
        let able = Command.all.filter { $0.flag(long: "simulate") != nil }.map(\.id)
        #expect(Set(able) == Set(lines.keys), "each command that can rehearse is tried")
        let before = try snapshot()
        for command in able {
            for line in lines[command] ?? [] {
                let result = try program.run(
                    command.rawValue.split(separator: " ").map(String.init)
                        + ["--simulate", world + "/depot.yaml"] + line,
                    environment: environment
                )
                #expect(result.status == 0, "\(command) \(line): \(result.output)\(result.errors)")
                let after = try snapshot()
                #expect(after == before, "\(command) \(line) touched something real")
            }
        }
        // What was changed is kept, and it is what opens the modules of the rehearsal.
        let copy = own + "/rehearsed/files" + world
        let keys = try (1...2).map { number in
            try String(contentsOfFile: "\(copy)/keys/b\(number).key", encoding: .utf8)
        }
        #expect(!keys.contains(Self.key + "\n") && Set(keys).count == 2)
        let run = try program.run(
            ["run", "--again", world + "/yard.yaml", "--simulate", world + "/depot.yaml"],
            environment: environment
        )
        #expect(run.lastLine.contains(" ok=2 "), "\(run.output)\(run.errors)")
    }

    @Test func `a rehearsal without a directory has one beside that of real runs, and says so`()
        throws
    {
        let line = ["run", world + "/yard.yaml"]
        let run = try program.run(
            line + ["--simulate", world + "/depot.yaml"],
            environment: environment
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("a rehearsal; its state is in \(own)\n"), "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: own + "/journal.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: real + "/journal.sqlite"))
        // The next real run is not refused for it: it only finds no radio.
        let next = try program.run(
            line + ["--bus", "unix:path=\(world)/nowhere"],
            environment: environment
        )
        #expect(next.status == 69, "\(next.errors)")
        let mixed = try program.run(
            line + ["--state", own, "--bus", "unix:path=\(world)/nowhere"],
            environment: environment
        )
        #expect(mixed.status != 0)
    }

    @Test func `what was enrolled for real is not rehearsed with, and the other way round`() throws
    {
        let served = try ServedDepot(world + "/depot.yaml", of: program)
        let enrol = [
            "enrol", "--list", world + "/fleet.csv", "b3", "--serial", "00a0000000000003",
            "--old-secret", "file:maker.key", "--state", program.state,
        ]
        #expect(try program.run(enrol + ["--bus", served.address]).status == 0)
        let key = try String(contentsOfFile: world + "/keys/b3.key", encoding: .utf8)
        let depot = ["--simulate", world + "/depot.yaml"]
        for line in [
            enrol + depot, ["inventory", "--state", program.state] + depot,
            ["run", world + "/yard.yaml", "--state", program.state] + depot,
            [
                "exec", "--manifest", world + "/yard.yaml", "--state", program.state, "b2",
                "rotate secret",
            ] + depot,
        ] {
            let refused = try program.run(line)
            #expect(refused.status == 78, "\(line): \(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("is the state directory of real vehicles"))
            #expect(refused.errors.contains("a directory of its own with --state"))
        }
        let other = program.state + "-2"
        #expect(try program.run(["inventory", "--state", other] + depot).status == 0)
        let real = try program.run(["inventory", "--state", other, "--bus", served.address])
        withExtendedLifetime(served) {}
        #expect(real.status == 78 && real.errors.contains("simulated"), "\(real.errors)")
        #expect(try String(contentsOfFile: world + "/keys/b3.key", encoding: .utf8) == key)
    }

    @Test func `a rehearsal sends no notice unless it is asked to`() throws {
        try program.write(
            "world/bad.yaml",
            "name: bad\nvehicles: {from: fleet.csv}\nsteps: [{expect: {state_of_charge: \"< 1\"}}]\n"
                + "notify: {targets: {own: {program: [/bin/sh, -c, \"cat >> \(world)/called\"]}}}\n"
        )
        let line = [
            "run", world + "/bad.yaml", "--simulate", world + "/depot.yaml", "--state",
            program.state,
        ]
        #expect(try program.run(line).status == 10)
        #expect(!FileManager.default.fileExists(atPath: world + "/called"))
        let list = try program.run(["notify", "list", "--state", program.state])
        #expect(list.output.contains("no notice was made yet"), "\(list.output)")
        _ = try program.run(["notify", "send", "--state", program.state])
        #expect(!FileManager.default.fileExists(atPath: world + "/called"))
        #expect(try program.run(line + ["--notify"]).status == 10)
        let called = try String(contentsOfFile: world + "/called", encoding: .utf8)
        #expect(called.contains(#""rehearsal":true"#), "\(called)")
        let real = try program.run(["run", world + "/bad.yaml", "--notify"])
        #expect(real.status == 64, "\(real.errors)")
    }
}
