import Base
import Radio
import Store
import Synchronization

/// The scheduler for executions: owns the state machine, and wakes executions that get a turn.
///
/// Every decision is one step of the machine under the lock; waiting tasks are resumed after it.
final class SchedulerShell: Sendable {
    struct State {
        var scheduler: Scheduler
        var centrals: [any Central]
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Actions for the run's own task.
        var actions: [Scheduler.Action] = []
        var stops: [Int: StopSignal] = [:]
        /// Requested when the vehicles with one of the window's times are to stop, by its index.
        var halts: [Int: StopSignal] = [:]
        var failure: JournalError?
        /// Adapters that failed an execution, and were not reported yet.
        var losses: [(adapter: String, error: RadioError)] = []
        /// Vehicles of which it was reported that two modules have their serial.
        var doubles: Set<Int> = []
        /// Adapters that do not work, with their errors, times and numbers of failures in a row.
        var ill: [Int: Illness] = [:]
    }

    private let time: any Timekeeper
    private let state: Mutex<State>
    let bell = Bell()

    init(_ scheduler: Scheduler, _ centrals: [any Central], time: any Timekeeper) {
        self.time = time
        state = Mutex(State(scheduler: scheduler, centrals: centrals))
    }

    /// Reads or changes the state.
    func with<R>(_ body: (inout State) -> R) -> R {
        state.withLock { body(&$0) }
    }

    // MARK: For executions

    func central(of vehicle: Int) -> any Central {
        with { $0.centrals[$0.scheduler.dispatch.adapter(of: vehicle) ?? 0] }
    }

    func gaveBack(_ vehicle: Int) {
        with { $0.scheduler.gaveBack(vehicle, at: time.now) }
        advance()
    }

    func take(_ vehicle: Int, _ need: AirtimeNeed) async {
        await wait(vehicle) { $0.asks(vehicle, need) }
    }

    func takeLink(_ vehicle: Int) async {
        await wait(vehicle) { $0.asksForLink(vehicle) }
    }

    /// Waits for what the vehicle asks for; `asks` returns true when it has that already.
    private func wait(_ vehicle: Int, _ asks: (inout Scheduler) -> Bool) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let has = with { state in
                // An execution that is to stop does not wait in vain.
                if state.stops[vehicle]?.isRequested ?? false {
                    state.scheduler.leavesLine(vehicle)
                    return true
                }
                if asks(&state.scheduler) { return true }
                state.waiters[vehicle] = continuation
                return false
            }
            if has { continuation.resume() } else { advance() }
        }
    }

    func failed(_ vehicle: Int, _ error: RadioError) {
        with { state in
            let dispatch = state.scheduler.dispatch
            guard let adapter = dispatch.adapter(of: vehicle) else { return }
            if dispatch.adapters[adapter].isUsable {
                state.losses.append((dispatch.adapters[adapter].name, error))
            }
            state.fallsIll(adapter, error, at: time.now)
        }
        bell.ring()
    }

    func shows(_ vehicle: Int, _ sign: LinkSign) -> Bool {
        with { $0.scheduler.shows(vehicle, sign, at: time.now) }
    }

    // MARK: For the run

    /// The adapters that failed since the last call.
    func takeLosses() -> [(adapter: String, error: RadioError)] {
        with { state in
            defer { state.losses = [] }
            return state.losses
        }
    }

    /// Takes the machine's next step, wakes executions that got a turn, and leaves the other
    /// actions to the run.
    func advance() {
        let wake: [CheckedContinuation<Void, Never>] = with { state in
            var wake: [CheckedContinuation<Void, Never>] = []
            for action in state.scheduler.step(at: time.now, wall: time.wallTime) {
                if case .goOn(let vehicle, _) = action {
                    if let waiter = state.waiters.removeValue(forKey: vehicle) {
                        wake.append(waiter)
                    }
                } else {
                    state.actions.append(action)
                }
            }
            // A stop also reaches executions that wait in line.
            for vehicle in state.waiters.keys.sorted()
            where state.stops[vehicle]?.isRequested ?? false {
                state.scheduler.leavesLine(vehicle)
                if let waiter = state.waiters.removeValue(forKey: vehicle) { wake.append(waiter) }
            }
            return wake
        }
        for waiter in wake { waiter.resume() }
        let hasWork = with { !$0.actions.isEmpty || $0.scheduler.isOver }
        if hasWork { bell.ring() }
    }

    func takeActions() -> [Scheduler.Action] {
        with { state in
            defer { state.actions = [] }
            return state.actions
        }
    }

    func add(_ actions: [Scheduler.Action]) { with { $0.actions += actions } }
}

extension SchedulerShell.State {
    /// An adapter that failed gets no work for some time, which is longer the more often it fails.
    mutating func fallsIll(_ adapter: Int, _ error: RadioError, at now: Moment) {
        guard scheduler.dispatch.adapters[adapter].isUsable else { return }
        let times = min((ill[adapter]?.times ?? 0) + 1, 5)
        ill[adapter] = Illness(
            error: error,
            since: ill[adapter]?.since ?? now,
            last: now,
            until: now.advanced(by: .seconds(5 << (times - 1))),
            times: times
        )
        scheduler.lost(adapter)
    }

    /// An adapter has done something useful.
    mutating func works(_ adapter: Int) {
        // An adapter that has failed since then must still be tried again first.
        guard scheduler.dispatch.adapters[adapter].isUsable else { return }
        ill[adapter] = nil
    }

    /// The error of the adapters when each was tried in vain for this long; nil while one may work.
    func fault(after patience: Duration) -> RadioError? {
        let all = scheduler.dispatch.adapters.indices.map { ill[$0] }
        guard let last = all.last, let error = last?.error,
            all.allSatisfy({ $0.map { $0.since.duration(to: $0.last) >= patience } ?? false })
        else { return nil }
        return error
    }

    /// Tries adapters again whose pause is over; returns which.
    mutating func recover(at now: Moment) -> [Int] {
        let due = ill.filter { $0.value.until <= now }.keys.sorted()
            .filter { !scheduler.dispatch.adapters[$0].isUsable }
        for adapter in due { scheduler.found(adapter) }
        return due
    }
}

extension SchedulerShell.State {
    /// What the run waits for: an adapter, while it needs one and none works.
    mutating func outlook(at now: Moment, wall: WallTime, _ patience: Duration) -> Outlook {
        let outlook = scheduler.outlook(wall: wall)
        let isAlone = scheduler.dispatch.adapters.allSatisfy { !$0.isUsable }
        // Once the adapters are given up, they are not tried again.
        guard outlook.needsRadio, isAlone, fault(after: patience) == nil,
            let next = ill.values.map(\.until).min(),
            let last = ill.values.max(by: { $0.since < $1.since })
        else { return outlook }
        // Only a failure after this time ends the run.
        let end = max(next, last.since.advanced(by: patience))
        return .host(
            why: "\(last.error)",
            again: wall.advanced(by: now.duration(to: next)),
            until: wall.advanced(by: now.duration(to: end))
        )
    }
}

/// An adapter that does not work.
struct Illness {
    let error: RadioError
    /// When it failed for the first time, and for the last.
    let since: Moment
    let last: Moment
    /// It gets no work before this time.
    let until: Moment
    let times: Int
}

/// One execution's turns.
struct VehicleAirtime: Airtime {
    let vehicle: Int
    let shell: SchedulerShell

    var central: any Central { shell.central(of: vehicle) }
    var nearness: Nearness? { shell.with { $0.scheduler.dispatch.nearness(of: vehicle) } }
    func giveBack() { shell.gaveBack(vehicle) }
    func take(for need: AirtimeNeed) async { await shell.take(vehicle, need) }
    func takeLink() async { await shell.takeLink(vehicle) }
    func failed(_ error: RadioError) { shell.failed(vehicle, error) }
    func shows(_ sign: LinkSign) -> Bool { shell.shows(vehicle, sign) }
    var isExcess: Bool { shell.with { $0.scheduler.dispatch.isExcess(vehicle) } }
}
