package import Base

/// How long a module must be at rest before its update counts as finished.
package struct SettleRules: Equatable, Sendable {
    /// Connected time without a sign of "ongoing" or of a restart.
    package let quiet: Duration
    /// The least time between two readings of the version.
    package let confirmGap: Duration
    /// From the end of the upload to the verdict.
    package let total: Duration
    /// Quiet time after which a version other than the target is final.
    ///
    /// A primary MCU's image is handed over some time after the restart, and until then the old
    /// version is read.
    package let wrongVersionGrace: Duration
    /// The longest time between two observations, so that a short "ongoing" is seen.
    package let poll: Duration
    /// The time in which a run that resumes a settling must find the module once, before it may conclude that the
    /// module did not return.
    package let lastLook: Duration

    /// Nil when a time is negative, or when one that must be positive is zero.
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

    /// The deadline that is written to the journal before settling begins.
    package func deadline(from uploadEnd: WallTime) -> WallTime { uploadEnd.advanced(by: total) }

    /// Converts a deadline from the journal to this run's clock.
    ///
    /// The result is never later than a whole settling time from now, whatever happened to the wall
    /// clock, and never too soon to find the module and to see it at rest.
    package func moment(of deadline: WallTime, now: Moment, wallTime: WallTime) -> Moment {
        let (left, overflow) = deadline.milliseconds
            .subtractingReportingOverflow(wallTime.milliseconds)
        let least = min(lastLook + max(quiet, wrongVersionGrace) + confirmGap, total)
        guard !overflow else { return now.advanced(by: left < 0 ? total : least) }
        return now.advanced(by: min(max(.milliseconds(left), least), total))
    }
}
