import Foundation
import Signers
import Testing

/// One command for a technician with a USB stick, and a folder into which bundles are copied.
@Suite struct BundleApplyTests {
    private static let office = MinisignSigner(2)

    /// A depot with a bundle that the office has signed.
    private func depot(_ name: String = "tallinn.bundle") throws -> SignedDepot {
        let depot = try SignedDepot()
        try depot.sign()
        try depot.make(name)
        try depot.signBundle(name, by: Self.office)
        return depot
    }

    private func apply(_ depot: SignedDepot, _ more: String...) throws -> Program.Result {
        try depot.program.run(
            ["bundle", "apply", "--target-dir", "rollouts", "--state", depot.program.state] + more
        )
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func `a stick is verified, taken over, validated and planned by one command`() throws {
        let depot = try depot()
        let result = try apply(depot, "--key", "office.pub", "tallinn.bundle")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.contains(
                /yardmaster run --state \/[^ ]+ \/[^ ]+\/rollouts\/trusted\/manifest.yaml/
            ),
            "\(result.output)"
        )
        #expect(result.output.contains("  in the store\n"), "\(result.output)")
        // A bundle does not contain the keys of vehicles.
        let valid = try depot.program.run([
            "validate", "rollouts/trusted/manifest.yaml", "--without-files",
        ])
        #expect(valid.status == 0)
        let again = try apply(depot, "--key", "office.pub", "--json", "tallinn.bundle")
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains(#""manifest":"rollouts/trusted/manifest.yaml""#))
        let names = try FileManager.default.contentsOfDirectory(
            atPath: depot.folder + "/rollouts"
        )
        #expect(names.count == 2, "\(names)")
    }

    @Test func `the next night's bundle takes the place of the one before, secrets stay`() throws {
        let depot = try depot()
        #expect(try apply(depot, "--key", "office.pub", "tallinn.bundle").status == 0)
        let link = depot.folder + "/rollouts/trusted"
        try FileManager.default.copyItem(
            atPath: depot.folder + "/keys/demo.key",
            toPath: link + "/keys/demo.key"
        )
        let manifest = depot.folder + "/manifest.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try depot.program.write("manifest.yaml", text + "x-night: second\n")
        try depot.make("second.bundle")
        try depot.signBundle("second.bundle", by: Self.office)
        let result = try apply(depot, "--key", "office.pub", "second.bundle")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try String(contentsOfFile: link + "/manifest.yaml", encoding: .utf8)
                .contains("x-night: second")
        )
        let secret = try FileManager.default.attributesOfItem(atPath: link + "/keys/demo.key")
        #expect(secret[.posixPermissions] as? Int == 0o600)
        let run = try depot.program.run([
            "run", "rollouts/trusted/manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            depot.program.state,
        ])
        #expect(run.lastLine.hasPrefix("rollout=trusted "), "\(run.errors)")
    }

    /// A bundle that is made by the office; its manifest starts two programs, which leave a file.
    private func withPrograms() throws -> SignedDepot {
        let depot = try SignedDepot()
        try depot.sign()
        let manifest = depot.folder + "/manifest.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        let check =
            "rollout: {waves: [1, rest], between-waves: {check: [/bin/sh, -c, 'echo > ran']}}\n"
        let notify = "notify: {targets: {desk: {program: [/usr/bin/touch, told]}}}\n"
        try depot.program.write("manifest.yaml", text + check + notify)
        try depot.make()
        try depot.signBundle(by: Self.office)
        return depot
    }

    @Test func `programs come only in a bundle that a key vouches for, and are shown in full`()
        throws
    {
        let depot = try withPrograms()
        let lines = [
            "between two waves: /bin/sh -c 'echo > ran'",
            "for notices to desk: /usr/bin/touch told",
        ]
        try depot.trust()
        for more in [["verify"], ["apply", "--target-dir", "rollouts"]] {
            let refused = try depot.program.run(
                ["bundle"] + more + ["tallinn.bundle", "--state", depot.program.state]
            )
            #expect(refused.status == 77)
            for line in lines { #expect(refused.errors.contains(line), "\(refused.errors)") }
            #expect(!isThere(depot.folder + "/rollouts"))
        }
        let shown = try depot.program.run(["bundle", "show", "tallinn.bundle"])
        let applied = try apply(depot, "--key", "office.pub", "tallinn.bundle")
        #expect(shown.status == 0 && applied.status == 0, "\(applied.errors)")
        for line in lines {
            #expect(shown.output.contains("starts \(line)"), "\(shown.output)")
            #expect(applied.output.contains("starts \(line)"), "\(applied.output)")
        }
        #expect(!isThere(depot.folder + "/ran") && !isThere(depot.folder + "/told"))
    }

    @Test func `an older bundle of the same signer needs --older and a reason, which is kept`()
        throws
    {
        let depot = try depot()
        let manifest = depot.folder + "/manifest.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try depot.program.write("manifest.yaml", text + "x-night: second\n")
        try depot.make("second.bundle")
        try depot.signBundle("second.bundle", by: Self.office)
        for bundle in ["tallinn.bundle", "second.bundle", "second.bundle"] {
            let result = try apply(depot, "--key", "office.pub", bundle)
            #expect(result.status == 0, "\(result.errors)")
        }
        let link = depot.folder + "/rollouts/trusted/manifest.yaml"
        let before = try String(contentsOfFile: link, encoding: .utf8)
        for command in [["verify"], ["apply", "--target-dir", "rollouts"]] {
            let refused = try depot.program.run(
                ["bundle"] + command
                    + ["--key", "office.pub", "tallinn.bundle", "--state", depot.program.state]
            )
            #expect(refused.status == 77)
            #expect(refused.errors.contains("is older than one that was taken over"))
        }
        #expect(try apply(depot, "--key", "office.pub", "--older", "tallinn.bundle").status == 64)
        #expect(try String(contentsOfFile: link, encoding: .utf8) == before)
        let back = try apply(
            depot,
            "--key",
            "office.pub",
            "--older",
            "--reason",
            "the new one is wrong",
            "tallinn.bundle"
        )
        #expect(back.status == 0, "\(back.errors)")
        #expect(!(try String(contentsOfFile: link, encoding: .utf8)).contains("x-night: second"))
        let journal = try Data(contentsOf: URL(filePath: depot.program.state + "/journal.sqlite"))
        #expect(journal.range(of: Data("the new one is wrong".utf8)) != nil)
        // What was gone back to is the newest now.
        #expect(try apply(depot, "--key", "office.pub", "tallinn.bundle").status == 0)
    }

    @Test func `a bundle that is refused leaves the rollout as it was`() throws {
        let depot = try depot()
        #expect(try apply(depot, "--key", "office.pub", "tallinn.bundle").status == 0)
        let before = try depot.contents(of: depot.folder + "/rollouts")
        var loose = try LooseBundle(depot.folder + "/tallinn.bundle")
        loose.parts["manifest/manifest.yaml"]? += Array("# changed\n".utf8)
        try loose.write(to: depot.folder + "/tallinn.bundle")
        let refused = try apply(depot, "--key", "office.pub", "tallinn.bundle")
        #expect(refused.status == 77)
        #expect(refused.errors.contains("the signature is not over these bytes"))
        #expect(try depot.contents(of: depot.folder + "/rollouts") == before)
    }

    @Test func `profiles travel with the bundle`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        let shipped = Program.repository.appending(path: "Sources/Families/Comodule/Profiles")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: shipped.path).sorted()
                .first { $0.hasSuffix(".yaml") }
        )
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/own",
            withIntermediateDirectories: false
        )
        try FileManager.default.copyItem(
            atPath: shipped.path + "/" + name,
            toPath: depot.folder + "/own/" + name
        )
        let made = try depot.program.run([
            "bundle", "create", "--profiles", "own", "manifest.yaml", "tallinn.bundle", "--state",
            depot.folder + "/office",
        ])
        #expect(made.status == 0, "\(made.errors)")
        try depot.trust()
        let result = try apply(depot, "tallinn.bundle")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.contains(
                /--profiles \/[^ ]+\/rollouts\/trusted\/profiles \/[^ ]+\/trusted\/manifest.yaml/
            ),
            "\(result.output)"
        )
        #expect(isThere(depot.folder + "/rollouts/trusted/profiles/" + name))
        // A file that is not a profile is refused.
        var loose = try LooseBundle(depot.folder + "/tallinn.bundle")
        loose.parts["profiles/evil.yaml"] = Array("ssh-ed25519 AAAA".utf8)
        try loose.write(to: depot.folder + "/tallinn.bundle")
        let refused = try apply(depot, "tallinn.bundle")
        #expect(refused.status == 77)
        #expect(refused.errors.contains("is no profile"), "\(refused.errors)")
    }

    @Test func `the folder of profiles that a manifest names travels with it`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        let shipped = Program.repository.appending(path: "Sources/Families/Comodule/Profiles")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: shipped.path).sorted()
                .first { $0.hasSuffix(".yaml") }
        )
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/our own",
            withIntermediateDirectories: false
        )
        try FileManager.default.copyItem(
            atPath: shipped.path + "/" + name,
            toPath: depot.folder + "/our own/" + name
        )
        let text = try String(contentsOfFile: depot.folder + "/manifest.yaml", encoding: .utf8)
        try depot.program.write("manifest.yaml", text + "profiles: our own\n")
        try depot.make()
        try depot.trust()
        let result = try apply(depot, "tallinn.bundle")
        #expect(result.status == 0, "\(result.errors)")
        #expect(isThere(depot.folder + "/rollouts/trusted/our own/" + name))
        var loose = try LooseBundle(depot.folder + "/tallinn.bundle")
        loose.parts["files/our own/notes.txt"] = Array("hello".utf8)
        try loose.write(to: depot.folder + "/tallinn.bundle")
        #expect(try apply(depot, "tallinn.bundle").status == 77)
    }

    @Test func `bundles that come into a folder leave it, with the reason if refused`() throws {
        let depot = try depot("spool/good.bundle", folder: "spool")
        try Data("no bundle".utf8).write(to: URL(filePath: depot.folder + "/spool/bad.bundle"))
        try Data("half".utf8).write(to: URL(filePath: depot.folder + "/spool/later.bundle.part"))
        let unsigned = try apply(depot, "--from", "spool")
        #expect(unsigned.status == 64)
        let result = try apply(depot, "--from", "spool", "--key", "office.pub")
        #expect(result.status == 77)
        #expect(result.lastLine == "applied=1 refused=1 exit=77")
        let left = try FileManager.default.subpathsOfDirectory(atPath: depot.folder + "/spool")
        #expect(
            left.sorted() == [
                "applied", "applied/good.bundle", "applied/good.bundle.minisig",
                "later.bundle.part", "refused", "refused/bad.bundle", "refused/bad.bundle.reason",
            ]
        )
        let nothing = try apply(depot, "--from", "spool", "--key", "office.pub")
        #expect(nothing.status == 0)
        #expect(nothing.lastLine == "applied=0 refused=0 exit=0")
    }

    /// What stands in the way of the bundle a of a folder, and what is said of it.
    private struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int32
        let reason: String
        let prepare: @Sendable (SignedDepot) throws -> Void

        init(
            _ name: String,
            _ status: Int32,
            _ reason: String,
            _ prepare: @escaping @Sendable (SignedDepot) throws -> Void
        ) {
            (testDescription, self.status, self.reason, self.prepare) = (
                name, status, reason, prepare
            )
        }
    }

    private static func takeOver(_ depot: SignedDepot) throws {
        let taken = try depot.program.run([
            "bundle", "apply", "--target-dir", "rollouts", "--state", depot.program.state, "--key",
            "office.pub", "spool/a.bundle",
        ])
        #expect(taken.status == 0, "\(taken.errors)")
    }

    private static let obstacles = [
        Obstacle("a list that the depot has changed", 77, "fleet.csv is there already") { depot in
            try takeOver(depot)
            let list = URL(filePath: depot.folder + "/rollouts/trusted/demo/fleet.csv")
            try (try Data(contentsOf: list) + Data("\n".utf8)).write(to: list)
        },
        Obstacle("a list that the depot has made a link", 77, "fleet.csv is a link") { depot in
            try takeOver(depot)
            let list = depot.folder + "/rollouts/trusted/demo/fleet.csv"
            try FileManager.default.removeItem(atPath: list)
            try FileManager.default.createSymbolicLink(
                atPath: list,
                withDestinationPath: depot.folder + "/demo/fleet.csv"
            )
        },
        Obstacle("a file in place of a folder", 77, "demo is there already") { depot in
            try takeOver(depot)
            let folder = depot.folder + "/rollouts/trusted/demo"
            try FileManager.default.removeItem(atPath: folder)
            try Data("mine".utf8).write(to: URL(filePath: folder))
        },
        Obstacle("a folder with the rollout's name", 77, "/trusted: File exists") { depot in
            try FileManager.default.createDirectory(
                atPath: depot.folder + "/rollouts/trusted",
                withIntermediateDirectories: true
            )
        },
        Obstacle("a key that is none", 78, "the key of the image city cannot be used") { depot in
            let path = depot.folder + "/spool/a.bundle"
            var loose = try LooseBundle(path)
            loose.parts["files/keys/signer.pub"] = Array("RWno".utf8)
            try loose.write(to: path)
            try depot.signBundle("spool/a.bundle", by: office)
        },
        Obstacle("an unknown time zone", 78, "does not know the time zone") { depot in
            let manifest = depot.folder + "/manifest.yaml"
            let text = try String(contentsOfFile: manifest, encoding: .utf8)
            let zone = "{from: \"22:00\", for: 1h, zone: Europe/Nowhere}"
            try depot.program.write("manifest.yaml", text + "rollout: {window: \(zone)}\n")
            try FileManager.default.removeItem(atPath: depot.folder + "/spool/a.bundle")
            try depot.make("spool/a.bundle")
            try depot.signBundle("spool/a.bundle", by: office)
        },
    ]

    @Test(arguments: obstacles)
    private func `a bundle that cannot be taken over does not hold up the others`(
        obstacle: Obstacle
    ) throws {
        let depot = try depot("spool/a.bundle", folder: "spool")
        let text = try String(contentsOfFile: depot.folder + "/manifest.yaml", encoding: .utf8)
        try depot.program.write(
            "other.yaml",
            text.replacing("name: trusted", with: "name: other")
        )
        try depot.make("spool/b.bundle", of: "other.yaml")
        try depot.signBundle("spool/b.bundle", by: Self.office)
        try obstacle.prepare(depot)
        let before = try? depot.contents(of: depot.folder + "/rollouts/trusted")
        let result = try apply(depot, "--from", "spool", "--key", "office.pub")
        #expect(result.status == obstacle.status, "\(result.errors)")
        #expect(result.lastLine == "applied=1 refused=1 exit=\(obstacle.status)")
        let left = try FileManager.default.subpathsOfDirectory(atPath: depot.folder + "/spool")
        #expect(
            left.sorted() == [
                "applied", "applied/b.bundle", "applied/b.bundle.minisig", "refused",
                "refused/a.bundle", "refused/a.bundle.minisig", "refused/a.bundle.reason",
            ]
        )
        let reason = try String(
            contentsOfFile: depot.folder + "/spool/refused/a.bundle.reason",
            encoding: .utf8
        )
        #expect(reason.contains(obstacle.reason), "\(reason)")
        #expect(isThere(depot.folder + "/rollouts/other/other.yaml"))
        #expect((try? depot.contents(of: depot.folder + "/rollouts/trusted")) == before)
    }

    private func depot(_ name: String, folder: String) throws -> SignedDepot {
        let depot = try SignedDepot()
        try depot.sign()
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/" + folder,
            withIntermediateDirectories: false
        )
        try depot.make(name)
        try depot.signBundle(name, by: Self.office)
        return depot
    }

    @Test func `of several keys so many must have signed`() throws {
        let depot = try depot()
        let (second, third) = (MinisignSigner(21), MinisignSigner(22))
        try depot.program.write("second.pub", second.publicText)
        try depot.program.write("third.pub", third.publicText)
        let keys = ["--key", "office.pub", "--key", "second.pub", "--key", "third.pub"]
        func verify(_ threshold: String...) throws -> Program.Result {
            try depot.program.run(
                ["bundle", "verify", "tallinn.bundle", "--state", depot.program.state] + keys
                    + threshold
            )
        }
        let one = try verify("--threshold", "2")
        #expect(one.status == 77)
        #expect(one.errors.contains("signed by 1 of 3 keys, 2 must sign"), "\(one.errors)")
        let bytes = try Data(contentsOf: URL(filePath: depot.folder + "/tallinn.bundle"))
        let id = second.id.reversed().map { String($0, radix: 16, uppercase: true) }
            .map { $0.count == 1 ? "0" + $0 : $0 }.joined()
        try depot.program.write(
            "tallinn.bundle.\(id).minisig",
            Data(second.sign(Array(bytes)))
        )
        #expect(try verify("--threshold", "2").status == 0)
        #expect(try verify().status == 77)
        #expect(try verify("--threshold", "4").status == 64)
        // One key that is given twice counts as one signer.
        let twice = try depot.program.run([
            "bundle", "verify", "tallinn.bundle", "--state", depot.program.state, "--key",
            "office.pub", "--key", "office.pub", "--threshold", "2",
        ])
        #expect(twice.status == 64)
    }

    @Test func `the units of a watched folder are printed`() throws {
        let depot = try depot()
        let result = try depot.program.run([
            "systemd", "print", "--watch", "/srv/my bundles", "--target-dir", "/srv/rollouts",
            "--key", "office.pub", "--program", "/usr/bin/yardmaster",
        ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("PathExistsGlob=/srv/my bundles/*.bundle\n"))
        #expect(
            result.output.contains(
                "ExecStart=/usr/bin/yardmaster bundle apply --from \"/srv/my bundles\" "
                    + "--target-dir /srv/rollouts --key \(depot.folder)/office.pub\n"
            ),
            "\(result.output)"
        )
        #expect(result.output.contains("\nOnFailure=yardmaster-failure@%n.service\n"))
        let none = try depot.program.run(["systemd", "print", "--watch", "/srv/bundles"])
        #expect(none.status == 64)
    }
}
