package import Base
package import Commands
import Store

/// Whether the clock of this machine can be right, before anything is done by it.
///
/// A board without a battery begins in 1970, and one whose network is away with the time at which it was switched off.
/// Windows, expiries and the history would all be wrong.
package enum ClockCheck {
    /// 2026-01-01: no version of this program is older.
    static let earliest = WallTime(milliseconds: 1_767_225_600_000)
    /// By so much a clock that was set right may have gone back.
    static let tolerance = Duration.seconds(300)

    /// Refuses a clock from before this program, or from before the last run here.
    ///
    /// Only the last run counts: a clock that was once wrong in the future needs one run with the flag, and no more. Runs
    /// of rehearsals have times of their own.
    package static func demand(
        _ invocation: Invocation,
        _ now: WallTime,
        state: String
    ) throws(CommandError) {
        guard !invocation[Command.clockIsRight], !invocation.isRehearsal else { return }
        if now < earliest { throw refusal(now, "no time before \(earliest) can be right") }
        guard let last = last(in: state), now.advanced(by: tolerance) < last.time else { return }
        throw refusal(
            now,
            "run \(last.run.number) of \(last.run.rollout.visible) was at work at \(last.time)"
        )
    }

    private static func refusal(_ now: WallTime, _ cause: String) -> CommandError {
        CommandError(
            .configuration,
            "the clock of this machine is wrong: it shows \(now)",
            because: [cause],
            hint:
                "set it, as with 'timedatectl set-time' or 'timedatectl set-ntp true'; nothing was done. If it is "
                + "right, say --\(Command.clockIsRight.long) once"
        )
    }

    /// The last sign of the last run with real modules; nil when there is none or it cannot be read.
    private static func last(in state: String) -> (run: RunRecord, time: WallTime)? {
        try? JournalReader(directory: state).read {
            view throws(JournalError) -> (run: RunRecord, time: WallTime)? in
            guard let run = try view.lastRealRun() else { return nil }
            return (run, try view.lastSign(of: run))
        }
    }
}
