import Base
import Foundation
import Signers
import Testing

/// Two bikes whose plan some of three people must approve, in a simulated depot.
struct ApprovalYard {
    let program: Program
    static let anna = MinisignSigner(1)
    static let bo = MinisignSigner(2)
    static let carl = MinisignSigner(3)

    /// The policy is obeyed by rehearsals because of a variable.
    init(
        need: Int = 2,
        more: String = "",
        until: String = "",
        rollout: String = "{waves: [1, rest]}"
    ) throws {
        program = try Program.steered(2, rollout: rollout)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: program.folder.path
        )
        try policy(need: need, more: more, until: until)
    }

    func policy(need: Int, more: String = "", until: String = "") throws {
        try program.write(
            "approvals.yaml",
            """
            keys:
              anna: {key: "\(Self.anna.publicLine)"}
              bo: {key: "\(Self.bo.publicLine)"\(until)}
              carl: {key: "\(Self.carl.publicLine)"}
            rollouts:
            \(more)
              - {name: "*", need: \(need), of: [anna, bo, carl]}

            """,
            mode: 0o644
        )
    }

    var environment: [String: String] {
        ["YARDMASTER_APPROVALS": program.folder.path + "/approvals.yaml"]
    }

    func run(_ more: String...) throws -> Program.Result {
        try program.run(program.steeredRun + more, environment: environment)
    }

    /// Saves the plan where a run looks for it.
    func save() throws {
        let result = try program.run([
            "plan", "--save", "steered.yaml.plan", "steered.yaml", "--state", program.state,
        ])
        try #require(result.status == 0, "\(result.errors)")
    }

    var plan: [UInt8] {
        get throws {
            Array(try Data(contentsOf: URL(filePath: program.folder.path + "/steered.yaml.plan")))
        }
    }

    func sign(_ name: String, _ signer: MinisignSigner, _ bytes: [UInt8]? = nil) throws {
        try program.write(
            "steered.yaml.plan.\(name).minisig",
            Data(signer.sign(try bytes ?? plan))
        )
    }

    /// The file in which simulated modules keep what was done to them.
    var records: [String] {
        let files = try? FileManager.default.contentsOfDirectory(
            atPath: program.state + "/simulation"
        )
        return (files ?? []).filter { $0.hasSuffix(".memory") }
    }
}
