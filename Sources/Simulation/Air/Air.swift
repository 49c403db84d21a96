import Base
import Radio

/// The simulated air, in both `Radio` roles: the program's adapters on one side, devices on the
/// other.
///
/// Its state belongs to the thread of the simulation. The simulation's own tasks run on that thread
/// and use it directly, without a hop to an executor for each packet; other threads hop.
package final class Air: Sendable {
    private let lane: WorldLane
    private let time: VirtualTime
    private let gate: Gate
    // Not sendable: `on`, `wait` and `atOnce` use it on the lane's thread only, and the clock calls
    // the alarm on that thread.
    private nonisolated(unsafe) let traffic: AirTraffic

    /// Brings calls of other threads to the simulation's thread.
    private actor Gate {
        private let lane: WorldLane

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            lane.asUnownedSerialExecutor()
        }

        init(_ lane: WorldLane) { self.lane = lane }

        func pass<R: Sendable>(_ body: @Sendable () async -> R) async -> R { await body() }
    }

    init(lane: WorldLane, time: VirtualTime, seed: UInt64) {
        self.lane = lane
        self.time = time
        gate = Gate(lane)
        traffic = AirTraffic(time: time, seed: seed)
        time.onAlarm { [weak self] in self?.traffic.world.runDue() }
    }

    /// Runs `body` on the simulation's thread; immediately when the caller is there.
    func on<R: Sendable, E: Error>(
        _ body: @Sendable (AirTraffic) throws(E) -> R
    ) async throws(E) -> R {
        if lane.isOwn { return try body(traffic) }
        return try await gate.pass {
            Result { () throws(E) -> R in try body(self.traffic) }
        }.get()
    }

    /// Calls `ask` and waits for its result, until the deadline passes or the task is cancelled.
    func wait<Value: Sendable>(
        before deadline: Moment?,
        for ask: @Sendable (AirTraffic, Pending<Value>) throws(RadioError) -> Void
    ) async throws(RadioError) -> Value {
        guard lane.isOwn else {
            return try await gate.pass {
                await Result { () async throws(RadioError) -> Value in
                    try await self.wait(before: deadline, for: ask)
                }
            }.get()
        }
        let pending = Pending<Value>()
        try ask(traffic, pending)
        if pending.isOpen {
            let ticket = traffic.begin(pending, before: deadline)
            await withTaskCancellationHandler {
                await withUnsafeContinuation { pending.wait($0) }
            } onCancel: {
                time.schedule(at: time.now) { [self] in traffic.cancel(ticket) }
            }
        }
        guard let result = pending.result else { preconditionFailure("a wait without a result") }
        return try result.get()
    }

    /// Runs `body` for a caller on the simulation's thread, such as an action of its clock.
    package func atOnce<R>(_ body: (AirTraffic) -> R) -> R {
        lane.checkIsolated()
        return body(traffic)
    }

    /// The current waits on this air.
    var waits: [String] { atOnce { $0.waitList } }

    // MARK: Building the world

    /// Lets `body` put things into the world, or change them.
    package func arrange<R: Sendable>(_ body: @Sendable (World) -> R) async -> R {
        await on { body($0.world) }
    }

    package func addAdapter(_ name: String, linkLimit: Int = 7, steadyLinks: Int? = nil) async {
        await on { $0.addAdapter(name, linkLimit: linkLimit, steadyLinks: steadyLinks) }
    }

    /// The adapters that are plugged in.
    package var adapterNames: [String] { get async { await on { $0.adapterNames } } }

    /// How long an adapter had links, or was making them, summed over its links.
    package func linkTime(of adapter: String) async -> Duration {
        await on { $0.linkTime(of: adapter) }
    }

    /// How long an adapter was sending or receiving in connection events.
    package func airTime(of adapter: String) async -> Duration {
        await on { $0.airTime(of: adapter) }
    }

    /// Gives links of this adapter this MTU from now on: that of the real link which they
    /// represent.
    package func setMTU(_ mtu: Int, of adapter: String) async {
        await on { $0.setMTU(mtu, of: adapter) }
    }

    // MARK: Faults of the host

    package func setPower(_ adapter: String, on isOn: Bool) async {
        await on { $0.setPower(adapter, on: isOn) }
    }

    /// Unplugs the adapter; `addAdapter` plugs one in again.
    package func removeAdapter(_ name: String) async { await on { $0.removeAdapter(name) } }

    /// Restarts the host's Bluetooth service: all its state is lost.
    package func restartStack() async { await on { $0.restartStack() } }

    // MARK: Ends

    /// Closes a link whose facade is gone: nothing can ask for it again.
    func release(_ link: Int) {
        time.schedule(at: time.now) { [weak self] in self?.atOnce { $0.disconnect(link) } }
    }
}
