import Base
import Commands
import Manifest
import Show
import Store

/// Demands that a plan is approved as the policy of this machine says, before anything is done.
struct ApprovalCheck {
    private static let mostDifferences = 100

    let options: RunOptions
    let context: Context

    /// The approval of a plan; nil where no policy asks for one.
    func demand(
        _ plan: FrozenPlan,
        at now: () throws(CommandError) -> WallTime
    ) async throws(CommandError) -> PlanApproval? {
        guard let rule = try ApprovalPolicyFile.policy(context)?.rule(for: plan.name) else {
            return nil
        }
        let text = try plan.approvalText(options.fleet, options.common)
        let shared = try await shared(plan.name)
        let kept = ApprovalArchive(state: options.state).plan(of: plan.name)
        let named = try options.approved.flatMap { path throws(CommandError) in
            try SignedPlan(file: path)
        }
        let found = [named, kept, shared].compactMap(\.self)
        var signatures: [FoundSignature] = []
        for signature in found.flatMap(\.signatures)
        where !signatures.contains(where: { $0.text == signature.text }) {
            signatures.append(signature)
        }
        let day = CalendarDay(of: try now())
        let verdict = rule.verdict(on: text, signatures, on: day)
        guard verdict.approved.count >= rule.need else {
            throw refusal(plan, verdict, rule, Self.changes(text, found, rule, day))
        }
        // Other gateways may know people whom this one does not.
        let others = shared?.signatures.map(\.text).filter { !verdict.counted.contains($0) } ?? []
        return PlanApproval(
            names: verdict.approved,
            text: text,
            signatures: verdict.counted + others
        )
    }

    /// The approval in the fleet's database; nil without one, and when no server answers.
    private func shared(_ rollout: String) async throws(CommandError) -> SignedPlan? {
        guard let fleet = options.fleet else { return nil }
        let found = try await fleet.look { fleet throws(FleetError) -> String? in
            guard let known = try fleet.rollout(rollout) else { return nil }
            return try fleet.planView(known.plan)
        }
        guard case .success(let text?) = found else { return nil }
        return PlanView.approval(in: text).map { SignedPlan($0, at: "the fleet's database") }
    }

    /// What the first other plan that was found has otherwise, and who had approved that.
    private static func changes(
        _ text: String,
        _ found: [SignedPlan],
        _ rule: ApprovalPolicy.Rule,
        _ day: CalendarDay
    ) -> [String] {
        guard !found.contains(where: { $0.text == text }), let other = found.first else {
            return []
        }
        guard let approved = SignedPlan.document(other.text), let now = SignedPlan.document(text)
        else { return ["\(other.place.visible) is no plan that was saved"] }
        let names = rule.verdict(on: other.text, other.signatures, on: day).approved
        let lines = PlanDifference.lines(now, approved: approved)
        let more = lines.count - mostDifferences
        return [
            "it is not the plan in \(other.place.visible), approved by "
                + (names.isEmpty ? "nobody" : names.joined(separator: ", "))
        ] + lines.prefix(mostDifferences) + (more > 0 ? ["and \(more) more differences"] : [])
    }

    private func refusal(
        _ plan: FrozenPlan,
        _ verdict: ApprovalVerdict,
        _ rule: ApprovalPolicy.Rule,
        _ changes: [String]
    ) -> CommandError {
        let file = NextStep.quoted(options.approved ?? "FILE")
        let sign = "'yardmaster approve --key KEY \(file)' signs it"
        return CommandError(
            .trust,
            "the plan of \(plan.name) is not approved: \(verdict.approved.count) of the \(rule.need) "
                + "approvals that this machine asks for"
                + (verdict.approved.isEmpty
                    ? "" : ", by " + verdict.approved.joined(separator: ", ")),
            because: changes + verdict.words,
            hint: options.isManifests
                ? "'yardmaster plan --save \(file) \(NextStep.quoted(options.manifest))' writes this plan, and "
                    + "\(sign); nothing was touched"
                : "the same command with --save \(file) writes this plan, \(sign), and with --approved "
                    + "\(file) it is carried out; nothing was touched"
        )
    }
}

extension FrozenPlan {
    /// The text that people sign, with what this machine adds to it.
    fileprivate func approvalText(
        _ fleet: FleetAccess?,
        _ common: CommonOptions
    ) throws(CommandError) -> String {
        let profiles = try ProfileFolder.digests(of: self, common)
        return approvalText(fleet: fleet?.commonName, profiles: profiles)
    }

    /// Writes it for people to approve; returns what to do with it.
    func save(
        to path: String,
        _ fleet: FleetAccess?,
        _ common: CommonOptions
    ) throws(CommandError) -> String {
        let text = try approvalText(fleet, common)
        let sentence = "the plan cannot be saved in \(path.visible)"
        try Draft.demand(Array(text.utf8), to: path, mode: 0o644, .cannotCreate, sentence)
        let file = NextStep.quoted(path)
        return "the plan is in \(file); 'yardmaster approve --key KEY \(file)' signs it"
    }
}
