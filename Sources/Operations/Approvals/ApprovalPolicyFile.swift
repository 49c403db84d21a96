import Base
package import Commands
import Glibc

/// The file of this machine that says who must approve plans.
package enum ApprovalPolicyFile {
    package static let machine = "/etc/yardmaster/approvals.yaml"
    /// Names another file, for a rehearsal only: nobody gets around the machine's policy by it.
    static let variable = "YARDMASTER_APPROVALS"
    private static let limit = 1 << 20

    /// Nil when there is none: then plans need no approval.
    ///
    /// A plan may be rehearsed before it is approved.
    static func policy(_ context: Context) throws(CommandError) -> ApprovalPolicy? {
        guard context.reach.stage != nil else { return try read(machine, owners: [0]) }
        guard let path = context.variable(variable) else { return nil }
        guard let policy = try read(path, owners: [0, geteuid()]) else {
            throw CommandError(.inputMissing, "\(path.visible) of \(variable) is missing")
        }
        return policy
    }

    /// Only a file that belongs to one of these users is obeyed, and only when nobody else could have
    /// written it.
    package static func read(
        _ path: String,
        owners: Set<UInt32>
    ) throws(CommandError) -> ApprovalPolicy? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try TextFile.read(path: path, limit: limit) } catch {
            if error.reason == .missing { return nil }
            throw CommandError(
                .configuration,
                "nobody can know whether plans are approved",
                because: ["\(error)"],
                hint: "the user that runs yardmaster must be able to read it: chmod 644 \(path)"
            )
        }
        for place in [path, FilePlace.folder(of: path)] {
            guard let doubt = doubt(place, owners) else { continue }
            throw CommandError(
                .configuration,
                "\(path.visible) is not obeyed: somebody else could have written it",
                because: [doubt],
                hint: "look at it, then: sudo chown root: \(place) && sudo chmod go-w \(place)"
            )
        }
        let (policy, diagnostics) = ApprovalPolicy.read(bytes, path: path)
        guard let policy else {
            throw CommandError(
                .configuration,
                "\(path.visible) is not right",
                because: diagnostics.map { "\($0)" }
            )
        }
        return policy
    }

    private static func doubt(_ path: String, _ owners: Set<UInt32>) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return "\(path.visible) cannot be looked at" }
        if facts.st_mode & S_IFMT == S_IFLNK { return "\(path.visible) is a link" }
        guard owners.contains(facts.st_uid) else {
            return "\(path.visible) belongs to \(Owner(id: facts.st_uid))"
        }
        return facts.st_mode & 0o022 == 0 ? nil : "\(path.visible) can be written by other users"
    }
}
