package import Domain
package import Journal
package import Manifest

/// Which targets get a notice, and which one.
package enum NotifyPlan {
    /// What a run's end is about, the gravest first.
    package static func kinds(exitCode: Int, needsPerson: Bool) -> [NotifyKind] {
        let own: NotifyKind =
            switch exitCode {
            // What passes by itself is no failure: the next run goes on.
            case 0, 11, 15, 130, 143: .ended
            case 12: .paused
            default: .failed
            }
        if own == .ended { return needsPerson ? [.needsPerson, .ended] : [.ended] }
        return needsPerson ? [own, .needsPerson] : [own]
    }

    /// Each target gets a notice of a run once; of runs that find the same `pause` only of the first, but
    /// for a watchdog, which wants to hear of each.
    package static func wishes(
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

    /// After so many attempts, the next one comes so much later; nil when it is given up.
    package static func pause(
        after attempts: Int,
        made: WallTime,
        at now: WallTime
    ) -> Duration? {
        guard made.duration(to: now) < .seconds(86_400) else { return nil }
        return min(.seconds(3_600), .seconds(5) * (1 << min(max(attempts - 1, 0), 12)))
    }
}
