import Base
import BlueZ
import Radio
import Simulation

/// Serves one simulated module from one real adapter, which shows what the module shows in the air.
struct ModuleStage: Sendable {
    /// How often the module is checked for changes.
    private static let glance = Duration.milliseconds(40)

    let label: String
    let adapter: String
    let depot: SimulatedDepot
    let radio: BlueZ
    let note: @Sendable (RehearsalNote) -> Void
    /// How the module bonds; nil when it cannot.
    private let bond: AirSecurity.Plan?
    private let station: UInt64
    private let events: AsyncStream<StageEvent>
    private let entrance: AsyncStream<StageEvent>.Continuation

    /// Takes the adapter for this module.
    init(
        _ label: String,
        on adapter: String,
        of radio: BlueZ,
        _ depot: SimulatedDepot,
        note: @escaping @Sendable (RehearsalNote) -> Void
    ) async throws(RadioError) {
        self.label = label
        self.adapter = adapter
        self.depot = depot
        self.radio = radio
        self.note = note
        let (events, entrance) = AsyncStream<StageEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(4_096)
        )
        self.events = events
        self.entrance = entrance
        bond = await depot.simulation.air.arrange { world in
            world.devices.first { $0.label == label }?.security?.plan
        }
        // The vehicle's side of a pairing: it agrees to what its plan allows.
        let policy = bond.map { BondPolicy($0.refuses ? .none : $0.pairing) } ?? .unbonded
        station = try await radio.openStation(on: adapter, bond: policy) { event in
            guard case .dropped = entrance.yield(.station(event)) else { return }
            guard case .asked(let call, _) = event else { return }
            call.fail(ErrorReply("org.bluez.Error.InProgress", "too much at once"))
        }
        note(.serviceBack(adapter: adapter))
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watchModule() }
            var state = State()
            for await event in events {
                take(event, &state, &group)
                await show(&state)
            }
            state.session?.end()
            group.cancelAll()
        }
    }

    /// Releases the adapter.
    func close() async { await radio.closeStation(station) }

    private struct State {
        var face = ModuleFace(broadcast: nil, table: [:])
        var session: LinkSession?
        /// The requested state of the station, and the last reported broadcast.
        var shown = ModuleFace(broadcast: nil, table: [:])
        var told: Broadcast?
    }

    /// Sends an event each time the module's appearance changes.
    private func watchModule() async {
        var last: ModuleFace?
        var told: String?
        while !Task.isCancelled {
            let face = await depot.simulation.air.arrange { world -> ModuleFace? in
                guard let device = world.devices.first(where: { $0.label == label }) else {
                    return nil
                }
                var face = ModuleFace(
                    broadcast: device.broadcast,
                    table: device.characteristics
                )
                face.pairing = device.security?.plan.pairing ?? .none
                // While it is busy, its record is not shown.
                if device.broadcast != nil { face.record = device.record }
                return face
            }
            if let face, face != last {
                if let record = face.record, record != told {
                    told = record
                    note(.record(module: label, adapter: adapter, record))
                }
                last = face
                entrance.yield(.face(face))
            }
            await depot.simulation.time.sleep(for: Self.glance, "what \(label) shows")
        }
    }

    // MARK: Events

    private func take(
        _ event: StageEvent,
        _ state: inout State,
        _ group: inout TaskGroup<Void>
    ) {
        switch event {
        case .face(let face): state.face = face
        case .station(.usable): note(.serviceBack(adapter: adapter))
        case .station(.void):
            note(.serviceGone(adapter: adapter))
            state.told = nil
            state.session?.end()
            state.session = nil
        case .station(.arrived(let central)): arrived(central, &state, &group)
        case .station(.left(let central)):
            guard let session = state.session, session.central == central else { return }
            note(.disconnected(module: label, adapter: adapter))
            session.end()
            state.session = nil
        case .station(.asked(let call, let characteristic)):
            asked(call, characteristic, state.session)
        case .station(.settled): settled(&state)
        case .station(.refused(let step, let refusal)):
            note(.refused(adapter: adapter, what: "\(step): \(refusal)"))
        }
    }

    /// Only one central at a time: another one gets no answer.
    private func arrived(
        _ central: ObjectPath,
        _ state: inout State,
        _ group: inout TaskGroup<Void>
    ) {
        guard state.session == nil, let broadcast = state.face.broadcast else { return }
        note(.connected(module: label, adapter: adapter, central: Self.address(of: central)))
        let session = LinkSession(central: central)
        state.session = session
        let place = LinkPlace(
            radio: radio,
            depot: depot,
            adapter: adapter,
            module: Peer(handle: broadcast.address),
            bond: BondPolicy(state.face.pairing, mayRenew: true)
        )
        group.addTask { await session.run(place) }
    }

    private func asked(
        _ call: IncomingCall,
        _ characteristic: Characteristic,
        _ session: LinkSession?
    ) {
        guard let request = HostRequest(call, on: characteristic) else {
            switch call.member {
            case "StopNotify", "Confirm": return call.reply()
            default:
                return call.fail(ErrorReply("org.bluez.Error.NotSupported", "not served"))
            }
        }
        guard let session else {
            return call.fail(ErrorReply("org.bluez.Error.Failed", "the module is not there"))
        }
        session.take(request)
    }

    private func settled(_ state: inout State) {
        guard state.told != state.shown.broadcast else { return }
        state.told = state.shown.broadcast
        if let broadcast = state.shown.broadcast {
            note(
                .advertises(module: label, adapter: adapter, name: broadcast.name ?? "nobody")
            )
        } else if state.session == nil {
            note(.silent(module: label, adapter: adapter))
        }
    }

    // MARK: Appearance

    /// Shows the module's current state; while it has a link, only its advertisement is removed.
    private func show(_ state: inout State) async {
        var wanted = state.shown
        if state.session == nil {
            wanted = state.face
            wanted.record = nil
            if wanted.broadcast == nil { wanted = ModuleFace(broadcast: nil, table: [:]) }
        } else {
            wanted.broadcast = nil
        }
        guard wanted != state.shown else { return }
        state.shown = wanted
        await radio.show(
            wanted.table.isEmpty ? nil : ServedTable(wanted.table, secured: wanted.pairing),
            wanted.broadcast.map { AdvertisedFace($0) },
            at: station
        )
    }

    /// A central's address, which is the last part of its object's path.
    private static func address(of central: ObjectPath) -> String {
        String(central.name.dropFirst(4).map { $0 == "_" ? ":" : $0 })
    }
}

extension AdvertisedFace {
    fileprivate init(_ broadcast: Broadcast) {
        self.init(name: broadcast.name, services: broadcast.services)
        manufacturerData = broadcast.manufacturerData
        isDiscoverable = true
        interval = broadcast.interval
    }
}
