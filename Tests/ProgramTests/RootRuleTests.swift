import Foundation
import Testing
import Workbench

/// Root in directories of other users, and files that others may write.
@Suite(.enabled(if: geteuid() == 0, "only root can work in somebody else's directory"))
struct RootRuleTests {
    private static let other = 65_534

    /// Everything in a folder with its owner, so that a difference shows.
    private func facts(_ folder: String) throws -> [String] {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        return try (files ?? []).sorted().map { name in
            let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return
                "\(name) \(facts[.ownerAccountID] ?? 0) \(facts[.size] ?? 0) \(facts[.modificationDate] ?? 0)"
        }
    }

    private func give(_ path: String) throws {
        try #require(try Workbench.run("chown", "-R", "\(Self.other):\(Self.other)", path) == 0)
    }

    @Test
    func `root changes nothing in the directory of another user, and gets the line that does`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 0)
        let program = yard.program
        try give(program.state)
        let before = try facts(program.state)
        let depot = ["--simulate", "depot.yaml"]
        for words in [
            ["run", "yard.yaml"] + depot, ["run", "yard.yaml"],
            ["inhibit", "car", "--reason", "x"],
            ["exec", "--manifest", "yard.yaml", "car", "command lock"] + depot, ["pause"],
            ["fetch", "yard.yaml"], ["notify", "send"], ["images", "prune"],
            ["enrol", "car", "--list", "fleet.csv"] + depot, ["inventory"],
        ] {
            let answer = try program.run(words + ["--state", program.state])
            #expect(answer.status == 78, "\(words): \(answer.errors)")
            #expect(
                answer.errors.contains(
                    "root changes nothing in \(program.state), which belongs to nobody"
                )
            )
            #expect(
                answer.errors.contains("hint: sudo -u nobody yardmaster \(words[0]) "),
                "\(words): \(answer.errors)"
            )
        }
        // By the service manager's variable, which sudo does not pass on.
        let given = try program.run(["pause"], environment: ["STATE_DIRECTORY": program.state])
        #expect(given.errors.contains("sudo -u nobody yardmaster pause --state \(program.state)"))
        #expect(try facts(program.state) == before)
        // Looking changes nothing.
        for words in [["status"], ["history"], ["morning"], ["show", "car"]] {
            let answer = try program.run(words + ["--state", program.state])
            #expect(answer.status == 0, "\(words): \(answer.errors)")
        }
        #expect(try facts(program.state) == before)
        #expect(yard.deeds == ["lock"])
    }

    @Test func `a state directory that root would make in somebody's folder is refused, too`()
        throws
    {
        let program = try Program()
        try program.copyDemo()
        let folder = program.folder.path + "/theirs"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try give(folder)
        let run = try program.run([
            "run", "demo/rollout.yaml", "--simulate", "demo/depot.yaml", "--state", folder + "/a/b",
        ])
        #expect(run.status == 78 && run.errors.contains("sudo -u nobody yardmaster run"))
        // By a link of theirs to a directory of root.
        let way = folder + "/way"
        symlink(program.folder.path, way)
        try #require(lchown(way, uid_t(Self.other), gid_t(Self.other)) == 0)
        let linked = try program.run(["pause", "--state", way])
        #expect(linked.status == 78 && linked.errors.contains("a link of another user leads there"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["way"])
    }

    @Test func `root enrols nothing into a list in somebody's folder`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(family: "comodule", steps: "[{command: lock}]")
        let folder = yard.program.folder.path + "/theirs"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try yard.program.write("theirs/fleet.csv", "id,serial,family,secret\n")
        try give(folder)
        let before = try facts(folder)
        let enrol = try yard.program.run([
            "enrol", "b1", "--list", "theirs/fleet.csv", "--serial", "00f0000000000001",
            "--state", yard.program.state,
        ])
        #expect(enrol.status == 78, "\(enrol.errors)")
        #expect(enrol.errors.contains("hint: sudo -u nobody yardmaster enrol b1 --list "))
        #expect(try facts(folder) == before)
    }

    @Test(arguments: ["lock", "journal.sqlite"])
    func `a file that root has left in a service's directory is named with its remedy`(
        name: String
    ) throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 0)
        let (folder, state) = (yard.program.folder.path, yard.program.state)
        try FileManager.default.copyItem(atPath: Program.path, toPath: folder + "/yardmaster")
        try give(folder)
        try #require(chown("\(state)/\(name)", 0, 0) == 0)
        let line = PlainUser.prefix + [folder + "/yardmaster"] + yard.line()
        let process = Process()
        process.executableURL = URL(filePath: line[0])
        process.arguments = Array(line.dropFirst())
        process.currentDirectoryURL = URL(filePath: folder)
        let errors = Pipe()
        (process.standardError, process.standardOutput) = (errors, FileHandle.nullDevice)
        try process.run()
        let text = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        #expect(process.terminationStatus == 73, "\(text)")
        #expect(text.contains("\(name) belongs to root, and its directory to nobody"), "\(text)")
        #expect(text.contains("sudo chown -R nobody: \(state)"), "\(text)")
    }

    @Test(arguments: [(0o644, 0), (0o666, 0), (0o644, other)])
    func `a list that names programs is obeyed only when nobody else could write it`(
        mode: Int,
        owner: Int
    ) throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 0)
        let program = yard.program
        try program.write("tell.sh", "#!/bin/sh\ntouch \(program.folder.path)/told\n", mode: 0o755)
        let list = try program.write(
            "state/notify.yaml",
            "targets: {crew: {program: [\(program.folder.path)/tell.sh]}}\n",
            mode: mode
        )
        try #require(chown(list, uid_t(owner), 0) == 0)
        let test = try program.run(["notify", "test", "--state", program.state])
        let isObeyed = mode == 0o644 && owner == 0
        #expect(test.status == (isObeyed ? 0 : 78), "\(test.errors)")
        #expect(FileManager.default.fileExists(atPath: program.folder.path + "/told") == isObeyed)
        guard !isObeyed else { return }
        #expect(test.errors.contains(owner == 0 ? "chmod go-w \(list)" : "chown root \(list)"))
    }

    @Test(arguments: [0o600, 0o666])
    func `a manifest that others can write names no program`(mode: Int) throws {
        let rollout = "{waves: [2, rest], between-waves: {check: [./check.sh]}}"
        let program = try Program.steered(4, rollout: rollout)
        try program.write("check.sh", "#!/bin/sh\ntouch asked\n", mode: 0o700)
        try #require(chmod(program.folder.path + "/steered.yaml", mode_t(mode)) == 0)
        let run = try program.run(program.steeredRun)
        let isObeyed = mode == 0o600
        #expect(run.status == (isObeyed ? 0 : 78), "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: program.folder.path + "/asked") == isObeyed)
        if !isObeyed { #expect(run.errors.contains("chmod go-w ")) }
    }
}
