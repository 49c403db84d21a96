import Base
import Manifest
import Operations
import Rollout
import Simulation
import Store
import Synchronization

/// One gateway over all nights: its disk, its place, its line to the database, and what runs on it.
final class FleetNightGateway: Sendable {
    private struct State {
        /// The starts that may have rights, as its file has them.
        var starts: [EarlierStart] = []
        var draws: UInt64 = 0
        var host: NightHost?
        var stop: StopSignal?
        /// It was killed; whether the machine lost its power.
        var death: Death?
        var states: [String: ExecutionState] = [:]
    }

    struct Death {
        let isPowerCut: Bool
    }

    let number: Int
    let journal: Journal
    let clock: NightClock
    let line: FleetNightLine
    private let seed: UInt64
    private let state = Mutex(State())

    init(_ number: Int, seed: UInt64, _ journal: Journal, _ time: VirtualTime) {
        self.number = number
        self.seed = seed
        self.journal = journal
        clock = NightClock(time)
        line = FleetNightLine(time)
    }

    var name: String { FleetNightStory.name(number) }

    var starts: [EarlierStart] {
        get { state.withLock { $0.starts } }
        set { state.withLock { $0.starts = newValue } }
    }

    /// 16 bytes that no other start draws.
    func draw() -> [UInt8] {
        let draws = state.withLock { state in
            state.draws += 1
            return state.draws
        }
        var random = SplitMix64(seed: seed ^ UInt64(number + 1) << 40 ^ draws << 20)
        return (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    // MARK: What runs on it

    /// Begins a run in the journal, for its part in the fleet's rollout; returns its number, and who decides for it.
    func beginRun(
        of plan: FrozenPlan,
        _ part: FleetPart,
        as holder: FleetHolder,
        in fleet: FleetDatabase,
        say: @escaping @Sendable (String) -> Void
    ) async throws -> (run: Int, coordinator: FleetCoordinator) {
        let run = try await journal.beginRun(
            rollout: plan.name,
            plan: plan.digest,
            at: clock.wallTime,
            fleet: FleetStart(
                instance: holder.instance,
                gateway: holder.gateway,
                beginning: part.beginning
            )
        )
        let coordinator = FleetCoordinator(
            local: LocalCoordinator(journal: journal, rollout: plan.name, run: run),
            journal: journal,
            fleet: fleet,
            holder: holder,
            rollout: plan.name,
            run: run,
            part: part,
            time: clock,
            say: say
        )
        try await coordinator.begin()
        return (run, coordinator)
    }

    func begins(_ host: NightHost, _ stop: StopSignal) {
        state.withLock { ($0.host, $0.stop, $0.states) = (host, stop, [:]) }
    }

    func ends() { state.withLock { ($0.host, $0.stop) = (nil, nil) } }

    var host: NightHost? { state.withLock { $0.host } }
    var stop: StopSignal? { state.withLock { $0.stop } }
    var states: [String: ExecutionState] { state.withLock { $0.states } }

    func entered(_ id: VehicleID, _ now: ExecutionState?) {
        state.withLock { $0.states[id.text] = now }
        if let now { host?.entered(now.rawValue) }
    }

    // MARK: Its death

    /// Nothing of the process reaches anything from now on.
    func dies(isPowerCut: Bool) async throws {
        state.withLock { $0.death = $0.death ?? Death(isPowerCut: isPowerCut) }
        line.dies()
        try await journal.cut(after: 0)
        // What is left of it is to end soon; it can do nothing any more.
        stop?.request()
    }

    /// When nothing is left of a process that was killed: what is on the disk is there again.
    func isRaised() async throws -> Bool {
        var death = state.withLock { $0.death }
        if death == nil, try await journal.isCut() { death = Death(isPowerCut: false) }
        // A cut that has not come by now must not come while people say something.
        try await journal.cut(after: nil)
        guard let death else { return false }
        state.withLock { $0.death = nil }
        if death.isPowerCut { try await journal.losePower() }
        line.rises()
        return true
    }
}
