import Commands
import Domain
import Images
import Manifest
import Operations
import Threads
import Trust
import Wire

/// `bundle verify`: what this depot says to a bundle.
struct BundleVerifyCommand {
    let path: String
    let state: String
    let target: String?
    let common: CommonOptions
    let context: Context
    private let demand: BundleSigners

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        path = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context)
        demand = try BundleSigners(invocation)
        target = invocation.value("target-dir")
        common = CommonOptions(invocation)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let bundle = try BundleFile(path, signedBy: demand.demand)
        do throws(BundleFault) {
            try bundle.checkAll()
        } catch { throw BundleFile.refusal(path, error) }
        let contents = try BundlePlan(bundle) { Inputs.tell($0, context) }
        let takeover = BundleTakeover(bundle: bundle, contents: contents, state: state)
        let verdicts = try await takeover.judge()
        if let target { try await takeover.perform(into: target) }
        if common.wantsJSON {
            context.console.result(document(contents.plan, verdicts).text + "\n")
        } else if !common.isQuiet {
            context.console.result(text(contents.plan, verdicts))
        }
        return .done
    }

    // MARK: Telling

    private func text(_ plan: FrozenPlan, _ verdicts: [TrustVerdict]) -> String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        for verdict in verdicts {
            lines.append("image \(verdict.image): trusted by \(verdict.words)")
        }
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
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}

/// The keys that must have signed a bundle itself, as `--key` and `--threshold` name them.
struct BundleSigners {
    /// Nil when nobody need have signed it.
    let demand: BundleDemand?

    init(_ invocation: Invocation) throws(CommandError) {
        let keys = invocation.values("key")
        let threshold = invocation.value("threshold").flatMap { ValueKind.whole($0) }
        guard !keys.isEmpty else {
            demand = nil
            return
        }
        var given: [BundleDemand.Key] = []
        for key in keys {
            given.append(BundleDemand.Key(name: key, key: try MinisignKey.given(key)))
        }
        let all = BundleDemand(given)
        guard let threshold else {
            demand = all
            return
        }
        guard let count = Int(exactly: threshold), (1...all.keys.count).contains(count) else {
            throw CommandError(
                .usage,
                "'--threshold \(threshold)' does not fit \(all.keys.count) different keys",
                hint: "it is how many of the keys named with --key must have signed"
            )
        }
        demand = BundleDemand(given, threshold: count)
    }

    /// Who vouches for a bundle that was opened by these.
    var words: String {
        guard let demand else { return "nobody vouches for the manifest in it: see --key" }
        let names = demand.keys.map(\.name.visible).joined(separator: ", ")
        return demand.keys.count == 1
            ? "the bundle itself is signed by the key \(names)"
            : "the bundle itself is signed by \(demand.threshold) or more of the keys \(names)"
    }
}
