package import Domain
package import Journal
package import Manifest
package import Wire

/// By which plan a run works, and whether it begins its rollout again: what is decided before the
/// run itself, from the manifest as it is now and what the journal has.
package struct RolloutStart: Sendable {
    /// The clock says a day before that of the last beginning.
    package struct ClockBehind: Error, Sendable, Equatable {
        package let now: WallTime
        package let begun: WallTime
    }

    /// As the files have it now.
    private let plan: FrozenPlan
    /// Whether all of its vehicles are in the run.
    private let isWhole: Bool
    /// Of the window.
    private let zone: Zone
    /// Whether it is to be begun again.
    private let again: Bool

    package init(_ plan: FrozenPlan, isWhole: Bool, zone: Zone, again: Bool = false) {
        self.plan = plan
        self.isWhole = isWhole
        self.zone = zone
        self.again = again
    }

    /// Whether the run goes on with the plan that the rollout was begun with, which is another one.
    ///
    /// `begun` is when that was.
    package func goesOn(
        with record: RolloutRecord?,
        begun: WallTime?,
        at now: WallTime
    ) throws(ClockBehind) -> Bool {
        guard let record, record.plan != plan.digest else { return false }
        // To begin one again that is paused is refused, and what stands is told of it.
        if again { return record.hold?.kind == .paused }
        // What is over is begun by the plan as it is now.
        if record.hold?.kind == .aborted || (record.hold == nil && record.state == .finished) {
            return false
        }
        // So is what begins with each day, finished or not.
        guard plan.rollout.again == .daily, record.hold == nil, let begun, isWhole else {
            return true
        }
        return try !isLaterDay(now, than: begun)
    }

    /// Whether the run begins the rollout again without being told to.
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

    /// The same of a rollout that nothing holds, as others know it.
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

    /// A day before it is a wrong clock.
    private func isLaterDay(
        _ now: WallTime,
        than begun: WallTime
    ) throws(ClockBehind) -> Bool {
        let (then, today) = (zone.day(of: begun), zone.day(of: now))
        guard today >= then else { throw ClockBehind(now: now, begun: begun) }
        return today > then
    }
}
