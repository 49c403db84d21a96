import Base
import Commands
import Images
import Manifest
import Operations

/// `bundle verify`: whether this depot accepts a bundle.
struct BundleVerifyCommand {
    let path: String
    let state: String
    let target: String?
    let common: CommonOptions
    let context: Context
    private let demand: BundleSigners
    private let older: OlderBundle?

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        path = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context)
        demand = try BundleSigners(invocation)
        older = try OlderBundle.wish(invocation)
        target = invocation[Command.targetDirectory]
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let bundle = try BundleFile(path, signedBy: demand.demand)
        do throws(BundleFault) {
            try bundle.checkAll()
        } catch { throw BundleFile.refusal(path, error) }
        let contents = try BundlePlan(bundle) { Inputs.tell($0, context) }
        let takeover = BundleTakeover(
            bundle: bundle,
            contents: contents,
            state: state,
            older: older
        )
        let verdicts = try await takeover.judge()
        if let target { try await takeover.perform(into: target) }
        context.answer(common, document(contents.plan, verdicts), text(contents.plan, verdicts))
        return .done
    }

    // MARK: Output

    private func text(_ plan: FrozenPlan, _ verdicts: [TrustVerdict]) -> String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        for verdict in verdicts {
            lines.append("image \(verdict.image): trusted by \(verdict.words)")
        }
        lines += plan.programs.map { "starts \($0.purpose.visible): \($0.line)" }
        lines.append(demand.words)
        lines.append("verified=\(verdicts.count) refused=0 exit=0")
        return lines.joined(separator: "\n") + "\n"
    }

    private func document(_ plan: FrozenPlan, _ verdicts: [TrustVerdict]) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "plan": .string(plan.digest.description),
            "signed": .bool(demand.demand != nil),
            "images": .array(
                verdicts.map { verdict in
                    .object([
                        "name": .string(verdict.image), "trust": .string(verdict.trust.level),
                    ])
                }
            ),
            "exit": ExitCode.done.json,
        ])
    }
}
