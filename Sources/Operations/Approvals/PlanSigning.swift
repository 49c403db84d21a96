package import Base
package import Commands
import Glibc
import Images

/// The signing of a saved plan, by the program that has the key.
///
/// No secret key comes into this process.
package struct PlanSigning {
    /// What a person and a program get of a signature.
    package struct Answer {
        package let text: String
        package let document: JSONValue
    }

    private static let patience = Duration.seconds(600)
    /// The most bytes of a key, and of a signature.
    private static let limit = 1 << 16

    private let file: String
    private let key: String
    private let text: String
    private let plan: JSONValue

    package init(_ invocation: Invocation) throws(CommandError) {
        guard let key = invocation[Command.signingKey] else {
            throw CommandError(
                .usage,
                "no key is given to sign with",
                hint: "name one with --key, such as ~/.ssh/id_ed25519"
            )
        }
        (file, self.key) = (invocation.arguments[0], key)
        guard let saved = try SignedPlan(file: file),
            let plan = SignedPlan.document(saved.text)
        else { throw SignedPlan.notAPlan(file) }
        (text, self.plan) = (saved.text, plan)
    }

    /// What is signed, in a few lines.
    package var summary: String {
        let name = plan["name"]?.string ?? ""
        var lines = ["rollout \(name)"]
        if let fleet = plan["fleet"]?.string { lines.append("of the fleet \(fleet)") }
        let vehicles = (plan["vehicles"]?.array ?? []).compactMap { $0.array?.first?.string }
        let first = vehicles.prefix(5).joined(separator: ", ")
        lines.append(
            "\(vehicles.count) vehicle\(vehicles.count == 1 ? "" : "s"): \(first)"
                + (vehicles.count > 5 ? ", …" : "")
        )
        for image in plan["images"]?.array ?? [] {
            let words = ["name", "version", "sha256"].map { image[$0]?.string ?? "" }
            lines.append("image \(words[0]): version \(words[1]), SHA-256 \(words[2])")
        }
        for (index, steps) in (plan["steps"]?.array ?? []).enumerated() {
            lines.append(
                "steps \(index + 1): \((steps.array ?? []).map(\.text).joined(separator: " "))"
            )
        }
        for program in plan["programs"]?.array ?? [] {
            let words = (program["words"]?.array ?? []).compactMap { $0.string?.quotedForShell }
            lines.append(
                "starts \(program["purpose"]?.string ?? ""): \(words.joined(separator: " "))"
            )
        }
        return lines.map { $0.visible + "\n" }.joined()
    }

    /// Writes the signature beside the plan.
    package func sign() throws(CommandError) -> Answer {
        let isOfMinisign: Bool
        do throws(FileError) {
            isOfMinisign = try TextFile.read(path: key, limit: Self.limit)
                .starts(with: "untrusted comment:".utf8)
        } catch { throw CommandError(.inputMissing, error.description) }
        let signed = isOfMinisign ? try byMinisign() : try byOpenSSH()
        let signature: PlanSignature
        do throws(PlanSignature.Fault) { signature = try PlanSignature(signed) } catch {
            throw CommandError(.unavailable, "what was made is no signature", because: ["\(error)"])
        }
        let (signer, path): (String, String)
        switch signature {
        case .ssh(let signature):
            guard signature.verifies(Array(text.utf8)) else {
                throw CommandError(.trust, "the signature is not over \(file.visible)")
            }
            let mark = SHA256.digest(of: signature.key.blob).description.prefix(12)
            (signer, path) = ("\(signature.key)", "\(file).\(mark).sig")
        case .minisign(let signature):
            (signer, path) = ("minisign \(signature.keyID)", "\(file).\(signature.keyID).minisig")
        }
        if let code = Draft.write(signed, to: path, mode: 0o644) {
            throw CommandError(
                .cannotCreate,
                "\(path.visible) cannot be written",
                because: [Descriptor.text(of: code)]
            )
        }
        return Answer(
            text: "signed by \(signer): \(path.visible)\n",
            document: .object([
                "schema": 1,
                "rollout": plan["name"],
                "key": .string(signer),
                "signature": .string(path),
                "exit": ExitCode.done.json,
            ])
        )
    }

    private func byOpenSSH() throws(CommandError) -> [UInt8] {
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else {
            throw CommandError(.inputMissing, "\(file.visible) cannot be read")
        }
        defer { close(input) }
        return try output(
            of: ["ssh-keygen", "-Y", "sign", "-f", key, "-n", SSHSignature.namespace],
            [(STDIN_FILENO, .descriptor(input))],
            package: "openssh-client"
        )
    }

    /// minisign writes only files.
    private func byMinisign() throws(CommandError) -> [UInt8] {
        let place = "\(file).\(getpid()).new"
        defer { unlink(place) }
        _ = try output(
            of: ["minisign", "-S", "-s", key, "-m", file, "-x", place],
            [],
            package: "minisign"
        )
        do throws(FileError) { return try TextFile.read(path: place, limit: Self.limit) } catch {
            throw CommandError(.unavailable, error.description)
        }
    }

    /// Waits for a program that may ask the person for a passphrase, or to touch the hardware.
    private func output(
        of words: [String],
        _ streams: [(CInt, ChildProgram.Stream)],
        package name: String
    ) throws(CommandError) -> [UInt8] {
        let environment =
            ChildProgram.plainEnvironment
            + ["SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "TERM"].compactMap {
                (name: String) in getenv(name).map { "\(name)=\(String(cString: $0))" }
            }
        let failed = CommandError(
            .unavailable,
            "\(words[0]) has not signed the plan",
            hint: "it must be installed: apt-get install \(name)"
        )
        guard case .success(let ends) = ChildProgram.pipe() else { throw failed }
        defer { close(ends.out) }
        let started = ChildProgram.spawn(
            words,
            streams + [(STDOUT_FILENO, .descriptor(ends.into))],
            environment: environment,
            asksPerson: true
        )
        close(ends.into)
        guard case .success(let process) = started else { throw failed }
        let bytes = ChildProgram.read(
            ends.out,
            most: Self.limit,
            until: RealTime().now.advanced(by: Self.patience)
        )
        if bytes == nil { kill(process, SIGTERM) }
        guard ChildProgram.reap(process) == 0, let bytes else { throw failed }
        return bytes
    }
}
