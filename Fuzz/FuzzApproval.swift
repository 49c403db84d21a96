import Base
import Images
import Manifest
import Operations

/// Any bytes are a signature over a plan, a key, a policy of approvals or a saved plan, or they are refused;
/// no signature holds.
func fuzzApproval(_ bytes: [UInt8]) {
    let plan = Array("a plan".utf8)
    if let signature = try? SSHSignature(bytes) {
        precondition(!signature.verifies(plan), "nobody has signed this")
    }
    _ = try? PlanSignature(bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    _ = ApproverKey(text)
    // The content of a signature, without its armour.
    let armour = "\(SSHSignature.firstLine)\n\(Base64.text(bytes))\n-----END SSH SIGNATURE-----\n"
    if let signature = try? SSHSignature(Array(armour.utf8)) {
        precondition(!signature.verifies(plan), "nobody has signed this")
    }
    _ = ApproverKey("ssh-ed25519 \(Base64.text(bytes))")
    let (policy, _) = ApprovalPolicy.read(bytes, path: "approvals.yaml")
    if let rule = policy?.rule(for: "tallinn") {
        let verdict = rule.verdict(
            on: "a plan",
            [FoundSignature(text, at: "a.sig")],
            on: CalendarDay(number: 20_000)
        )
        precondition(verdict.approved.isEmpty, "nobody has signed this")
    }
    if let document = try? JSONValue(json: text) {
        _ = PlanApproval(document)
        precondition(PlanDifference.lines(document, approved: document).isEmpty, "it is itself")
        precondition(!PlanDifference.lines(document, approved: "none").isEmpty, "it is another")
    }
}
