package import Base
import Synchronization

/// One simulated world: its clock, its executor, its randomness and its air, all from one seed.
package final class Simulation: Sendable {
    package let seed: UInt64
    package let time: VirtualTime
    package let air: Air
    private let queue: JobQueue
    private let taskLane: TaskLane
    /// Replaces the threads to which actors are pinned in production.
    package let worldLane: WorldLane
    private let board = WaitBoard()

    /// Virtual time begins at `beginning`; `now` is later than zero when a world is continued.
    package init(
        seed: UInt64,
        beginning: WallTime = Simulation.firstEvening,
        now: Moment = Moment(nanoseconds: 0)
    ) {
        self.seed = seed
        var seeds = SplitMix64(seed: seed)
        queue = JobQueue(seed: seeds.next())
        taskLane = TaskLane(queue)
        worldLane = WorldLane(queue)
        time = VirtualTime(beginning: beginning, now: now)
        air = Air(lane: worldLane, time: time, seed: seeds.next())
    }

    /// When virtual time begins by default: 2026-01-05T22:00:00Z.
    package static let firstEvening = WallTime(milliseconds: 1_767_650_400_000)

    /// How virtual time relates to real time.
    package enum Pace: Sendable, Equatable {
        /// As fast as the machine can.
        case asFastAsPossible
        /// This many virtual seconds per real second.
        case times(Double)
    }

    /// Nothing can run, there is no deadline, and the work is not done; or the run has passed its
    /// bounds.
    package struct Deadlock: Error, Sendable, CustomStringConvertible {
        package let seed: UInt64
        package let waits: [String]
        /// The bound that was passed; nil when nothing could run.
        package var passed: String?

        package var description: String {
            let list = waits.isEmpty ? ["nothing that is known"] : waits
            let what = passed.map { "does not end, \($0)" } ?? "is stuck"
            return "the simulation \(what) (seed \(seed)); waiting: "
                + list.joined(separator: "; ")
        }
    }

    /// The bounds after which a run counts as one that never ends.
    package struct Bounds: Sendable {
        /// Jobs that may run before time passes.
        package var jobs = Int.max
        /// Called at every moment; returns which bound was passed.
        package var passed: @Sendable (_ now: Moment) -> String? = { _ in nil }

        package init() {}
    }

    /// Runs `body` in virtual time on the calling thread and returns what it returns.
    ///
    /// The pace is evaluated at every step, so that it can change in the middle of a run.
    package func run<R: Sendable>(
        pace: @autoclosure () -> Pace = .asFastAsPossible,
        within bounds: Bounds = Bounds(),
        _ body: @escaping @Sendable () async -> R
    ) throws(Deadlock) -> R {
        let result = Mutex<R?>(nil)
        let task = Task(executorPreference: taskLane) {
            let value = await body()
            result.withLock { $0 = value }
        }
        defer { task.cancel() }
        func failure(_ passed: String?) -> Deadlock {
            Deadlock(seed: seed, waits: air.waits + board.list, passed: passed)
        }
        while true {
            var passed: String?
            if !queue.drain(most: bounds.jobs) {
                passed = "\(bounds.jobs) jobs without time passing"
            }
            if let value = result.withLock({ $0 }) { return value }
            guard let deadline = time.nextDeadline else { throw failure(passed) }
            passed = passed ?? bounds.passed(time.now)
            guard passed == nil else { throw failure(passed) }
            guard keepsPace(pace(), with: deadline) else { continue }
            _ = time.advance()
        }
    }

    /// The longest real time between two evaluations of the pace.
    private static let patience = Duration.milliseconds(200)

    /// Waits in real time for a deadline in the future; false when it was not reached yet.
    private func keepsPace(_ pace: Pace, with deadline: Moment) -> Bool {
        guard case .times(let factor) = pace else { return true }
        let ahead = time.now.duration(to: deadline)
        guard ahead > .zero else { return true }
        let started = ContinuousClock.now
        queue.waitForJob(upTo: min(ahead / factor, Self.patience))
        let passed = (ContinuousClock.now - started) * factor
        guard passed < ahead else { return true }
        time.advance(to: time.now.advanced(by: passed))
        return false
    }

    /// Runs `body`, whose wait is listed when the run is stuck.
    package func waiting<R>(
        for what: StaticString,
        _ whom: String,
        _ body: () async -> R
    ) async -> R {
        let entry = board.begin(what, whom)
        defer { board.end(entry) }
        return await body()
    }
}
