package import Base
import Commands
import Images

/// Who must approve the plans of this machine, by the names of rollouts.
package struct ApprovalPolicy: Sendable {
    /// Somebody whose signatures count.
    struct Approver: Sendable {
        let name: String
        let key: ApproverKey
        /// The last day on which the key counts, in UTC.
        let until: CalendarDay?
    }

    /// How many of which people must approve.
    package struct Rule: Sendable {
        let pattern: VehiclePattern
        let need: Int
        let approvers: [Approver]
    }

    package let rules: [Rule]

    /// The first one that fits; nil when none does.
    package func rule(for rollout: String) -> Rule? {
        rules.first { $0.pattern.matches(rollout) }
    }
}

/// A signature file, as it was found.
package struct FoundSignature: Sendable {
    let place: String
    let text: String
    /// Nil when it cannot be understood, with the reason.
    let content: Result<PlanSignature, PlanSignature.Fault>

    package init(_ text: String, at place: String) {
        self.text = text
        self.place = place
        content = Result { () throws(PlanSignature.Fault) in try PlanSignature(Array(text.utf8)) }
    }

    fileprivate var signature: PlanSignature? { try? content.get() }
}

/// The answer of a rule about a text.
package struct ApprovalVerdict: Sendable {
    /// Those who have approved it, in the order of the policy.
    package fileprivate(set) var approved: [String] = []
    /// Who is missing, and which signatures do not count.
    package fileprivate(set) var words: [String] = []
    /// The texts of the signatures that count.
    fileprivate(set) var counted: [String] = []
}

extension ApprovalPolicy.Rule {
    package func verdict(
        on text: String,
        _ found: [FoundSignature],
        on day: CalendarDay
    ) -> ApprovalVerdict {
        let bytes = Array(text.utf8)
        var verdict = ApprovalVerdict()
        for approver in approvers {
            let own = found.filter { $0.signature.map(approver.key.isNamed) ?? false }
            let valid = own.first {
                $0.signature.map { approver.key.signed(bytes, with: $0) } ?? false
            }
            var words = "has not approved it"
            if let valid {
                guard let until = approver.until, until < day else {
                    verdict.approved.append(approver.name)
                    verdict.counted.append(valid.text)
                    continue
                }
                words = "has approved it, with a key that was valid until \(until)"
            } else if let place = own.first?.place.visible {
                words = "has approved something else: \(place) is not over this plan"
            }
            verdict.words.append("\(approver.name) \(words)")
        }
        for signature in found {
            let place = signature.place.visible
            switch signature.content {
            case .failure(let fault): verdict.words.append("\(place): \(fault.words)")
            case .success(let content) where !approvers.contains { $0.key.isNamed(by: content) }:
                let who = "is by nobody whom the policy names: \(content.signer)"
                verdict.words.append("\(place) \(who)")
            case .success: break
            }
        }
        return verdict
    }
}

// MARK: Its file

extension ApprovalPolicy {
    /// Reads `approvals.yaml`; the policy is nil when there are errors.
    package static func read(
        _ bytes: [UInt8],
        path: String
    ) -> (policy: ApprovalPolicy?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(main: path)
        guard let tree = SourceNode.parse(bytes, file: path, diagnostics) else {
            return (nil, diagnostics.list)
        }
        var reader = FieldReader(tree, diagnostics, as: "a policy of approvals")
        var approvers: [Approver] = []
        for entry in reader.map("keys", of: "a map of names") where !entry.key.hasPrefix("x-") {
            guard let approver = approver(entry, diagnostics) else { continue }
            if let same = approvers.first(where: { $0.key.identity == approver.key.identity }) {
                diagnostics.error(
                    entry.keyPlace,
                    "\(approver.name) and \(same.name) have the same key",
                    hint: "one key is one approval"
                )
            }
            approvers.append(approver)
        }
        let rules = reader.list("rollouts", of: "rules").compactMap { node in
            rule(node, among: approvers, diagnostics)
        }
        reader.finish()
        return (diagnostics.hasErrors ? nil : ApprovalPolicy(rules: rules), diagnostics.list)
    }

    private static func approver(
        _ entry: SourceNode.Entry,
        _ diagnostics: Diagnostics
    ) -> Approver? {
        var reader = FieldReader(entry.value, diagnostics, as: "a key")
        let (keyPlace, untilPlace) = (reader.place(of: "key"), reader.place(of: "until"))
        let (line, until) = (reader.text("key"), reader.text("until", .optional))
        reader.finish()
        let day = until.flatMap { CalendarDay($0) }
        if let until, day == nil {
            let hint = "write the last day, as in 2027-01-31"
            diagnostics.error(untilPlace, "\(quoted(until)) is no day", hint: hint)
        }
        guard let line else { return nil }
        guard let key = ApproverKey(line) else {
            let hint =
                "write the line of an OpenSSH .pub file (ed25519, ecdsa, or RSA of 2048 bits and more), "
                + "or minisign's line RW…"
            diagnostics.error(keyPlace, "the key of \(entry.key) cannot sign plans", hint: hint)
            return nil
        }
        return Approver(name: entry.key, key: key, until: day)
    }

    private static func rule(
        _ node: SourceNode,
        among all: [Approver],
        _ diagnostics: Diagnostics
    ) -> Rule? {
        var reader = FieldReader(node, diagnostics, as: "a rule")
        let (place, needPlace) = (reader.place(of: "name"), reader.place(of: "need"))
        let (name, need) = (reader.text("name"), reader.integer("need", in: 0...100))
        var names = Set(reader.has("of") ? [] : all.map(\.name))
        for item in reader.list("of", .optional, of: "names") {
            guard let text = item.text(diagnostics) else { continue }
            if !all.contains(where: { $0.name == text }) {
                let hint = Nearest.hint(text, among: all.map(\.name))
                diagnostics.error(item.place, "\(quoted(text)) is not among the keys", hint: hint)
            }
            names.insert(text)
        }
        reader.finish()
        guard let name, let need else { return nil }
        guard let pattern = VehiclePattern(name) else {
            diagnostics.error(place, "\(quoted(name)) is no pattern of a rollout's name")
            return nil
        }
        let approvers = all.filter { names.contains($0.name) }
        if need > approvers.count, !diagnostics.hasErrors {
            diagnostics.error(needPlace, "\(need) of \(approvers.count) keys can never approve")
        }
        return Rule(pattern: pattern, need: need, approvers: approvers)
    }
}
