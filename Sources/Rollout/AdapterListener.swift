import Base
import Radio
import Synchronization

/// Listens on one adapter for the rollout's modules, and records how strong each one is heard, and
/// which ones are two modules with one serial.
struct AdapterListener: Sendable {
    /// A first scan lasts until no new module was heard for this long.
    private static let lull = Duration.seconds(1)
    /// Work waits for a scan at most this long.
    private static let longest = Duration.seconds(5)

    private let adapter: Int
    private let modules: RollCall
    private let jobs: [VehicleJob]
    private let shell: SchedulerShell
    private let means = SignalMeans()
    private let namesakes = Monitor<[Int: Namesakes]>([:])

    init(_ adapter: Int, _ modules: RollCall, _ jobs: [VehicleJob], _ shell: SchedulerShell) {
        (self.adapter, self.modules, self.jobs, self.shell) = (adapter, modules, jobs, shell)
    }

    /// Vehicles that were heard, in their order.
    var heard: [Int] { means.vehicles }

    /// Vehicles of which two modules were heard, with the addresses of both.
    var doubles: [(vehicle: Int, pair: [Peer])] {
        namesakes.withLock { $0.compactMap { vehicle, known in known.pair.map { (vehicle, $0) } } }
            .sorted { $0.0 < $1.0 }
    }

    /// Accepts vehicles that this adapter has not heard yet, or not often enough, or under another
    /// address.
    var filter: ScanFilter {
        ScanFilter { advertisement in
            modules.members(in: advertisement).contains { isWanted($0, advertisement.peer) }
        }
    }

    private func isWanted(_ vehicle: Int, _ peer: Peer) -> Bool {
        guard !means.isEnough(for: vehicle) || isNews(peer, of: vehicle) else { return false }
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
            for vehicle in modules.members(in: heard) where self.isWanted(vehicle, heard.peer) {
                let known = shell.with { state in
                    state.scheduler.dispatch.vehicles[vehicle].signals[adapter]
                }
                if known == nil || isNews(heard.peer, of: vehicle) { last = time.now }
                compare(heard, with: vehicle)
                guard !means.isEnough(for: vehicle) else { continue }
                let signal = means.note(vehicle, heard.signal, after: known)
                shell.with { $0.scheduler.heard(vehicle, on: adapter, signal: signal) }
            }
        }
    }

    private func isNews(_ peer: Peer, of vehicle: Int) -> Bool {
        namesakes.withLock { $0[vehicle]?.isNews(peer) ?? false }
    }

    /// A module that another program holds was not heard, and a bootloader may have an address of
    /// its own.
    private func compare(_ heard: Advertisement, with vehicle: Int) {
        let job = jobs[vehicle]
        let sighting = job.driver.recogniser.sighting(of: job.serial, in: heard)
        guard !heard.isHeld, sighting?.role == .application else { return }
        namesakes.withLock { $0[vehicle, default: Namesakes()].hears(heard.peer) }
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
