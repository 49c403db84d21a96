package import Domain
package import Journal
package import Radio
import Reports

/// What an execution needs from around it.
package struct Depot: Sendable {
    package let rollout: String
    package let run: Int
    /// The adapter: an execution asks for it and gives it back.
    package private(set) var air: any Airtime
    package let time: any Timekeeper
    package let journal: Journal
    package let events: EventStream
    package private(set) var stop: StopSignal
    package let rules: RolloutRules
    /// How long what people have said in the journal may go unheard, and what has happened unwritten.
    let askPause: Duration
    /// What a vehicle may use of adapters' time.
    package private(set) var airtime: Duration?
    /// Who says that a module may be touched: the journal, unless somebody else is named.
    package let coordinator: any Coordinator
    /// An adapter, by its name, in the role that GO devices come to; nil when it has none.
    package let peripherals: @Sendable (String) -> (any Peripheral)?
    /// The image that another rollout began to send, if it can be had; else nil.
    package let image: @Sendable (Debt) async -> UpdateJob?
    /// A step that another execution owes the vehicle, by the words of a manifest.
    package let step: @Sendable (VehicleID, String) -> JobStep?
    /// The hold that the verdict of this execution brings, when it trips the gate.
    private(set) var gate: @Sendable (Outcome, FailureClass?, _ touched: Bool) -> Hold? = {
        _,
        _,
        _ in nil
    }
    /// How long the execution with this verdict took the adapter; nil when it is no measure of an update.
    private(set) var measure: @Sendable (Verdict) -> Measure? = { _ in nil }
    /// What the operator's program says of a vehicle with its new image.
    package let judge: @Sendable (Judgement) async -> Judgement.Verdict
    /// Numbers that nobody can foresee.
    package let chance: @Sendable () -> UInt64

    package init(
        rollout: String,
        run: Int,
        air: any Airtime,
        time: any Timekeeper,
        journal: Journal,
        events: EventStream,
        stop: StopSignal,
        rules: RolloutRules,
        askPause: Duration = .seconds(2),
        coordinator: (any Coordinator)? = nil,
        peripherals: @escaping @Sendable (String) -> (any Peripheral)? = { _ in nil },
        image: @escaping @Sendable (Debt) async -> UpdateJob? = { _ in nil },
        step: @escaping @Sendable (VehicleID, String) -> JobStep? = { _, _ in nil },
        judge: @escaping @Sendable (Judgement) async -> Judgement.Verdict = { _ in
            .unwell("nothing here can run the program that judges it")
        },
        chance: @escaping @Sendable () -> UInt64 = {
            var source = SystemRandomNumberGenerator()
            return source.next()
        }
    ) {
        self.rollout = rollout
        self.run = run
        self.air = air
        self.time = time
        self.journal = journal
        self.events = events
        self.stop = stop
        self.rules = rules
        self.askPause = askPause
        self.coordinator =
            coordinator ?? LocalCoordinator(journal: journal, rollout: rollout, run: run)
        self.peripherals = peripherals
        self.image = image
        self.step = step
        self.judge = judge
        self.chance = chance
    }

    /// Of an execution whose right can end, with a fence around it.
    package var central: any Central {
        guard let fence = stop.fence else { return air.central }
        return FencedCentral(central: air.central, fence: fence)
    }

    var peripheral: (any Peripheral)? {
        let peripheral = peripherals(air.central.adapter)
        guard let fence = stop.fence else { return peripheral }
        return peripheral.map { FencedPeripheral(peripheral: $0, fence: fence) }
    }

    /// The same for one execution, with its own turns, its own signal to stop, what its verdict does
    /// to the gate, and what is measured by it.
    func with(
        air: any Airtime,
        stop: StopSignal,
        airtime: Duration?,
        gate: @escaping @Sendable (Outcome, FailureClass?, _ touched: Bool) -> Hold?,
        measure: @escaping @Sendable (Verdict) -> Measure?
    ) -> Depot {
        var depot = self
        (depot.air, depot.stop, depot.airtime) = (air, stop, airtime)
        (depot.gate, depot.measure) = (gate, measure)
        return depot
    }
}
