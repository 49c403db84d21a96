import Foundation
import Testing
import Workbench

/// `secrets rotate` from the shell, and other runs after an interrupted change.
@Suite(.timeLimit(.minutes(5))) struct SecretsRotateTests {
    private static let old = "d0c5000000000000000000000000000000000001"
    private static let new = "d0c5000000000000000000000000000000000002"

    private let program: Program

    init() throws { program = try Program() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: program.rehearsed(name), encoding: .utf8)
    }

    private func serial(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00a0" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// `modules` contains the lines of the depot; each of `count` vehicles has its own key file.
    private func write(_ count: Int, modules: String, steps: String, link: String = "") throws {
        let keys = program.folder.path + "/keys"
        try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
        var rows = "id,serial,family,secret\n"
        for number in 1...count {
            rows += "b\(number),\(serial(number)),comodule,file:keys/b\(number).key\n"
            try program.write("keys/b\(number).key", Self.old + "\n")
        }
        try program.write("fleet.csv", rows)
        try program.write("depot.yaml", "name: keys\nseed: 9\n\(link)modules:\n\(modules)")
        try program.write(
            "yard.yaml",
            """
            name: yard
            vehicles: {from: fleet.csv}
            \(steps)
            rollout: {waves: [1, rest]}
            settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}

            """
        )
    }

    private static let reads = "steps: [{read: state_of_charge}]"

    private func command(_ words: String..., more: [String] = []) -> [String] {
        words + ["yard.yaml", "--simulate", "depot.yaml", "--state", program.state] + more
    }

    @Test func `each module gets another key, and every later run opens it by that`() throws {
        try write(
            5,
            modules: "  - {serial: \"\(serial(1))\", count: 5, key: \"\(Self.old)\", type: 17, "
                + "version: \"4.11.3\"}\n",
            steps: Self.reads
        )
        func keys() throws -> [String] { try (1...5).map { try text("keys/b\($0).key") } }
        let first = try program.run(command("secrets", "rotate"))
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        #expect(first.lastLine.hasPrefix("rollout=yard-secrets ok=5 "), "\(first.lastLine)")
        // One wave after the other, as in the manifest.
        #expect(first.errors.contains("wave 2 of 2"), "\(first.errors)")
        let changed = try keys()
        #expect(Set(changed).count == 5 && !changed.contains(Self.old + "\n"))
        for number in 1...5 {
            #expect(try text("keys/b\(number).key.before") == Self.old + "\n")
            let path = program.rehearsed("keys/b\(number).key")
            #expect(!FileManager.default.fileExists(atPath: path + ".new"))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        for result in [first.output, first.errors] {
            #expect(!result.contains(Self.old) && changed.allSatisfy { !result.contains($0) })
        }
        let run = try program.run(command("run"))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        // A completed change is not repeated, until a person asks for it.
        let second = try program.run(command("secrets", "rotate"))
        #expect(second.status == 0, "\(second.output)\(second.errors)")
        #expect(try keys() == changed)
        let third = try program.run(command("secrets", "rotate", more: ["--again"]))
        #expect(third.status == 0, "\(third.output)\(third.errors)")
        #expect(try Set(keys() + changed).count == 10)
        #expect(try program.run(command("run", more: ["--again"])).status == 0)
    }

    @Test(arguments: [Self.reads, "update"])
    func `a change that was cut off is brought to its end by the next run that needs it`(
        steps: String
    ) throws {
        let row = "type: 17, version: \"4.11.3\"}\n"
        try program.copyDemo()
        let update = """
            images:
              city:
                url: file:demo/city-4.12.0.zip
                sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
                version: "4.12.0"
                fits: {family: comodule, type: 17, variant: 0}
            steps: [{update: city}]
            """
        try write(
            3,
            modules: "  - {serial: \"\(serial(1))\", key: \"\(Self.new)\", \(row)"
                + "  - {serial: \"\(serial(2))\", key: \"\(Self.old)\", \(row)"
                + "  - {serial: \"\(serial(3))\", key: \"\(Self.new)\", \(row)",
            steps: steps == "update" ? update : steps
        )
        // The first two secrets were being changed; the secret of the third is unknown.
        for number in 1...2 { try program.write("keys/b\(number).key.new", Self.new + "\n") }
        let run = try program.run(command("run"))
        #expect(run.status == 10, "\(run.output)\(run.errors)")
        #expect(run.lastLine.contains(" ok=2 "), "\(run.output)")
        #expect(run.output.contains("refuses our secret"), "\(run.output)")
        #expect(try text("keys/b1.key") == Self.new + "\n")
        #expect(try text("keys/b1.key.before") == Self.old + "\n")
        // This secret opens its module, so no other one is tried: its change is still to be made.
        #expect(try text("keys/b2.key") == Self.old + "\n")
        #expect(try text("keys/b2.key.new") == Self.new + "\n")
        #expect(try text("keys/b3.key") == Self.old + "\n")
        let rotated = try program.run(command("secrets", "rotate", more: ["--limit", "b2"]))
        #expect(rotated.status == 0, "\(rotated.output)\(rotated.errors)")
        #expect(try text("keys/b2.key") == Self.new + "\n")
    }

    @Test(arguments: [true, false])
    func `a lock that refuses a sealed feature in an open change is changed first`(
        isOpen: Bool
    ) throws {
        let (key, password) = (
            String(repeating: "5a", count: 32), "5F7B2C0A-1111-2222-3333-444455556666"
        )
        let old = String(repeating: "1b", count: 32) + ":" + password + "\n"
        let keys = program.folder.path + "/keys"
        try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
        try program.write("keys/gate.key", old)
        if isOpen { try program.write("keys/gate.key.new", "\(key):\(password)\n") }
        try program.write(
            "fleet.csv",
            "id,serial,family,secret\ngate,c0ffee000001,lrdevice,file:keys/gate.key\n"
        )
        try program.write(
            "depot.yaml",
            "name: keys\nseed: 9\nmodules:\n  - {serial: c0ffee000001, family: lrdevice, "
                + "key: \"\(key)\", password: \(password), unlocked: true}\n"
        )
        try program.write(
            "yard.yaml",
            "name: yard\nvehicles: {from: fleet.csv}\nsteps:\n  - feature: {lock: locked}\n"
                + "  - expect: {lock: \"== locked\"}\n"
        )
        let run = try program.run(command("run"))
        #expect(run.status == (isOpen ? 0 : 10), "\(run.output)\(run.errors)")
        #expect(try (text("keys/gate.key") == old) == !isOpen)
        let open = program.rehearsed("keys/gate.key") + ".new"
        #expect(!FileManager.default.fileExists(atPath: open))
    }

    @Test func `a fleet over bad links, killed in the midst of changes, keeps every module`() throws
    {
        let count =
            ProcessInfo.processInfo.environment["YARDMASTER_ROTATIONS"].flatMap { Int($0) } ?? 12
        try write(
            count,
            modules: "  - {serial: \"\(serial(1))\", count: \(count), key: \"\(Self.old)\", "
                + "type: 17, version: \"4.11.3\", faults: [{connect-fails: true, times: 3}]}\n",
            steps: Self.reads,
            link: "link: {loss: 20%}\n"
        )
        var kills = 0
        for number in stride(from: 2, through: count, by: 3) {
            let run = try program.begin(
                "rotate\(number)",
                command("secrets", "rotate", more: ["--pace", "40"])
            )
            // During the change of this secret, or after it.
            guard run.waits(for: "\"vehicle\":\"b\(number)\",\"state\":\"acting\"") else { break }
            kill(run.process.processIdentifier, SIGKILL)
            if run.result().status == -SIGKILL { kills += 1 }
        }
        #expect(kills >= 2, "nothing was killed")
        let end = try program.run(command("secrets", "rotate"))
        #expect(end.status == 0, "\(end.output)\(end.errors)")
        // The judge is each module: it accepts the key in its file, and no file contains the first
        // key.
        let run = try program.run(command("run"))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.lastLine.contains(" ok=\(count) "), "\(run.lastLine)")
        let keys = try (1...count).map { try text("keys/b\($0).key") }
        #expect(Set(keys).count == count && !keys.contains(Self.old + "\n"))
    }

    @Test func `what keeps no secret in a file is refused with its place`() throws {
        try program.write(
            "none.yaml",
            "name: none\nvehicles:\n  - {id: e1, serial: esp-1, family: esp}\nsteps: [{rotate: secret}]\n"
        )
        let plain = try program.run(["validate", "none.yaml"])
        #expect(plain.status == 65, "\(plain.errors)")
        #expect(plain.errors.contains("none.yaml:4:9"), "\(plain.errors)")
        #expect(plain.errors.contains("have no secret that can be changed"), "\(plain.errors)")
        try program.write(
            "wait.yaml",
            "name: wait\nvehicles:\n  - {id: e1, serial: esp-1, family: esp}\nsteps: [{wait: 1s}]\n"
        )
        let rotate = try program.run(["secrets", "rotate", "wait.yaml", "--state", program.state])
        #expect(rotate.status == 65, "\(rotate.errors)")
        #expect(rotate.errors.contains("keeps its secret in a file"), "\(rotate.errors)")
        try program.write(
            "word.yaml",
            "name: word\nvehicles:\n  - {id: e1, serial: esp-1, family: esp}\nsteps: [{rotate: key}]\n"
        )
        let word = try program.run(["validate", "word.yaml"])
        #expect(word.status == 65 && word.errors.contains("word.yaml:4:18"), "\(word.errors)")
    }
}
