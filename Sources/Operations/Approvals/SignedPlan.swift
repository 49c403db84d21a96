import Base
import Commands
import Manifest

/// A plan that `--save` has written, with the signatures that were found with it.
struct SignedPlan {
    /// Where it is, for people.
    let place: String
    let text: String
    let signatures: [FoundSignature]

    /// The most bytes of a signature.
    private static let signatureLimit = 1 << 16
    private static let mostSignatures = 100

    init(_ approval: PlanApproval, at place: String) {
        self.place = place
        text = approval.text
        signatures = approval.signatures.map { FoundSignature($0, at: place) }
    }

    /// Reads a plan's file, and the signatures beside it: `FILE.sig`, `FILE.ANYTHING.sig`, and the same
    /// with `.minisig`; nil when there is no such plan.
    init?(file path: String) throws(CommandError) {
        do throws(FileError) {
            place = path
            text = String(
                decoding: try TextFile.read(path: path, limit: RolloutFolder.limit),
                as: UTF8.self
            )
            let (folder, own) = (FilePlace.folder(of: path), path.split(separator: "/").last ?? "")
            let names = ((try? Folder.names(in: folder)) ?? []).filter { name in
                name.hasPrefix(own + ".") && (name.hasSuffix(".sig") || name.hasSuffix(".minisig"))
            }
            var found: [FoundSignature] = []
            for name in names.prefix(Self.mostSignatures) {
                let place = "\(folder)/\(name)"
                let bytes = try TextFile.read(path: place, limit: Self.signatureLimit)
                found.append(FoundSignature(String(decoding: bytes, as: UTF8.self), at: place))
            }
            signatures = found
        } catch {
            if error.reason == .missing { return nil }
            throw CommandError(.inputMissing, error.description)
        }
    }

    /// The document, when it is a plan.
    static func document(_ text: String) -> JSONValue? {
        guard let document = try? JSONValue(json: text), document["form"]?.string == form,
            document["name"]?.string != nil
        else { return nil }
        return document
    }

    private static let form = "yardmaster-plan-1"

    /// A plan that was saved, as its text and its document.
    static func read(_ path: String) throws(CommandError) -> (text: String, plan: JSONValue) {
        if let saved = try SignedPlan(file: path), let plan = document(saved.text) {
            return (saved.text, plan)
        }
        throw CommandError(
            .inputMissing,
            "\(path.visible) is no plan that was saved",
            hint: "make one with 'yardmaster plan --save FILE MANIFEST'"
        )
    }
}

/// Approvals in the state directory: a rollout goes on as it was approved, whatever becomes of the files.
///
/// `approved/NAME` has the approval of the plan that the rollout of that name last ran with.
struct ApprovalArchive {
    private let folder: RolloutFolder

    init(state: String) { folder = RolloutFolder(path: state + "/approved") }

    func plan(of rollout: String) -> SignedPlan? {
        folder.bytes(of: rollout).flatMap { try? JSONValue(json: $0) }
            .flatMap { PlanApproval($0) }
            .map { SignedPlan($0, at: folder.path(of: rollout)) }
    }

    func keep(_ approval: PlanApproval, of rollout: String) throws(CommandError) {
        try folder.keep(approval.value.bytes, of: rollout, "the approval")
    }
}
