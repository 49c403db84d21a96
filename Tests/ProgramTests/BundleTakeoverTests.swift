import Foundation
import Signers
import Testing
import Workbench

/// The changes that a bundle may make in a depot, and those that a stranger's bundle may not make.
@Suite struct BundleTakeoverTests {
    private func depot(
        _ comment: String = "hardware:comodule-17-0 counter:5 version:4.12.0"
    ) throws -> SignedDepot {
        let depot = try SignedDepot()
        try depot.sign(comment)
        try depot.make()
        return depot
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test(arguments: [
        "files/.ssh/authorized_keys", "files/.config/systemd/user/evil.service", "files/notes.txt",
        "images/\(String(repeating: "0", count: 64))", "signatures/other", "metadata/vendor/x.json",
        "manifest/two/levels.yaml", "else/where", "plain",
    ])
    func `a part that the manifest does not name is refused`(name: String) throws {
        let depot = try depot()
        try depot.trust()
        let path = depot.folder + "/tallinn.bundle"
        var loose = try LooseBundle(path)
        loose.parts[name] = Array("ssh-ed25519 AAAA".utf8)
        try loose.write(to: path)
        let before = try depot.contents(of: depot.program.state)
        let result = try depot.verify("--target-dir", depot.folder + "/rollout")
        #expect(result.status == 77)
        #expect(result.errors.contains(name), "\(result.errors)")
        #expect(!isThere(depot.folder + "/rollout"))
        #expect(try depot.contents(of: depot.program.state) == before)
    }

    @Test(arguments: ["keys", "demo"])
    func `a linked folder below the target is not followed`(name: String) throws {
        let depot = try depot()
        try depot.trust()
        let target = depot.folder + "/rollout"
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/elsewhere",
            withIntermediateDirectories: false
        )
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: target + "/" + name,
            withDestinationPath: depot.folder + "/elsewhere"
        )
        let result = try depot.verify("--target-dir", target)
        #expect(result.status == 77)
        #expect(result.errors.contains("is a link"), "\(result.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [name])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: depot.folder + "/elsewhere").isEmpty
        )
    }

    @Test func `a hidden file is taken over only when somebody vouches for the bundle`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        let manifest = depot.folder + "/manifest.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/.ssh",
            withIntermediateDirectories: false
        )
        try FileManager.default.copyItem(
            atPath: depot.folder + "/demo/fleet.csv",
            toPath: depot.folder + "/.ssh/authorized_keys"
        )
        try depot.program.write(
            "manifest.yaml",
            text.replacing("demo/fleet.csv", with: ".ssh/authorized_keys")
        )
        try depot.make()
        try depot.trust()
        let target = depot.folder + "/rollout"
        let refused = try depot.verify("--target-dir", target)
        #expect(refused.status == 77)
        #expect(refused.errors.contains(".ssh/authorized_keys"), "\(refused.errors)")
        #expect(!isThere(target))
        try depot.signBundle(by: MinisignSigner(2))
        let taken = try depot.verify("--target-dir", target, "--key", "office.pub")
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(isThere(target + "/.ssh/authorized_keys"))
    }

    @Test func `a signed bundle is opened once, so that nobody can change it in between`() throws {
        let depot = try depot()
        try depot.signBundle(by: MinisignSigner(2))
        let watch = try OpenCount(depot.folder + "/tallinn.bundle")
        let result = try depot.verify("--key", "office.pub")
        #expect(result.status == 0, "\(result.errors)")
        #expect(watch.count == 1)
    }

    // MARK: Taking it over

    @Test func `the same bundle is taken over twice`() throws {
        let depot = try depot()
        try depot.trust()
        let target = depot.folder + "/rollout"
        #expect(try depot.verify("--target-dir", target).status == 0)
        let first = try depot.contents(of: target)
        let again = try depot.verify("--target-dir", target)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try depot.contents(of: target) == first)
    }

    @Test(arguments: ["manifest.yaml", "keys/signer.pub"])
    func `a file that is another stays, and nothing is written`(name: String) throws {
        let depot = try depot()
        try depot.trust()
        let target = depot.folder + "/rollout"
        try FileManager.default.createDirectory(
            atPath: target + "/keys",
            withIntermediateDirectories: true
        )
        try depot.program.write("rollout/" + name, "mine")
        let before = try depot.contents(of: target)
        let state = try depot.contents(of: depot.program.state)
        let result = try depot.verify("--target-dir", target)
        #expect(result.status == 77)
        #expect(result.errors.contains("\(name) is there already and is another file"))
        #expect(try depot.contents(of: target) == before)
        #expect(try depot.contents(of: depot.program.state) == state)
    }

    @Test func `a target that cannot be written is reported with its reason`() throws {
        let depot = try depot()
        try depot.trust()
        let missing = try depot.verify("--target-dir", depot.folder + "/no/such/folder")
        #expect(missing.status == 73)
        #expect(missing.errors.contains("No such file or directory"), "\(missing.errors)")
        try depot.program.write("plain", "a file")
        let file = try depot.verify("--target-dir", depot.folder + "/plain")
        #expect(file.status == 73)
        #expect(file.errors.contains("Not a directory"), "\(file.errors)")
        // As a user who is not root, so that permissions apply.
        let target = depot.folder + "/locked"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try PlainUser.own(depot.folder)
        chmod(target, 0o555)
        let line =
            PlainUser.prefix + [
                Program.path, "bundle", "verify", depot.folder + "/tallinn.bundle", "--state",
                depot.program.state, "--target-dir", target,
            ]
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(filePath: line[0])
        process.arguments = Array(line.dropFirst())
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let said = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        #expect(process.terminationStatus == 73)
        #expect(said.contains("Permission denied"), "\(said)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test func `what a takeover that was killed left goes with the next one`() throws {
        let depot = try depot()
        try depot.trust()
        let target = depot.folder + "/rollout"
        try FileManager.default.createDirectory(
            atPath: target + "/.yardmaster-takeover-1",
            withIntermediateDirectories: true
        )
        try depot.program.write("rollout/.yardmaster-takeover-1/0", "half")
        let result = try depot.verify("--target-dir", target)
        #expect(result.status == 0, "\(result.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: target).sorted()
        #expect(names == ["demo", "keys", "manifest.yaml"])
    }

    @Test func `files have any name that a manifest may use`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        let text = try String(contentsOfFile: depot.folder + "/manifest.yaml", encoding: .utf8)
        let names = ["Fuhrpark Süd/Räder (neu).csv", "ключ:1.pub", "öffentlich\\ 50%.yaml"]
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/Fuhrpark Süd",
            withIntermediateDirectories: false
        )
        for (from, to) in [("demo/fleet.csv", names[0]), ("keys/signer.pub", names[1])] {
            try FileManager.default.copyItem(
                atPath: depot.folder + "/" + from,
                toPath: depot.folder + "/" + to
            )
        }
        try depot.program.write(
            names[2],
            text.replacing("demo/fleet.csv", with: "'./Fuhrpark Süd//Räder (neu).csv'")
                .replacing("keys/signer.pub", with: "'\(names[1])'")
        )
        try depot.make(of: names[2])
        try depot.trust()
        let target = depot.folder + "/ein Ziel"
        let result = try depot.verify("--target-dir", target)
        #expect(result.status == 0, "\(result.errors)")
        for name in names {
            #expect(
                try Data(contentsOf: URL(filePath: target + "/" + name))
                    == Data(contentsOf: URL(filePath: depot.folder + "/" + name))
            )
        }
        let plan = try depot.program.run(["validate", target + "/" + names[2], "--without-files"])
        #expect(plan.status == 0, "\(plan.errors)")
    }

    // MARK: Keys

    @Test func `a key that only the bundle names is no key`() throws {
        let depot = try depot("counter:99")
        let refused = try depot.verify("--target-dir", depot.folder + "/rollout")
        #expect(refused.status == 77)
        #expect(refused.errors.contains("this depot does not know the key"), "\(refused.errors)")
        #expect(!isThere(depot.folder + "/rollout"))
        try depot.trust()
        #expect(try depot.verify().status == 0)
    }

    @Test func `a bundle that a key of the depot signed brings its keys along`() throws {
        let depot = try depot()
        try depot.signBundle(by: MinisignSigner(2))
        let result = try depot.verify("--key", "office.pub")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func `a key of a manifest that was run here is known`() throws {
        let depot = try depot()
        #expect(try depot.depot.fetch().status == 0)
        #expect(try depot.verify().status == 0)
    }

    @Test func `a stranger's counter keeps no honest release out`() throws {
        let stranger = try depot("counter:99")
        #expect(try stranger.verify("--target-dir", stranger.folder + "/rollout").status == 77)
        try stranger.sign("counter:5")
        let honest = try stranger.depot.fetch()
        #expect(honest.status == 0, "\(honest.errors)")
    }

    @Test func `each key has a record of its own`() throws {
        let depot = try SignedDepot()
        try depot.sign("counter:99", by: MinisignSigner(7))
        #expect(try depot.depot.fetch().status == 0)
        try depot.sign("counter:5", by: MinisignSigner(8))
        let other = try depot.depot.fetch()
        #expect(other.status == 0, "\(other.errors)")
        try depot.sign("counter:4", by: MinisignSigner(8))
        let older = try depot.depot.fetch()
        #expect(older.status == 77)
        #expect(older.errors.contains("it is release 4, and release 5 was trusted"))
    }

    @Test func `a record is reset with a reason that is written down`() throws {
        let depot = try SignedDepot()
        try depot.sign("counter:99")
        #expect(try depot.depot.fetch().status == 0)
        try depot.sign("counter:5")
        #expect(try depot.depot.fetch().status == 77)
        let line = [
            "trust", "reset", "--key", "keys/signer.pub", "--state", depot.program.state,
        ]
        let silent = try depot.program.run(line)
        #expect(silent.status == 64)
        let reset = try depot.program.run(line + ["--reason", "the maker counts from one again"])
        #expect(reset.status == 0, "\(reset.errors)")
        let result = try depot.depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
        let shown = try depot.program.run(["trust", "show", "--state", depot.program.state])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output.contains("the maker counts from one again"), "\(shown.output)")
        #expect(shown.output.contains(depot.signer.publicLine))
        let json = try depot.program.run([
            "trust", "show", "--json", "--state", depot.program.state,
        ])
        #expect(json.output.contains(#""reason":"the maker counts from one again""#))
        let unknown = try depot.program.run([
            "trust", "reset", "--repository", "nobody", "--reason", "x", "--state",
            depot.program.state,
        ])
        #expect(unknown.status == 66)
    }

    @Test func `the record of a repository is reset as well`() throws {
        let depot = try TrustedDepot()
        try depot.serve("with older")
        try depot.manifest()
        #expect(try depot.fetch().status == 0)
        let path = depot.program.state + "/trust/repository-vendor/releases"
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""counter":5"#))
        let reset = try depot.program.run([
            "trust", "reset", "--repository", "vendor", "--reason", "wrong counter", "--state",
            depot.program.state,
        ])
        #expect(reset.status == 0, "\(reset.errors)")
        #expect(!(try String(contentsOfFile: path, encoding: .utf8).contains(#""counter":5"#)))
    }

    // MARK: Without network

    @Test func `signed images run without network after a bundle was taken over`() throws {
        let depot = try depot()
        try depot.trust()
        let target = depot.folder + "/rollout"
        #expect(try depot.verify("--target-dir", target).status == 0)
        // Secrets are brought separately.
        try FileManager.default.copyItem(
            atPath: depot.folder + "/keys/demo.key",
            toPath: target + "/keys/demo.key"
        )
        for name in ["city.minisig", "demo/city-4.12.0.zip"] {
            try FileManager.default.removeItem(atPath: depot.folder + "/" + name)
        }
        let result = try depot.program.run([
            "run", target + "/manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            depot.program.state,
        ])
        #expect(result.lastLine.hasPrefix("rollout=trusted "), "\(result.errors)")
        #expect([0, 10, 11].contains(result.status), "\(result.errors)")
    }

    @Test func `signed images run without network after a fetch in the evening`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        #expect(try depot.depot.fetch().status == 0)
        // An address where no server listens.
        let nobody = "http://127.0.0.1:9/city.minisig"
        let text = try String(contentsOfFile: depot.folder + "/manifest.yaml", encoding: .utf8)
            .replacing("'file:city.minisig'", with: "'\(nobody)'")
            .replacing("url: file:demo", with: "allow-http: true\n    url: file:demo")
        try depot.program.write("manifest.yaml", text)
        let fetched = try depot.depot.fetch()
        #expect(fetched.status == 0, "\(fetched.errors)")
        let result = try depot.program.run([
            "run", "manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            depot.program.state,
        ])
        #expect(result.lastLine.hasPrefix("rollout=trusted "), "\(result.errors)")
    }

    @Test func `a kept signature goes with its image`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        #expect(try depot.depot.fetch().status == 0)
        let images = depot.program.state + "/images/sha256"
        let before = try FileManager.default.subpathsOfDirectory(atPath: images)
        #expect(before.contains { $0.hasSuffix(".minisig") }, "\(before)")
        let pruned = try depot.program.run([
            "images", "prune", "--forget", "trusted", "--state", depot.program.state,
        ])
        #expect(pruned.status == 0, "\(pruned.errors)")
        let left = try FileManager.default.subpathsOfDirectory(atPath: images)
        #expect(!left.contains { $0.contains(TrustedDepot.digest) }, "\(left)")
    }
}

/// Counts how often any process opens a file, by the kernel's events.
private final class OpenCount {
    private let descriptor: CInt

    init(_ path: String) throws {
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        // The kernel merges identical events that follow each other; the read events between two
        // opens keep the opens apart.
        let events = UInt32(IN_OPEN) | UInt32(IN_ACCESS) | UInt32(IN_CLOSE_NOWRITE)
        guard descriptor >= 0, inotify_add_watch(descriptor, path, events) >= 0 else {
            throw FileFailure(path)
        }
    }

    deinit { close(descriptor) }

    /// The number of opens since the last call.
    var count: Int {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let read = max(0, read(descriptor, &bytes, bytes.count))
        // Events of a watched file have no name: they are 16 bytes each, and the second four are
        // the kind.
        return stride(from: 0, to: read, by: 16).count { start in
            bytes[start + 4] & UInt8(IN_OPEN) != 0
        }
    }
}
