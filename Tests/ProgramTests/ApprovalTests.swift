import Base
import Commands
import Foundation
import Operations
import Signers
import Testing
import Workbench

/// Plans that people must approve before a run carries them out.
@Suite struct ApprovalTests {
    private typealias Yard = ApprovalYard

    @Test func `one of two people is not enough, and two of three are`() throws {
        let yard = try Yard()
        let none = try yard.run()
        #expect(none.status == 77, "\(none.errors)")
        #expect(none.errors.contains("the plan of steered is not approved: 0 of the 2 approvals"))
        try yard.save()
        let saved = try yard.run()
        #expect(saved.status == 77)
        for name in ["anna", "bo", "carl"] {
            #expect(
                saved.errors.contains("because \(name) has not approved it\n"),
                "\(saved.errors)"
            )
        }
        try yard.sign("first", Yard.bo)
        let one = try yard.run()
        #expect(one.status == 77, "\(one.errors)")
        #expect(
            one.errors.contains(
                "not approved: 1 of the 2 approvals that this machine asks for, by bo"
            )
        )
        #expect(one.errors.contains("because anna has not approved it\n"))
        #expect(!one.errors.contains("bo has not"))
        let document = try yard.run("--json").output
        #expect(
            document.contains(#""kind":"trust""#) && document.contains("carl has not approved it")
        )
        #expect(yard.records == [])
        try yard.sign("second", Yard.carl)
        let two = try yard.run()
        #expect(two.status == 0, "\(two.errors)")
        #expect(two.output.contains("\napproved by bo, carl\n"), "\(two.output)")
        #expect(yard.records != [])
    }

    @Test func `who has approved stands in every report`() throws {
        let yard = try Yard()
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", Yard.bo)
        let run = try yard.run("--report", "night.html", "--json")
        #expect(run.status == 0, "\(run.errors)")
        let names = #""approved-by":["anna","bo"]"#
        #expect(run.output.contains(names), "\(run.output)")
        let html = try String(
            contentsOfFile: yard.program.folder.path + "/night.html",
            encoding: .utf8
        )
        #expect(html.contains("approved by anna, bo"))
        for words in [
            ["status"], ["history", "show", "last"], ["status", "--report", "now.html"],
        ] {
            let told = try yard.program.run(words + ["--state", yard.program.state]).output
            #expect(told.contains("approved by anna, bo"), "\(words): \(told)")
            let document = try yard.program.run(words + ["--state", yard.program.state, "--json"])
            #expect(document.output.contains(names), "\(words): \(document.output)")
        }
        let now = try String(
            contentsOfFile: yard.program.folder.path + "/now.html",
            encoding: .utf8
        )
        #expect(now.contains("approved by anna, bo"))
    }

    @Test func `one key counts once, however often it has signed`() throws {
        let yard = try Yard()
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", Yard.anna)
        try yard.program.write(
            "steered.yaml.plan.minisig",
            Data(Yard.anna.sign(try yard.plan, prehashed: false))
        )
        let result = try yard.run()
        #expect(result.status == 77)
        #expect(result.errors.contains("not approved: 1 of the 2"))
    }

    @Test func `a key that is over and one that the policy does not name count for nothing`() throws
    {
        let yard = try Yard(until: ", until: 2020-01-31")
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", Yard.bo)
        try yard.sign("d", MinisignSigner(4))
        let result = try yard.run()
        #expect(result.status == 77)
        #expect(
            result.errors.contains("bo has approved it, with a key that was valid until 2020-01-31")
        )
        #expect(
            result.errors.contains("steered.yaml.plan.d.minisig is by nobody whom the policy names")
        )
        #expect(yard.records == [])
        try yard.policy(need: 2, until: ", until: 2999-12-31")
        #expect(try yard.run().status == 0)
    }

    @Test func `a forged signature and one that is cut off are named`() throws {
        let yard = try Yard()
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", MinisignSigner(9, id: Yard.bo.id))
        try yard.program.write("steered.yaml.plan.c.sig", "-----BEGIN SSH SIGNATURE-----\nAA")
        let result = try yard.run()
        #expect(result.status == 77)
        #expect(result.errors.contains("bo has approved something else"), "\(result.errors)")
        #expect(
            result.errors.contains("c.sig: it is not enclosed in the lines of an SSH signature")
        )
    }

    @Test func `a signature for another rollout is none for this one`() throws {
        let yard = try Yard()
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", Yard.bo)
        let manifest = Program.steeredManifest("{waves: [1, rest]}")
        try yard.program.write(
            "steered.yaml",
            manifest.replacingOccurrences(of: "name: steered", with: "name: other")
        )
        let result = try yard.run()
        #expect(result.status == 77)
        #expect(
            result.errors.contains("because name other was approved as steered\n"),
            "\(result.errors)"
        )
        #expect(
            result.errors.contains("it is not the plan in steered.yaml.plan, approved by anna, bo")
        )
        #expect(yard.records == [])
    }

    @Test func `the first rule that fits a rollout's name counts`() throws {
        let yard = try Yard(more: "  - {name: \"ste*\", need: 1, of: [carl]}")
        try yard.save()
        try yard.sign("a", Yard.anna)
        #expect(try yard.run().status == 77)
        try yard.sign("c", Yard.carl)
        #expect(try yard.run().status == 0)
        let free = try Yard(more: "  - {name: \"steered\", need: 0}")
        #expect(try free.run().status == 0)
    }

    @Test func `a rollout goes on as it was approved when its files are edited`() throws {
        let yard = try Yard(rollout: "{waves: [1, rest], between-waves: {ask: true}}")
        try yard.save()
        try yard.sign("a", Yard.anna)
        try yard.sign("b", Yard.bo)
        let first = try yard.run()
        #expect(first.status == 12, "\(first.errors)")
        #expect(try yard.program.run(["resume", "--state", yard.program.state]).status == 0)
        try yard.program.write("steered.yaml", Program.steeredManifest("{waves: [rest]}"))
        for name in ["", ".a.minisig", ".b.minisig"] {
            try FileManager.default.removeItem(
                atPath: yard.program.folder.path + "/steered.yaml.plan" + name
            )
        }
        let second = try yard.run()
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.contains("approved by anna, bo"))
        // A new beginning is by the files as they are now, which nobody has approved.
        let again = try yard.run("--again")
        #expect(again.status == 77)
        #expect(again.errors.contains("waves"), "\(again.errors)")
    }

    @Test func `an order is approved like a rollout, and emergency verbs need no approval`() throws
    {
        let yard = try Yard(need: 1)
        let line = [
            "exec", "--manifest", "steered.yaml", "--simulate", "depot.yaml", "--state",
            yard.program.state, "v1", "set lights=enabled",
        ]
        func exec(_ more: String...) throws -> Program.Result {
            try yard.program.run(line + more, environment: yard.environment)
        }
        #expect(try exec().status == 77)
        #expect(yard.records == [])
        #expect(try exec("--save", "order.plan").status == 0)
        #expect(yard.records == [])
        #expect(try exec("--approved", "order.plan").status == 77)
        let bytes = Array(
            try Data(contentsOf: URL(filePath: yard.program.folder.path + "/order.plan"))
        )
        try yard.program.write("order.plan.a.minisig", Data(Yard.anna.sign(bytes)))
        let done = try exec("--approved", "order.plan")
        #expect(done.status == 0, "\(done.errors)")
        let other = try yard.program.run(
            line.dropLast() + ["set lights=disabled", "--approved", "order.plan"],
            environment: yard.environment
        )
        #expect(other.status == 77)
        #expect(
            other.errors.contains("v1: step 1: set 1 2 disabled was approved as enabled"),
            "\(other.errors)"
        )
        for words in [["inhibit", "v1", "--reason", "smoke"], ["uninhibit", "v1"]] {
            let said = try yard.program.run(
                words + ["--state", yard.program.state],
                environment: yard.environment
            )
            #expect(said.status == 0, "\(said.errors)")
        }
    }

    @Test func `update shows its proposal, saves it, and does it when it is approved`() throws {
        let yard = try Yard(need: 1)
        let (program, environment) = (yard.program, yard.environment)
        try program.write(
            "lamps.yaml",
            """
            name: lamps
            seed: 7
            modules:
              - {serial: lamp-0001, family: nordic, version: "4.1.0"}
              - {serial: lamp-0002, family: nordic, version: "4.1.0"}
            """
        )
        let image = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip")
        func update(_ more: String...) throws -> Program.Result {
            let words = ["update", image.path(percentEncoded: false), "--simulate", "lamps.yaml"]
            return try program.run(
                words + ["--state", program.state, "--serial", "lamp-0001"] + more,
                environment: environment
            )
        }
        let refused = try update("--yes")
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.output.contains("lamp-0001, nordic"), "\(refused.output)")
        #expect(refused.output.contains("4.1.0 → 4.12.0"), "\(refused.output)")
        #expect(refused.errors.contains("because anna has not approved it\n"))
        #expect(refused.errors.contains("the same command with --save FILE writes this plan"))
        let saved = try update("--save", "lamp.plan")
        #expect(saved.status == 0, "\(saved.errors)")
        #expect(saved.output.contains("'yardmaster approve --key KEY lamp.plan' signs it"))
        #expect(try update("--yes", "--approved", "lamp.plan").status == 77)
        let plan = URL(filePath: program.folder.path + "/lamp.plan")
        try program.write(
            "lamp.plan.a.minisig",
            Data(Yard.anna.sign(Array(try Data(contentsOf: plan))))
        )
        let other = try update("--yes", "--approved", "lamp.plan", "--serial", "lamp-0002")
        #expect(other.status == 77, "\(other.errors)")
        #expect(other.errors.contains("was not approved as a vehicle of it"), "\(other.errors)")
        let done = try update("--yes", "--approved", "lamp.plan")
        #expect(done.status == 0 && done.lastLine.contains(" ok=1 "), "\(done.errors)")
        #expect(done.output.contains("\napproved by anna\n"), "\(done.output)")
    }

    @Test func `a rollback is approved like a rollout`() throws {
        let yard = try Yard(need: 1)
        let program = yard.program
        // Without a policy, as nobody has to approve what happens before it.
        #expect(try program.run(program.steeredRun).status == 0)
        let image = try OldCity.write(in: program)
        func rollback(_ more: String...) throws -> Program.Result {
            try program.run(
                [
                    "rollback", "--simulate", "depot.yaml", "--state", program.state, "--image",
                    image,
                ]
                    + more + ["steered"],
                environment: yard.environment
            )
        }
        let refused = try rollback("--yes")
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.output.contains("2 vehicles go back; with that steered is recalled"))
        #expect(refused.errors.contains("--save FILE writes this plan"), "\(refused.errors)")
        let status = ["status", "--state", program.state]
        #expect(!(try program.run(status).output.contains("recalled")))
        let saved = try rollback("--save", "back.plan")
        #expect(saved.status == 0, "\(saved.errors)")
        let plan = URL(filePath: program.folder.path + "/back.plan")
        try program.write(
            "back.plan.a.minisig",
            Data(Yard.anna.sign(Array(try Data(contentsOf: plan))))
        )
        let done = try rollback("--yes", "--approved", "back.plan")
        #expect(done.status == 0 && done.lastLine.contains(" ok=2 "), "\(done.errors)")
        #expect(done.output.contains("\napproved by anna\n"), "\(done.output)")
    }

    @Test func `a rehearsal that names no policy needs no approval`() throws {
        let yard = try Yard()
        #expect(try yard.program.run(yard.program.steeredRun).status == 0)
    }

    @Test(.enabled(if: Tool.isInstalled("ssh-keygen"), "ssh-keygen is not installed"))
    func `approve signs with ssh-keygen, and plain ssh-keygen signs the same`() throws {
        let yard = try Yard(need: 2)
        let folder = yard.program.folder.path
        let keygen = try #require(Tool("ssh-keygen"))
        var lines: [String] = []
        for (name, type) in [("one", "ed25519"), ("two", "ecdsa")] {
            let made = try keygen.run(["-q", "-t", type, "-N", "", "-f", "\(folder)/\(name)"])
            try #require(made.status == 0, "\(made.errors)")
            let line = try String(contentsOfFile: "\(folder)/\(name).pub", encoding: .utf8)
            lines.append("  \(name): {key: \"\(line.trimmingCharacters(in: .newlines))\"}\n")
        }
        try yard.program.write(
            "approvals.yaml",
            "keys:\n\(lines.joined())rollouts: [{name: steered, need: 2}]\n",
            mode: 0o644
        )
        try yard.save()
        let signed = try yard.program.run(["approve", "--key", "one", "steered.yaml.plan"])
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(
            signed.errors.contains(
                "rollout steered\n2 vehicles: v1, v2\nimage: name city, sha256 "
            )
        )
        #expect(
            try yard.run().errors.contains(
                "1 of the 2 approvals that this machine asks for, by one"
            )
        )
        let plain = try keygen.run([
            "-Y", "sign", "-f", folder + "/two", "-n", "yardmaster-plan",
            folder + "/steered.yaml.plan",
        ])
        #expect(plain.status == 0, "\(plain.errors)")
        let result = try yard.run()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("\napproved by one, two\n"))
        // The other way round: ssh-keygen accepts what `approve` has made.
        try yard.program.write(
            "signers",
            "me \(String(contentsOfFile: folder + "/one.pub", encoding: .utf8))"
        )
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let own = try #require(
            names.first { $0.hasSuffix(".sig") && $0 != "steered.yaml.plan.sig" }
        )
        let verified = try keygen.run(
            [
                "-Y", "verify", "-f", folder + "/signers", "-I", "me", "-n", "yardmaster-plan",
                "-s",
                folder + "/" + own,
            ],
            input: String(decoding: try yard.plan, as: UTF8.self)
        )
        #expect(verified.status == 0, "\(verified.errors)")
        let missing = try yard.program.run(["approve", "--key", "three", "steered.yaml.plan"])
        #expect(missing.status == 66)
        let manifest = try yard.program.run(["approve", "--key", "one", "steered.yaml"])
        #expect(manifest.status == 66 && manifest.errors.contains("is no plan that was saved"))
    }

    // MARK: The policy's file

    @Test(arguments: [
        ("keys: {}\nrollouts: [{name: \"*\", need: 1}]", "1 of 0 keys can never approve"),
        ("keys: {anna: {key: RWQ}}\nrollouts: []", "the key of anna cannot sign plans"),
        ("keys: {anna: {key: RWQ, until: soon}}\nrollouts: []", "'soon' is no day"),
        (
            "keys: {}\nrollouts: [{name: \"*\", need: 0, of: [dora]}]",
            "'dora' is not among the keys"
        ),
        ("keys: {}\nrules: []", "rules"), ("[]", "policy of approvals"),
        ("keys: {", "this is not YAML"),
    ])
    func `a policy that makes no sense lets nothing run`(text: String, words: String) throws {
        let yard = try Yard()
        try yard.program.write("approvals.yaml", text, mode: 0o644)
        let result = try yard.run()
        #expect(result.status == 78, "\(result.errors)")
        #expect(
            result.errors.contains(words)
                || result.errors.contains(words.replacing("'", with: "`")),
            "\(result.errors)"
        )
        #expect(yard.records == [])
    }

    @Test func `two names for one key are a mistake`() throws {
        let yard = try Yard()
        let line = Yard.anna.publicLine
        try yard.program.write(
            "approvals.yaml",
            "keys: {anna: {key: \"\(line)\"}, bo: {key: \"\(line)\"}}\nrollouts: [{name: \"*\", need: 2}]",
            mode: 0o644
        )
        let result = try yard.run()
        #expect(result.status == 78 && result.errors.contains("bo and anna have the same key"))
    }

    @Test func `a policy that somebody else could have written is not obeyed`() throws {
        let yard = try Yard()
        let path = yard.program.folder.path + "/approvals.yaml"
        for mode in [0o664, 0o646, 0o666] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let result = try yard.run()
            #expect(result.status == 78, "\(result.errors)")
            #expect(result.errors.contains("approvals.yaml can be written by other users"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        // It belongs to this user, who is none of these.
        #expect(throws: CommandError.self) {
            try ApprovalPolicyFile.read(path, owners: [geteuid() + 1])
        }
        #expect(try ApprovalPolicyFile.read(path, owners: [geteuid()]) != nil)
        // A folder of others: they could exchange the file.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777],
            ofItemAtPath: yard.program.folder.path
        )
        #expect(try yard.run().status == 78)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: yard.program.folder.path
        )
        try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
        try FileManager.default.createSymbolicLink(
            atPath: path,
            withDestinationPath: path + ".real"
        )
        let link = try yard.run()
        #expect(link.status == 78 && link.errors.contains("approvals.yaml is a link"))
        try FileManager.default.removeItem(atPath: path)
        #expect(try yard.run().status == 66)
        #expect(try ApprovalPolicyFile.read(path, owners: [geteuid()]) == nil)
        #expect(yard.records == [])
    }
}
