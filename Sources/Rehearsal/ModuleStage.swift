import BlueZ
import DBus
import Domain
import Radio
import Simulation

/// Serves one simulated module from one real adapter: what it shows in the air is shown there.
struct ModuleStage: Sendable {
    /// How often the module is looked at.
    private static let glance = Duration.milliseconds(40)

    let label: String
    let adapter: String
    let depot: SimulatedDepot
    let host: RehearsalHost
    let events: AsyncStream<HostEvent>
    let entrance: AsyncStream<HostEvent>.Continuation
    let note: @Sendable (RehearsalNote) -> Void

    /// Until the task is cancelled.
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

    private struct State {
        var isReady = false
        var face = ModuleFace(broadcast: nil, table: [:])
        var session: LinkSession?
        /// What is registered at present.
        var served: [Characteristic: CharacteristicFlags]?
        var advertised: Broadcast?
    }

    /// Tells each time the module looks different.
    private func watchModule() async {
        var last: ModuleFace?
        while !Task.isCancelled {
            let face = await depot.simulation.air.arrange { world -> ModuleFace? in
                guard let device = world.devices.first(where: { $0.label == label }) else {
                    return nil
                }
                return ModuleFace(broadcast: device.broadcast, table: device.characteristics)
            }
            if let face, face != last {
                last = face
                entrance.yield(.face(face))
            }
            await depot.simulation.time.sleep(for: Self.glance, "what \(label) shows")
        }
    }

    private func take(
        _ event: HostEvent,
        _ state: inout State,
        _ group: inout TaskGroup<Void>
    ) {
        switch event {
        case .ready:
            state.isReady = true
            note(.serviceBack(adapter: adapter))
        case .void:
            note(.serviceGone(adapter: adapter))
            state.isReady = false
            state.served = nil
            state.advertised = nil
            state.session?.end()
            state.session = nil
        case .arrived(let central):
            // One central at a time: another one is not answered.
            guard state.session == nil, let broadcast = state.face.broadcast else { return }
            note(.connected(module: label, adapter: adapter, central: Self.address(of: central)))
            let session = LinkSession(central: central)
            state.session = session
            let place = LinkPlace(
                host: host,
                depot: depot,
                adapter: adapter,
                module: Peer(handle: broadcast.address)
            )
            group.addTask { await session.run(place) }
        case .left(let central):
            guard let session = state.session, session.central == central else { return }
            note(.disconnected(module: label, adapter: adapter))
            session.end()
            state.session = nil
        case .asked(let request):
            guard let session = state.session else {
                let error = ErrorReply("org.bluez.Error.Failed", "the module is not there")
                return request.call.fail(error)
            }
            session.take(request)
        case .released: state.advertised = nil
        case .face(let face): state.face = face
        }
    }

    /// Registers what the module shows now; while it has a link nothing of it changes.
    private func show(_ state: inout State) async {
        guard state.isReady else { return }
        guard state.session == nil else {
            if state.advertised != nil {
                state.advertised = nil
                _ = await host.advertise(nil)
            }
            return
        }
        let broadcast = state.face.broadcast
        let table = broadcast == nil ? nil : state.face.table
        if state.served != table {
            state.advertised = nil
            _ = await host.advertise(nil)
            state.served = table
            if let refusal = await host.serve(table) {
                note(.refused(adapter: adapter, what: refusal))
            }
            if table == nil { note(.silent(module: label, adapter: adapter)) }
        }
        if state.advertised != broadcast {
            state.advertised = broadcast
            if let refusal = await host.advertise(broadcast) {
                note(.refused(adapter: adapter, what: refusal))
            } else if let broadcast {
                let name = broadcast.name ?? "nobody"
                note(.advertises(module: label, adapter: adapter, name: name))
            }
        }
    }

    /// A central's address, which is the last part of its object's path.
    private static func address(of central: ObjectPath) -> String {
        String(central.name.dropFirst(4).map { $0 == "_" ? ":" : $0 })
    }
}
