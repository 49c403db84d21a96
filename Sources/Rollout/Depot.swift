package import Base
package import Radio
package import Store

/// The resources that an execution shares with the others of its run.
package struct Depot: Sendable {
    package let rollout: String
    package let run: Int
    /// The adapter: an execution takes it and gives it back.
    package private(set) var air: any Airtime
    package let time: any Timekeeper
    package let journal: Journal
    package let events: EventStream
    package private(set) var stop: StopSignal
    package let rules: RolloutRules
    /// The longest time until people's requests in the journal are read and new events are written.
    let askPause: Duration
    /// How much time of adapters a vehicle may use.
    package private(set) var airtime: Duration?
    /// Decides who may touch a module: the journal, unless another coordinator is given.
    package let coordinator: any Coordinator
    /// An adapter, by its name, in the role to which GO devices connect; nil when it does not have
    /// this role.
    package let peripherals: @Sendable (String) -> (any Peripheral)?
    /// The image that another rollout began to send; nil when it is not available.
    package let image: @Sendable (Debt) async -> UpdateJob?
    /// The conditions of an update that another rollout began; nil when they are not known here.
    package let terms: @Sendable (Debt) async -> UpdateTerms?
    /// Images of which no module gets a byte, no matter which run began to send them.
    package let denied: Set<SHA256Digest>
    /// A step that another execution owes the vehicle, from its text in a manifest.
    package let step: @Sendable (VehicleID, String) -> JobStep?
    /// The hold that the verdict of this execution sets when it trips the gate.
    private(set) var gate: @Sendable (Outcome, FailureClass?, _ touched: Bool) -> GateHold? = {
        _,
        _,
        _ in nil
    }
    /// How long the execution with this verdict used the adapter; nil when this is no measure of an
    /// update.
    private(set) var measure: @Sendable (Verdict) -> Measure? = { _ in nil }
    /// The verdict of the operator's program on a vehicle with its new image.
    package let judge: @Sendable (Judgement) async -> Judgement.Verdict
    /// Unpredictable random numbers.
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
        terms: @escaping @Sendable (Debt) async -> UpdateTerms? = { _ in nil },
        denied: Set<SHA256Digest> = [],
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
        self.terms = terms
        self.denied = denied
        self.step = step
        self.judge = judge
        self.chance = chance
    }

    /// The adapter; with a fence when the right of the execution can end.
    package var central: any Central {
        guard let fence = stop.fence else { return air.central }
        return FencedCentral(central: air.central, fence: fence)
    }

    var peripheral: (any Peripheral)? {
        let peripheral = peripherals(air.central.adapter)
        guard let fence = stop.fence else { return peripheral }
        return peripheral.map { FencedPeripheral(peripheral: $0, fence: fence) }
    }

    /// The same for one execution, with its own turns, stop signal, effect of its verdict on the
    /// gate, and measure.
    func with(
        air: any Airtime,
        stop: StopSignal,
        airtime: Duration?,
        gate: @escaping @Sendable (Outcome, FailureClass?, _ touched: Bool) -> GateHold?,
        measure: @escaping @Sendable (Verdict) -> Measure?
    ) -> Depot {
        var depot = self
        (depot.air, depot.stop, depot.airtime) = (air, stop, airtime)
        (depot.gate, depot.measure) = (gate, measure)
        return depot
    }
}
