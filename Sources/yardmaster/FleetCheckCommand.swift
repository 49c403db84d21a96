import Base
import Operations
import Store

/// Findings of `fleet check` about the user, the past and the history of the tables.
extension FleetCommand {
    static func rights(on fleet: FleetDatabase) async throws(FleetError) -> [Finding] {
        let user = try await fleet.user()
        var roles: [String] = []
        if user.mayClaim { roles.append("gateway") }
        if user.mayConfirm { roles.append("operator") }
        if roles.isEmpty { roles.append("reader") }
        var findings = [
            Finding(.good, "user", "\(user.name.visible): " + roles.joined(separator: ", "))
        ]
        let missing = try await fleet.missingRoles()
        if !missing.isEmpty {
            findings.append(
                Finding(
                    .warning,
                    "roles",
                    "there is no " + missing.map(\.rawValue).joined(separator: ", "),
                    "let a superuser run the last part of 'yardmaster fleet create --sql'"
                )
            )
        }
        return findings
    }

    static let forgetting =
        "begin a run there; if that machine will not return, an operator says "
        + "'yardmaster gateway forget NAME'"

    /// Whether the tables would grow forever.
    static func finding(on pruning: (since: Duration?, oldest: Duration?)) -> Finding {
        let (month, quarter) = (Duration.seconds(30 * 86_400), Duration.seconds(90 * 86_400))
        let done = pruning.since.map { "was dropped \($0.brief) ago" } ?? "was never dropped"
        let isRecent = pruning.since.map { $0 < month } ?? false
        guard !isRecent, let oldest = pruning.oldest, oldest > quarter else {
            return Finding(.good, "past", "what is over \(done)")
        }
        return Finding(
            .warning,
            "past",
            "what is over \(done), and the tables go back \(oldest.brief)",
            "give 'yardmaster fleet prune' to a timer on the database's own machine"
        )
    }

    static func finding(on verdict: EpochGuard) -> Finding {
        switch verdict {
        case .open: Finding(.good, "history", "rights on modules may be granted")
        case .waits(let wait):
            Finding(
                .warning,
                "history",
                "no right on a module is granted for another \(wait.brief)",
                "wait: another server took over, or a backup was confirmed"
            )
        case .awaits(let names):
            Finding(
                .warning,
                "history",
                "no right on a module is granted before \(names.visible) has reported what it did before "
                    + "another server or a backup took over",
                forgetting
            )
        case .movedOn:
            Finding(
                .warning,
                "history",
                "another server took over",
                "wait: the first gateway records it"
            )
        case .restored(let words):
            Finding(
                .bad,
                "history",
                "no right on a module is granted: \(words.visible)",
                "make sure that no gateway reaches the earlier database; then an operator says "
                    + "'yardmaster fleet accept-restore'"
            )
        }
    }
}
