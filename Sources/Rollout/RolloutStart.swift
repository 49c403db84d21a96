package import Base
package import Manifest
package import Store

/// Decides which plan a run uses, and whether it begins its rollout again.
///
/// Both are decided before the run, from the current manifest and the journal.
package struct RolloutStart: Sendable {
    /// The clock shows an earlier day than that of the last beginning.
    package struct ClockBehind: Error, Sendable, Equatable {
        package let now: WallTime
        package let begun: WallTime
    }

    /// The plan of the files as they are now.
    private let plan: FrozenPlan
    /// Whether all of its vehicles are in the run.
    package let isWhole: Bool
    /// The time zone of the window.
    private let zone: Zone
    private let window: OpenTimes?
    /// Whether a person wants the rollout to be begun again.
    private let again: Bool

    package init(_ plan: FrozenPlan, isWhole: Bool, zone: Zone, again: Bool = false) {
        self.plan = plan
        self.isWhole = isWhole
        self.zone = zone
        window = plan.openTimes(in: zone)
        self.again = again
    }

    /// A rollout that several machines go through together, as they have it.
    package struct Shared: Sendable, Equatable {
        /// The digest of its plan, as text.
        package let plan: String
        package let begun: WallTime
        /// The time of this answer, by the clock of `begun`.
        package let asked: WallTime
        package let hold: Hold.Kind?
        package let isFinished: Bool

        package init(
            plan: String,
            begun: WallTime,
            asked: WallTime,
            hold: Hold.Kind?,
            isFinished: Bool
        ) {
            self.plan = plan
            self.begun = begun
            self.asked = asked
            self.hold = hold
            self.isFinished = isFinished
        }
    }

    /// Whether the run continues with the rollout's own plan, which differs from the current one.
    ///
    /// `begun` is the time when the rollout was begun with that plan. What other machines have (`shared`) goes before
    /// what this journal has last heard of them.
    package func goesOn(
        with record: RolloutRecord?,
        begun: WallTime?,
        shared: Shared? = nil,
        at now: WallTime
    ) throws(ClockBehind) -> Bool {
        guard let record, record.plan != plan.digest else { return false }
        var (hold, isOver, begun, now) = (
            record.hold?.kind, record.hold == nil && record.state == .finished, begun, now
        )
        if let shared {
            guard shared.plan == record.plan.description else { return false }
            (hold, isOver) = (shared.hold, shared.isFinished)
            (begun, now) = (shared.begun, shared.asked)
        }
        // A paused rollout cannot be begun again: the refusal names the vehicles of its own plan.
        if again { return hold == .paused }
        // A rollout that is over is begun with the current plan.
        if hold?.isForGood == true || isOver { return false }
        // So is a daily rollout on a later day, finished or not.
        guard plan.rollout.again == .daily, hold == nil, let begun, isWhole else { return true }
        return try !isLaterDay(now, than: begun)
    }

    /// Whether the run begins the rollout again automatically.
    package func beginsAgain(
        _ record: RolloutRecord?,
        begun: WallTime?,
        at now: WallTime
    ) throws(ClockBehind) -> Bool {
        guard isWhole, let record, record.hold == nil else { return false }
        switch plan.rollout.again {
        case .whenAsked: return false
        case .eachRun: return record.state == .finished
        case .daily:
            guard let begun else { return false }
            return try isLaterDay(now, than: begun)
        }
    }

    /// The same for a rollout without a hold, as the fleet's database has it.
    package func beginsAgain(
        isFinished: Bool,
        begun: WallTime,
        at now: WallTime
    ) throws(ClockBehind) -> Bool {
        guard isWhole else { return false }
        switch plan.rollout.again {
        case .whenAsked: return false
        case .eachRun: return isFinished
        case .daily: return try isLaterDay(now, than: begun)
        }
    }

    /// Throws when `now` is on an earlier day: then the clock is wrong.
    private func isLaterDay(
        _ now: WallTime,
        than begun: WallTime
    ) throws(ClockBehind) -> Bool {
        let (then, today) = (day(of: begun), day(of: now))
        guard today >= then else { throw ClockBehind(now: now, begun: begun) }
        return today > then
    }

    /// The day that a beginning at this time belongs to: that of its window.
    private func day(of time: WallTime) -> Int64 { window?.day(of: time) ?? zone.day(of: time) }
}
