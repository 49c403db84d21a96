package import Base
package import Commands
import Glibc
import Images
import Manifest

/// The signing of a saved plan, by the program that has the key.
///
/// No secret key comes into this process.
package struct PlanSigning {
    /// What a person and a program get of a signature.
    package struct Answer {
        package let text: String
        package let document: JSONValue
    }

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
        (text, plan) = try SignedPlan.read(file)
    }

    /// What is signed, in a few lines.
    package var summary: String {
        let vehicles = (plan["vehicles"]?.array ?? []).compactMap { $0.array?.first?.string }
        var lines = ["rollout \(plan["name"]?.string ?? "")"]
        if let fleet = plan["fleet"]?.string { lines.append("of the fleet \(fleet)") }
        let more = vehicles.count > 5 ? ", …" : ""
        lines.append(
            "\(counted(vehicles.count, "vehicle")): "
                + vehicles.prefix(5).joined(separator: ", ") + more
        )
        for (name, list) in [("image", "images"), ("steps", "steps"), ("starts", "programs")] {
            lines += (plan[list]?.array ?? []).map { "\(name): \(PlanDifference.words($0))" }
        }
        for (name, part) in [("always", "always"), ("by the rules", "rollout")] {
            let words = plan[part].map { PlanDifference.words($0) } ?? ""
            if !words.isEmpty { lines.append("\(name): \(words)") }
        }
        return lines.map { $0.visible + "\n" }.joined()
    }

    /// Writes the signature beside the plan.
    package func sign() throws(CommandError) -> Answer {
        let draft = "\(file).\(getpid()).new"
        defer { try? FilePlace(draft).remove() }
        let signed: [UInt8]
        let signature: PlanSignature
        do {
            let isOfMinisign = try TextFile.read(path: key, limit: Self.limit)
                .starts(with: "untrusted comment:".utf8)
            try run(isOfMinisign, into: draft)
            signed = try TextFile.read(path: draft, limit: Self.limit)
            signature = try PlanSignature(signed)
        } catch let error as CommandError { throw error } catch let fault as PlanSignature.Fault {
            throw CommandError(.unavailable, "no signature was made", because: [fault.words])
        } catch { throw CommandError(.inputMissing, "\(error)") }
        let mark = SHA256.digest(of: Array(signature.signer.utf8)).description.prefix(12)
        var path = "\(file).\(mark).minisig"
        if case .ssh(let signature) = signature {
            path = "\(file).\(mark).sig"
            guard signature.verifies(Array(text.utf8)) else {
                throw CommandError(.trust, "the signature is not over \(file.visible)")
            }
        }
        let sentence = "\(path.visible) was not made"
        try Draft.demand(signed, to: path, mode: 0o644, .cannotCreate, sentence)
        return Answer(
            text: "signed by \(signature.signer): \(path.visible)\n",
            document: .object([
                "schema": 1, "rollout": plan["name"], "key": .string(signature.signer),
                "signature": .string(path), "exit": ExitCode.done.json,
            ])
        )
    }

    /// Runs the program that has the key; it may ask for a passphrase, or to touch the hardware.
    private func run(_ isOfMinisign: Bool, into draft: String) throws(CommandError) {
        let words =
            isOfMinisign
            ? ["minisign", "-S", "-s", key, "-m", file, "-x", draft]
            : ["ssh-keygen", "-Y", "sign", "-f", key, "-n", SSHSignature.namespace]
        let failed = CommandError(
            .unavailable,
            "\(words[0]) has not signed the plan",
            hint:
                "it must be installed: apt-get install \(isOfMinisign ? "minisign" : "openssh-client")"
        )
        let input = open(file, O_RDONLY | O_CLOEXEC)
        defer { if input >= 0 { close(input) } }
        // minisign writes only files.
        let output = isOfMinisign ? nil : try? Draft.begin(for: draft, mode: 0o644).get()
        guard input >= 0, isOfMinisign || output != nil else { throw failed }
        let streams: [(CInt, ChildProgram.Stream)]? = output.map {
            [(STDIN_FILENO, .descriptor(input)), (STDOUT_FILENO, .descriptor($0.descriptor))]
        }
        let variables = ["SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "TERM"]
        let started = ChildProgram.spawn(
            words,
            streams ?? [],
            environment: ChildProgram.plainEnvironment
                + variables.compactMap { name in
                    getenv(name).map { "\(name)=\(String(cString: $0))" }
                },
            asksPerson: true
        )
        guard case .success(let process) = started, ChildProgram.reap(process) == 0,
            output.map({ $0.publish() == nil }) ?? true
        else { throw failed }
    }
}
