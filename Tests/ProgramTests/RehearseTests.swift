import Foundation
import Testing
import Workbench

/// `rehearse`: a night with made-up vehicles, which needs nothing and touches nothing.
@Suite(.timeLimit(.minutes(5))) struct RehearseTests {
    private let program: Program
    /// The samples without the keys and tokens of their vehicles, and a home.
    private let world: String

    private var environment: [String: String] {
        [
            "HOME": world + "/user", "XDG_STATE_HOME": "", "STATE_DIRECTORY": "",
            "TMPDIR": program.folder.path + "/tmp",
        ]
    }

    init() throws {
        program = try Program()
        world = URL(filePath: program.folder.path).resolvingSymlinksInPath().path + "/world"
        let files = FileManager.default
        for folder in [world + "/user", program.folder.path + "/tmp"] {
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        try files.copyItem(
            at: Program.repository.appending(path: "manifests"),
            to: URL(filePath: world + "/manifests")
        )
        for name in try samples {
            try? files.removeItem(atPath: "\(world)/manifests/\(name)/keys")
            try? files.removeItem(atPath: "\(world)/manifests/\(name)/depot.yaml")
        }
        try program.write(
            "world/user/notify.yaml",
            "targets: {pager: {program: [/bin/sh, -c, \"cat >> \(world)/called\"]}}\n"
        )
    }

    /// The samples with a fleet list; `night` makes its list itself.
    private var samples: [String] {
        get throws {
            let folder = world + "/manifests"
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter {
                FileManager.default.fileExists(atPath: "\(folder)/\($0)/fleet.csv")
            }
        }
    }

    private func rehearse(_ sample: String, _ more: String...) throws -> Program.Result {
        try program.run(
            ["rehearse", "\(world)/manifests/\(sample)/rollout.yaml"] + more,
            environment: environment
        )
    }

    /// Everything about each file of the world.
    private func snapshot() throws -> [String: String] {
        var found: [String: String] = [:]
        let names = try #require(FileManager.default.enumerator(atPath: world))
        for case let name as String in names {
            var status = stat()
            #expect(lstat(world + "/" + name, &status) == 0, "\(name)")
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let content = isFile ? try Data(contentsOf: URL(filePath: world + "/" + name)) : Data()
            found[name] =
                "\(status.st_mode) \(status.st_uid) \(status.st_ino) \(status.st_mtim.tv_sec)."
                + "\(status.st_mtim.tv_nsec) " + content.base64EncodedString()
        }
        return found
    }

    @Test func `each sample is rehearsed without a key, a token or a depot, and nothing changes`()
        throws
    {
        let before = try snapshot()
        #expect(try samples.count == 8)
        for sample in try samples {
            let night = try rehearse(sample)
            #expect(night.status == 0, "\(sample): \(night.output)\(night.errors)")
            #expect(night.errors.contains("its state is in \(program.folder.path)/tmp/"))
            #expect(try snapshot() == before, "\(sample) touched something")
        }
    }

    @Test func `a bad night shows what fails, and its seed shows the same again`() throws {
        func facts(_ night: Program.Result) throws -> [String] {
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(night.output.utf8)) as? [String: Any]
            )
            let vehicles = try #require(document["vehicles"] as? [[String: Any]])
            return vehicles.map {
                "\($0["vehicle"] ?? $0["id"] ?? "") \($0["outcome"] ?? "") \($0["message"] ?? "")"
            }
        }
        let good = try rehearse("depot-wide", "--json")
        let bad = try rehearse("depot-wide", "--json", "--bad", "--seed", "7")
        let again = try rehearse("depot-wide", "--json", "--bad", "--seed", "7")
        let other = try rehearse("depot-wide", "--json", "--bad", "--seed", "8")
        #expect(good.status == 0 && [10, 11, 12].contains(bad.status), "\(bad.errors)")
        #expect(try facts(bad) == facts(again))
        #expect(try facts(bad) != facts(other) && facts(bad) != facts(good))
    }

    @Test func `what a rehearsal has shown is asked for, and is no place for another run`() throws {
        let state = program.folder.path + "/rehearsed"
        let night = try rehearse("demo", "--bad", "--state", state)
        #expect([10, 11, 12].contains(night.status), "\(night.output)\(night.errors)")
        let status = try program.run(["status", "--state", state], environment: environment)
        #expect(
            status.output.contains("$ yardmaster rehearse \(world)/manifests/demo/rollout.yaml"),
            "\(status.output)"
        )
        #expect(!status.output.contains("yardmaster run"), "\(status.output)")
        let second = try rehearse("demo", "--state", state)
        #expect(
            second.status == 78 && second.errors.contains("begins from the start"),
            "\(second.errors)"
        )
    }

    @Test func `an image from the network is taken from this machine, or asked for`() throws {
        let manifest = world + "/manifests/sensors/rollout.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        let away = text.replacing(/url: .*/, with: "url: https://images.invalid/sensor.bin")
        try away.write(toFile: manifest, atomically: true, encoding: .utf8)
        let missing = try rehearse("sensors")
        #expect(missing.status == 66, "\(missing.output)\(missing.errors)")
        #expect(missing.errors.contains("a rehearsal sends nothing"), "\(missing.errors)")
        #expect(missing.errors.contains("yardmaster fetch"), "\(missing.errors)")
        // The store of real runs has it.
        let digest = try #require(text.firstMatch(of: /sha256: "?([0-9a-f]{64})/)?.output.1)
        let store = "\(world)/user/.local/state/yardmaster/images/sha256/\(digest.prefix(2))"
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: world + "/manifests/sensors/sensor-2.7.31.bin",
            toPath: "\(store)/\(digest)"
        )
        let night = try rehearse("sensors")
        #expect(night.status == 0, "\(night.output)\(night.errors)")
    }

    /// A manifest for so many vehicles.
    private func fleet(of count: Int) throws -> String {
        var list = "id,serial,family,secret\n"
        for number in 1...count {
            let serial = String(0x00E0_0000_0000_0000 + number, radix: 16)
            list += "v\(number),00\(serial),comodule,file:keys/v\(number).key\n"
        }
        try program.write("world/fleet.csv", list)
        return try program.write(
            "world/large.yaml",
            "name: large\nvehicles: {from: fleet.csv}\nsteps: [{read: state_of_charge}]\n"
        )
    }

    @Test func `a fleet of ten thousand is rehearsed`() throws {
        let manifest = try fleet(of: 10_000)
        let before = try snapshot()
        let night = try program.run(
            ["rehearse", manifest, "--quiet", "--json"],
            environment: environment
        )
        #expect(night.status == 0, "\(night.errors)")
        #expect(try snapshot() == before)
    }

    // MARK: What the kernel sees

    /// The calls of a command that leave the folders that it may use: files that it writes, removes
    /// or changes, and addresses that it speaks to.
    private func escapes(_ arguments: [String], below folders: [String]) throws -> [String] {
        let trace = program.folder.path + "/trace-\(UUID().uuidString)"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        process.arguments =
            [
                "-f", "--seccomp-bpf", "-qq", "-y", "-s", "300", "-o", trace, "-e",
                "trace=%network,%file",
                Program.path,
            ]
            + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: program.folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 100, "strace has seen the command")
        return lines.map(String.init).filter { line in
            if line.contains("AF_INET") { return true }
            if line.contains(/(connect|sendto|sendmsg|bind)\(/) { return true }
            let isWrite =
                line.contains(/\ open(at)?\(/)
                && line.contains(/O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)/)
                || line.contains(
                    /\ (unlink|rename|mkdir|rmdir|chmod|chown|lchown|truncate|link|symlink|mknod|utime|setxattr)[a-z0-9]*\(/
                )
            guard isWrite, !line.contains("ENOENT"), !line.contains("EEXIST") else { return false }
            // A name in an open folder follows that folder; a thread names itself.
            let paths = line.matches(of: /(?:<([^>]*)>, )?"([^"]*)"/).map { match in
                let name = String(match.output.2)
                return name.hasPrefix("/") ? name : "\(match.output.1 ?? "?")/\(name)"
            }
            return paths.contains { path in
                !path.hasPrefix("/dev/") && path != "/proc/thread-self/comm"
                    && !folders.contains { path == $0 || path.hasPrefix($0 + "/") }
            }
        }
    }

    private static var canTrace: Bool {
        (try? Workbench.run("strace", "-qq", "-o", "/dev/null", "true")) == 0
    }

    @Test(.enabled(if: canTrace, "strace is not installed, or may not trace"))
    func `no call of a rehearsal leaves its directory or this machine`() throws {
        let (state, beside) = (program.folder.path + "/traced", program.folder.path + "/beside")
        for sample in try samples {
            let own = "\(state)-\(sample)"
            let found = try escapes(
                ["rehearse", "\(world)/manifests/\(sample)/rollout.yaml", "--state", own, "--bad"],
                below: [own]
            )
            #expect(found == [], "\(sample): \(found.prefix(5))")
        }
        let large = try escapes(
            ["rehearse", try fleet(of: 1_000), "--state", "\(state)-large", "--quiet"],
            below: ["\(state)-large"]
        )
        #expect(large == [], "\(large.prefix(5))")
        // The judge sees what leaves it: a report that is asked for.
        let report = try escapes(
            [
                "rehearse", "\(world)/manifests/sensors/rollout.yaml", "--state", beside,
                "--report", world + "/night.html",
            ],
            below: [beside]
        )
        #expect(report.contains { $0.contains("night.html") }, "\(report)")
    }
}
