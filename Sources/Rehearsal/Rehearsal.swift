package import DBus
package import Domain
package import Radio
package import Simulation
import Threads
import Wire

/// A simulated depot served from real adapters: each module by an adapter of its own.
package struct Rehearsal: Sendable {
    /// How often it is asked whether to end.
    private static let patience = Duration.milliseconds(100)

    private let file: DepotFile
    private let adapters: [String]
    private let bus: BusAddress
    private let central: @Sendable (String) -> any Central
    private let clock: any Timekeeper
    private let socket: (notify: GATTUUID, write: GATTUUID)
    private let populate: @Sendable (Air) async -> Void
    private let note: @Sendable (RehearsalNote) -> Void

    /// Serves what stands in the file and what `populate` adds to it.
    ///
    /// A simulated central finds its service's characteristics by `socket`.
    package init(
        _ file: DepotFile,
        on adapters: [String],
        bus: BusAddress,
        central: @escaping @Sendable (String) -> any Central,
        clock: any Timekeeper,
        socket: (notify: GATTUUID, write: GATTUUID) = (AddOnNumbers.notify, AddOnNumbers.write),
        populate: @escaping @Sendable (Air) async -> Void = { _ in },
        note: @escaping @Sendable (RehearsalNote) -> Void
    ) {
        self.file = file
        self.adapters = adapters
        self.bus = bus
        self.central = central
        self.clock = clock
        self.socket = socket
        self.populate = populate
        self.note = note
    }

    /// Plays in real time on the calling thread until `isOver` says so.
    ///
    /// Nothing that the modules went through is kept.
    package func play(
        seed: UInt64?,
        until isOver: @escaping @Sendable () -> Bool
    ) -> Result<Void, RehearsalError> {
        do {
            let depot = try SimulatedDepot(file, seed: seed, beginning: clock.wallTime)
            let loop = try EventLoop.start(name: "rehearsal")
            defer { loop.stop() }
            return try depot.simulation.run(pace: .times(1)) {
                await result(of: depot, loop, isOver)
            }
        } catch let error as ThreadError {
            return .failure(.thread("\(error)"))
        } catch {
            return .failure(.depot("\(error)"))
        }
    }

    private func result(
        of depot: SimulatedDepot,
        _ loop: EventLoop,
        _ isOver: @escaping @Sendable () -> Bool
    ) async -> Result<Void, RehearsalError> {
        await withTaskGroup(of: Void.self) { group in
            // Answers of the real host come from outside: the simulation must not take a wait for
            // them for its end.
            group.addTask {
                while !Task.isCancelled {
                    await depot.simulation.time.sleep(for: Self.patience, "the real host")
                }
            }
            defer { group.cancelAll() }
            do throws(RehearsalError) {
                try await run(depot, loop, isOver)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    private func run(
        _ depot: SimulatedDepot,
        _ loop: EventLoop,
        _ isOver: @escaping @Sendable () -> Bool
    ) async throws(RehearsalError) {
        do throws(SimulatedDepot.MemoryFailure) {
            try await depot.populate()
        } catch { throw .depot(error.description) }
        await populate(depot.simulation.air)
        let (modules, visitors) = await depot.simulation.air.arrange { world in
            (world.devices.map(\.label), world.visitors.map(\.label))
        }
        let all = modules.count + visitors.count
        guard all > 0 else { throw .noModules }
        guard all <= adapters.count else {
            throw .tooFewAdapters(modules: all, adapters: adapters.count)
        }
        for adapter in adapters { await depot.simulation.air.addAdapter(adapter) }
        var stages: [ModuleStage] = []
        for (label, adapter) in zip(modules, adapters) {
            stages.append(stage(label, adapter, depot, loop))
        }
        let hosts = stages.map(\.host)
        do throws(RehearsalError) {
            for host in hosts { try await host.begin() }
        } catch {
            for host in hosts { await host.close() }
            throw error
        }
        let guests = zip(visitors, adapters.dropFirst(modules.count)).map { label, adapter in
            VisitorStage(
                label: label,
                adapter: adapter,
                depot: depot,
                central: central(adapter),
                clock: clock,
                socket: socket,
                note: note
            )
        }
        await withTaskGroup(of: Void.self) { [stages] group in
            for stage in stages { group.addTask { await stage.run() } }
            for guest in guests { group.addTask { await guest.run() } }
            while !isOver() {
                await depot.simulation.time.sleep(for: Self.patience, "the end of the rehearsal")
            }
            group.cancelAll()
        }
        for host in hosts { await host.close() }
    }

    private func stage(
        _ label: String,
        _ adapter: String,
        _ depot: SimulatedDepot,
        _ loop: EventLoop
    ) -> ModuleStage {
        let (events, entrance) = AsyncStream<HostEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(4_096)
        )
        return ModuleStage(
            label: label,
            adapter: adapter,
            depot: depot,
            host: RehearsalHost(adapter, bus, on: loop, events: entrance),
            events: events,
            entrance: entrance,
            note: note
        )
    }
}
