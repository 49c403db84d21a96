package import Domain

/// How long a module must be at rest before its update counts as finished.
package struct SettleRules: Equatable, Sendable {
    /// Connected time without a sign of "ongoing" or of a restart.
    package let quiet: Duration
    /// The least time between the two readings of the version.
    package let confirmGap: Duration
    /// From the end of the upload to the verdict.
    package let total: Duration
    /// Quiet time after which another version than the target is believed: a primary MCU's image
    /// is handed over some time after the restart, and until then the old version is read.
    package let wrongVersionGrace: Duration
    /// The longest time between two readings, so that a short "ongoing" is seen.
    package let poll: Duration
    /// What a run gets that takes up a settling whose deadline has all but passed: it must look
    /// at the module once before it may say that the module did not return.
    package let lastLook: Duration

    /// Nil when a time is negative, or one that must pass is zero.
    package init?(
        quiet: Duration = .seconds(20),
        confirmGap: Duration = .seconds(2),
        total: Duration = .seconds(600),
        wrongVersionGrace: Duration = .seconds(60),
        poll: Duration = .seconds(5),
        lastLook: Duration = .seconds(60)
    ) {
        guard quiet >= .zero, confirmGap >= .zero, total > .zero, wrongVersionGrace >= .zero,
            poll > .zero, lastLook >= .zero
        else { return nil }
        self.quiet = quiet
        self.confirmGap = confirmGap
        self.total = total
        self.wrongVersionGrace = wrongVersionGrace
        self.poll = poll
        self.lastLook = lastLook
    }

    /// What goes into the journal before settling begins.
    package func deadline(from uploadEnd: WallTime) -> WallTime { uploadEnd.advanced(by: total) }

    /// Puts a journaled deadline on this run's clock.
    ///
    /// Never later than a whole settling from now, however the wall clock was set meanwhile, and
    /// never so soon that nobody could look.
    package func moment(of deadline: WallTime, now: Moment, wallTime: WallTime) -> Moment {
        let (left, overflow) = deadline.milliseconds
            .subtractingReportingOverflow(wallTime.milliseconds)
        guard !overflow else { return now.advanced(by: left < 0 ? total : min(lastLook, total)) }
        let least = min(lastLook, total)
        return now.advanced(by: min(max(.milliseconds(left), least), total))
    }
}
