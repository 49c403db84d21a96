package import Base
package import Commands
import Images
import Manifest
import Show

/// Verifies a bundle, takes it over, and makes its manifest the current one of its rollout.
package struct BundleApplication {
    private let target: String
    private let state: String
    private let signers: BundleSigners
    private let older: OlderBundle?
    private let common: CommonOptions
    private let context: Context

    package init(
        into target: String,
        state: String,
        signers: BundleSigners,
        older: OlderBundle?,
        _ common: CommonOptions,
        _ context: Context
    ) {
        self.target = target
        self.state = state
        self.signers = signers
        self.older = older
        self.common = common
        self.context = context
    }

    /// The result of applying a bundle.
    package struct Applied {
        package let text: String
        package let document: JSONValue
    }

    /// `progress` is called with the current step, the bytes that are done, and the total.
    package func apply(
        _ path: String,
        progress: (String, Int64, Int64) -> Void
    ) async throws(CommandError) -> Applied {
        let bundle = try BundleFile(path, signedBy: signers.demand) { done, total in
            progress("verifying the signature", done, total)
        }
        do throws(BundleFault) {
            try bundle.checkAll { done, total in progress("verifying", done, total) }
        } catch { throw BundleFile.refusal(path, error) }
        let contents = try BundlePlan(bundle) { Inputs.tell($0, context) }
        let plan = contents.plan
        let takeover = BundleTakeover(
            bundle: bundle,
            contents: contents,
            state: state,
            older: older
        )
        let verdicts = try await takeover.judge()
        let place = try BundlePlace(target, of: plan.name, bundle)
        try await takeover.perform(into: place.folder, with: place.carried(for: contents))
        // The manifest becomes the rollout's only when this program accepts it.
        let options = try self.options(place.folder, contents)
        let accepted = try Inputs.plan("\(place.folder)/\(contents.manifest)", context, options)
        _ = try ZoneSource.zone(of: accepted, context)
        try place.settle()
        let manifest = "\(place.link)/\(contents.manifest)"
        let answer = try PlanAnswer(
            PlanOptions(
                manifest: manifest,
                state: state,
                common: try self.options(place.link, contents)
            ),
            context
        )
        var lines = verdicts.map { "image \($0.image): trusted by \($0.words)" }
        lines += [signers.words, "taken over into \(place.link.visible)"]
        lines.append("run it with: \(command(AbsolutePath.of(place.link), contents))")
        return Applied(
            text: lines.joined(separator: "\n") + "\n" + answer.text,
            document: .object([
                "schema": 1,
                "bundle": .string(path),
                "rollout": .string(plan.name),
                "manifest": .string(manifest),
                "signed": .bool(signers.demand != nil),
                "images": .array(
                    verdicts.map { verdict in
                        .object([
                            "name": .string(verdict.image), "trust": .string(verdict.trust.level),
                        ])
                    }
                ),
                "plan": answer.document,
                "exit": ExitCode.done.json,
            ])
        )
    }

    /// The command that runs the rollout; the link to its folder stays when another bundle comes.
    private func command(_ link: String, _ contents: BundlePlan) -> String {
        PlaceFlags().elsewhere(state).line(
            "run",
            contents.profiles.isEmpty
                ? "" : "--profiles " + (link + "/profiles").quotedForShell,
            (link + "/" + contents.manifest).quotedForShell
        )
    }

    private func options(
        _ folder: String,
        _ contents: BundlePlan
    ) throws(CommandError) -> CommonOptions {
        guard !contents.profiles.isEmpty else { return common }
        let profiles = folder + "/profiles"
        return common.using(try ProfileFolder.library(profiles, context), in: profiles)
    }
}
