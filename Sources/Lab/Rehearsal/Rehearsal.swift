package import Base
package import BlueZ
import Families
import Radio
package import Simulation

/// A simulated depot served from real adapters, with one adapter for each module.
package struct Rehearsal: Sendable {
    /// How often the end condition is checked.
    private static let patience = Duration.milliseconds(100)

    private let file: DepotFile
    private let adapters: [String]
    private let radio: BlueZ
    private let clock: any Timekeeper
    private let socket: (notify: GATTUUID, write: GATTUUID)
    private let populate: @Sendable (Air) async -> Void
    private let note: @Sendable (RehearsalNote) -> Void

    /// Serves the depot in the file, with the additions of `populate`.
    ///
    /// `socket` returns the characteristics of a service for a simulated central.
    package init(
        _ file: DepotFile,
        on adapters: [String],
        by radio: BlueZ,
        clock: any Timekeeper,
        socket: (notify: GATTUUID, write: GATTUUID) = (AddOnNumbers.notify, AddOnNumbers.write),
        populate: @escaping @Sendable (Air) async -> Void = { _ in },
        note: @escaping @Sendable (RehearsalNote) -> Void
    ) {
        self.file = file
        self.adapters = adapters
        self.radio = radio
        self.clock = clock
        self.socket = socket
        self.populate = populate
        self.note = note
    }

    /// Plays in real time on the calling thread until `isOver` returns true.
    ///
    /// Changes in the modules are not kept.
    package func play(
        seed: UInt64?,
        until isOver: @escaping @Sendable () -> Bool
    ) -> Result<Void, RehearsalError> {
        do {
            let depot = try SimulatedDepot(file, seed: seed, beginning: clock.wallTime)
            return try depot.simulation.run(pace: .times(1)) { await result(of: depot, isOver) }
        } catch {
            return .failure(.depot("\(error)"))
        }
    }

    private func result(
        of depot: SimulatedDepot,
        _ isOver: @escaping @Sendable () -> Bool
    ) async -> Result<Void, RehearsalError> {
        await withTaskGroup(of: Void.self) { group in
            // Answers of the real host come from outside the simulation, so it must not take a wait
            // for them for a standstill.
            group.addTask {
                while !Task.isCancelled {
                    await depot.simulation.time.sleep(for: Self.patience, "the real host")
                }
            }
            defer { group.cancelAll() }
            do throws(RehearsalError) {
                try await run(depot, isOver)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    private func run(
        _ depot: SimulatedDepot,
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
        let stages = try await stages(for: modules, depot)
        let guests = zip(visitors, adapters.dropFirst(modules.count)).map { label, adapter in
            VisitorStage(
                label: label,
                adapter: adapter,
                depot: depot,
                central: BlueZCentral(adapter, of: radio),
                clock: clock,
                socket: socket,
                note: note
            )
        }
        await withTaskGroup(of: Void.self) { group in
            for stage in stages { group.addTask { await stage.run() } }
            for guest in guests { group.addTask { await guest.run() } }
            while !isOver() {
                // After a loss of the bus, a new connection must be requested.
                try? await radio.attach()
                await depot.simulation.time.sleep(for: Self.patience, "the end of the rehearsal")
            }
            group.cancelAll()
        }
        for stage in stages { await stage.close() }
    }

    /// An adapter for each module.
    private func stages(
        for modules: [String],
        _ depot: SimulatedDepot
    ) async throws(RehearsalError) -> [ModuleStage] {
        var stages: [ModuleStage] = []
        do throws(RehearsalError) {
            for (label, adapter) in zip(modules, adapters) {
                try await check(adapter)
                do throws(RadioError) {
                    stages.append(
                        try await ModuleStage(label, on: adapter, of: radio, depot, note: note)
                    )
                } catch { throw .radio(error) }
            }
            return stages
        } catch {
            for stage in stages { await stage.close() }
            throw error
        }
    }

    /// Checks that the adapter exists and can serve.
    private func check(_ word: String) async throws(RehearsalError) {
        let adapters: [AdapterReport]
        do throws(RadioError) { adapters = try await radio.survey() } catch { throw .radio(error) }
        let found = adapters.first {
            $0.name == word || $0.address.lowercased() == word.lowercased()
        }
        guard let found else { throw .noAdapter(word, others: adapters.map(\.name)) }
        guard found.isPowered else { throw .adapterOff(word) }
        guard found.canServe else { throw .noPeripheralRole(word) }
    }
}
