import Base
import Manifest
import Store

/// The targets that get a notice, and its kind.
enum NotifyPlan {
    /// The kinds of notices about a run's end, the most severe first.
    static func kinds(exitCode: Int, needsPerson: Bool) -> [NotifyKind] {
        let own: NotifyKind =
            switch exitCode {
            // An end that the next run resolves is not a failure.
            case 0, 11, 15, 130, 143: .ended
            case 12: .paused
            default: .failed
            }
        if own == .ended { return needsPerson ? [.needsPerson, .ended] : [.ended] }
        return needsPerson ? [own, .needsPerson] : [own]
    }

    /// Each target gets one notice about a run.
    ///
    /// Of several runs with the same `pause`, only the first one is reported, except to watchdogs,
    /// which get a notice for each run.
    static func wishes(
        _ policy: NotifyPolicy,
        run: Int,
        of rollout: String,
        _ kinds: [NotifyKind],
        pause: String? = nil
    ) -> [OutboxWish] {
        policy.targets.compactMap { target in
            target.wants(kinds).map { kind in
                OutboxWish(
                    key: target.hearsEachRun ? "run-\(run)" : pause ?? "run-\(run)",
                    target: target.name,
                    kind: kind.rawValue,
                    rollout: rollout,
                    run: run
                )
            }
        }
    }

    /// The pause after this number of attempts; nil when sending is given up.
    static func pause(
        after attempts: Int,
        made: WallTime,
        at now: WallTime
    ) -> Duration? {
        guard made.duration(to: now) < .seconds(86_400) else { return nil }
        return min(OutboxEntry.longestPause, .seconds(5) * (1 << min(max(attempts - 1, 0), 12)))
    }
}
