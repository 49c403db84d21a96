import Domain
import Modules
import Radio
import Synchronization

/// Hears on one adapter which of the rollout's modules are there, and how strong.
struct AdapterListener: Sendable {
    /// A first look around goes on until nobody new was heard for this long.
    private static let lull = Duration.seconds(1)
    /// Work does not wait for a look around for longer than this.
    private static let longest = Duration.seconds(5)

    let adapter: Int
    let modules: RollCall
    let shell: SchedulerShell

    /// Lets through whom this adapter has not heard yet.
    var filter: ScanFilter {
        ScanFilter { advertisement in
            modules.members(in: advertisement).contains(where: isNews)
        }
    }

    private func isNews(_ vehicle: Int) -> Bool {
        shell.with { state in
            let facts = state.scheduler.dispatch.vehicles[vehicle]
            guard facts.signals[adapter] == nil else { return false }
            switch facts.phase {
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
                (state.scheduler.isWanted(adapter), state.scheduler.dispatch.unheard == 0)
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
            for vehicle in modules.members(in: heard) where isNews(vehicle) {
                shell.with { $0.scheduler.heard(vehicle, on: adapter, signal: heard.signal) }
                last = time.now
            }
        }
    }
}

/// Counts from 1.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
