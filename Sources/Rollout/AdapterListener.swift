import Base
import Radio
import Synchronization

/// Listens on one adapter for the rollout's modules, and records how strong each one is heard.
struct AdapterListener: Sendable {
    /// A first scan lasts until no new module was heard for this long.
    private static let lull = Duration.seconds(1)
    /// Work waits for a scan at most this long.
    private static let longest = Duration.seconds(5)

    private let adapter: Int
    private let modules: RollCall
    private let shell: SchedulerShell
    private let means = SignalMeans()

    init(_ adapter: Int, _ modules: RollCall, _ shell: SchedulerShell) {
        (self.adapter, self.modules, self.shell) = (adapter, modules, shell)
    }

    /// Vehicles that were heard, in their order.
    var heard: [Int] { means.vehicles }

    /// Accepts vehicles that this adapter has not heard yet, or not often enough.
    var filter: ScanFilter {
        ScanFilter { advertisement in
            modules.members(in: advertisement).contains(where: isWanted)
        }
    }

    private func isWanted(_ vehicle: Int) -> Bool {
        guard !means.isEnough(for: vehicle) else { return false }
        return shell.with { state in
            switch state.scheduler.dispatch.vehicles[vehicle].phase {
            case .closed, .queued: return true
            case .holding, .resting, .asking, .ended: return false
            }
        }
    }

    func listen(
        to scan: any Scan,
        until limit: Moment,
        _ time: any Timekeeper
    ) async throws(RadioError) {
        let began = time.now
        var last = began
        while time.now < limit, !Task.isCancelled {
            let (isWanted, isDone) = shell.with { state in
                (
                    state.scheduler.isWanted(adapter),
                    !state.scheduler.dispatch.hasToHear(adapter)
                )
            }
            let isQuiet = last.duration(to: time.now) >= Self.lull
            let isLong = began.duration(to: time.now) >= Self.longest
            if isWanted && (isQuiet || isLong) { return }
            if isDone && isQuiet { return }
            let next = min(limit, time.now.advanced(by: .milliseconds(250)))
            let heard: Advertisement
            do throws(RadioError) {
                heard = try await scan.next(before: next)
            } catch {
                guard error == .timedOut else { throw error }
                continue
            }
            for vehicle in modules.members(in: heard) where self.isWanted(vehicle) {
                let known = shell.with { state in
                    state.scheduler.dispatch.vehicles[vehicle].signals[adapter]
                }
                if known == nil { last = time.now }
                let signal = means.note(vehicle, heard.signal, after: known)
                shell.with { $0.scheduler.heard(vehicle, on: adapter, signal: signal) }
            }
        }
    }
}

/// How well modules are heard during one scan: the mean of a few advertisements each, because one alone varies too much.
final class SignalMeans: Sendable {
    private static let enough = 4
    private let sums = Mutex<[Int: (count: Int, sum: Int)]>([:])

    func isEnough(for vehicle: Int) -> Bool {
        sums.withLock { ($0[vehicle]?.count ?? 0) >= Self.enough }
    }

    var vehicles: [Int] { sums.withLock { $0.keys.sorted() } }

    /// Adds a signal in dBm, and returns the mean so far.
    ///
    /// The signal that was known before counts as one.
    func note(_ vehicle: Int, _ signal: Int, after known: Int?) -> Int {
        sums.withLock { sums in
            let (count, sum) = sums[vehicle] ?? (known == nil ? 0 : 1, known ?? 0)
            sums[vehicle] = (count + 1, sum + signal)
            return (sum + signal) / (count + 1)
        }
    }
}
