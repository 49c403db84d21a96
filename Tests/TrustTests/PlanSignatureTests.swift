import Base
import Images
import Signers
import Testing
import Workbench

/// Signatures of OpenSSH and of minisign over plans.
@Suite struct PlanSignatureTests {
    private static let plan = Array("{\n\"form\":\"yardmaster-plan-1\"\n}\n".utf8)
    private static let isThere = Tool.isInstalled("ssh-keygen")

    /// A key that ssh-keygen has made, and what it signs with it.
    private struct Person {
        let folder: Workbench.Scratch
        let key: SSHKey
        var file: String { folder.path + "/key" }

        init(_ type: String, bits: String? = nil) throws {
            folder = try Workbench.Scratch()
            var words = ["-q", "-t", type, "-N", "", "-C", "a person", "-f", folder.path + "/key"]
            if let bits { words += ["-b", bits] }
            let made = try #require(Tool("ssh-keygen")).run(words)
            try #require(made.status == 0, "\(made.errors)")
            let line = String(
                decoding: try Workbench.contents(folder.path + "/key.pub"),
                as: UTF8.self
            )
            key = try #require(SSHKey(line: line.prefix { $0 != "\n" }))
        }

        func sign(_ bytes: [UInt8], _ namespace: String = "yardmaster-plan") throws -> [UInt8] {
            let result = try #require(Tool("ssh-keygen")).run(
                ["-Y", "sign", "-f", file, "-n", namespace],
                input: String(decoding: bytes, as: UTF8.self)
            )
            try #require(result.status == 0, "\(result.errors)")
            return Array(result.output.utf8)
        }
    }

    @Test(
        .enabled(if: isThere, "ssh-keygen is not installed"),
        arguments: [
            ("ed25519", nil), ("ecdsa", "256"), ("ecdsa", "384"), ("ecdsa", "521"), ("rsa", "2048"),
            ("rsa", "3072"),
        ]
    )
    func `what ssh-keygen signs holds, and nothing that differs from it`(
        type: String,
        bits: String?
    ) throws {
        let person = try Person(type, bits: bits)
        let text = try person.sign(Self.plan)
        let signature = try SSHSignature(text)
        #expect(signature.key == person.key)
        #expect(signature.verifies(Self.plan))
        var other = Self.plan
        other[3] ^= 1
        #expect(!signature.verifies(other))
        #expect(!signature.verifies([]))
        let key = ApproverKey.ssh(person.key)
        let found = try PlanSignature(text)
        #expect(key.isNamed(by: found) && key.signed(Self.plan, with: found))
        let stranger = ApproverKey.ssh(try Person(type, bits: bits).key)
        #expect(!stranger.isNamed(by: found) && !stranger.signed(Self.plan, with: found))
        // ssh-keygen names the key as we do.
        let shown = try #require(Tool("ssh-keygen")).run(["-l", "-f", person.file + ".pub"])
        #expect(shown.output.contains(" \(person.key) "), "\(shown.output)")
    }

    @Test(.enabled(if: isThere, "ssh-keygen is not installed"))
    func `no byte of a signature can be changed`() throws {
        let person = try Person("ed25519")
        let lines = String(decoding: try person.sign(Self.plan), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let blob = try #require(Base64.bytes(Array(lines.dropFirst().dropLast().joined().utf8)))
        var held: [Int] = []
        for index in blob.indices {
            var changed = blob
            changed[index] ^= 0x01
            let text = [lines[0], Base64.text(changed), lines[lines.count - 1]]
            guard let found = try? SSHSignature(Array(text.joined(separator: "\n").utf8)),
                found.key == person.key, found.verifies(Self.plan)
            else { continue }
            held.append(index)
        }
        // Only the length of the reserved part would be free, and it must fit the rest.
        #expect(held == [])
        #expect(throws: SSHSignatureFault.malformed) {
            let text = [lines[0], Base64.text(blob + [0]), lines[lines.count - 1]]
            _ = try SSHSignature(Array(text.joined(separator: "\n").utf8))
        }
    }

    @Test(.enabled(if: isThere, "ssh-keygen is not installed"))
    func `a signature for another purpose is refused`() throws {
        let person = try Person("ed25519")
        let text = try person.sign(Self.plan, "git")
        #expect(throws: SSHSignatureFault.otherNamespace("git")) { try SSHSignature(text) }
    }

    @Test(.enabled(if: isThere, "ssh-keygen is not installed"))
    func `an RSA key that is too short cannot sign plans`() throws {
        let folder = try Workbench.Scratch()
        let made = try #require(Tool("ssh-keygen")).run([
            "-q", "-t", "rsa", "-b", "1024", "-N", "", "-f", folder.path + "/key",
        ])
        try #require(made.status == 0, "\(made.errors)")
        let line = String(decoding: try Workbench.contents(folder.path + "/key.pub"), as: UTF8.self)
        #expect(SSHKey(line: line.prefix { $0 != "\n" }) == nil)
    }

    /// A string of SSH.
    private func string(_ bytes: [UInt8]) -> [UInt8] { UInt32(bytes.count).bigBytes + bytes }

    private func armoured(_ blob: [UInt8]) -> [UInt8] {
        Array(
            "-----BEGIN SSH SIGNATURE-----\n\(Base64.text(blob))\n-----END SSH SIGNATURE-----\n"
                .utf8
        )
    }

    /// The signature of a key in hardware; bit 0 of `flags` means that somebody touched it.
    private func inHardware(_ signer: SigningKey, flags: UInt8) -> [UInt8] {
        let type = Array("sk-ssh-ed25519@openssh.com".utf8)
        let application = Array("ssh:".utf8)
        let head = Array("SSHSIG".utf8)
        let parts =
            string(Array("yardmaster-plan".utf8)) + string([]) + string(Array("sha512".utf8))
        let message =
            head + parts + string(LongDigest.sha512.digest(of: Self.plan))
        let rest = [flags] + UInt32(7).bigBytes
        let signed =
            SHA256.digest(of: application).bytes + rest + SHA256.digest(of: message).bytes
        let key = string(type) + string(signer.publicBytes) + string(application)
        let value = string(type) + string(signer.sign(signed)) + rest
        return armoured(head + UInt32(1).bigBytes + string(key) + parts + string(value))
    }

    @Test func `a key in hardware signs when it is touched`() throws {
        let signer = SigningKey(7)
        let touched = try SSHSignature(inHardware(signer, flags: 1))
        #expect(touched.verifies(Self.plan))
        #expect(!touched.verifies([]))
        #expect(try !SSHSignature(inHardware(signer, flags: 0)).verifies(Self.plan))
        #expect(touched.key.type == "sk-ssh-ed25519@openssh.com")
    }

    @Test func `one key in the two forms is one key`() throws {
        let signer = MinisignSigner(3)
        let blob = string(Array("ssh-ed25519".utf8)) + string(signer.key.publicBytes)
        let ssh = try #require(ApproverKey("ssh-ed25519 \(Base64.text(blob)) a comment"))
        let minisign = try #require(ApproverKey(signer.publicLine))
        #expect(ssh.identity == minisign.identity)
    }

    @Test(arguments: [true, false])
    func `what minisign signs holds, by its key only`(prehashed: Bool) throws {
        let (signer, other) = (MinisignSigner(1), MinisignSigner(2))
        let key = try #require(ApproverKey(signer.publicLine))
        let stranger = try #require(ApproverKey(other.publicLine))
        let found = try PlanSignature(signer.sign(Self.plan, prehashed: prehashed))
        #expect(key.isNamed(by: found) && key.signed(Self.plan, with: found))
        #expect(!key.signed(Self.plan + [0x0A], with: found))
        #expect(!stranger.isNamed(by: found) && !stranger.signed(Self.plan, with: found))
        // With the id of the known key, and another key.
        let posing = MinisignSigner(2, id: signer.id)
        let forged = try PlanSignature(posing.sign(Self.plan, prehashed: prehashed))
        #expect(key.isNamed(by: forged) && !key.signed(Self.plan, with: forged))
    }

    @Test(arguments: [
        "", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-dss AAAAB3NzaC1kc3M=", "RWQ", "ssh-rsa AAAA x",
    ])
    func `what is no key is refused`(line: String) {
        #expect(ApproverKey(line) == nil)
    }
}
