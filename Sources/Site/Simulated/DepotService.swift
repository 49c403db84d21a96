import Base
package import BlueZ
package import Commands
import Lab
package import Operations
import Rollout
package import Simulation
import Store

/// Serves a simulated depot to other programs, in real time, until a signal arrives.
package struct DepotService: Sendable {
    /// Where the depot is served.
    package enum Target: Sendable {
        /// As the Bluetooth service on a bus.
        case bus(BusAddress)
        /// From adapters of this host, one module on each.
        case adapters([String])
    }

    private let place: Target
    private let state: String
    private let seed: UInt64?
    private let context: Context
    /// Called with each line that is to be shown.
    private let report: @Sendable (String) -> Void

    package init(
        _ place: Target,
        state: String,
        seed: UInt64?,
        _ context: Context,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.place = place
        self.state = state
        self.seed = seed
        self.context = context
        self.report = report
    }

    package func serve(_ file: DepotFile) async throws(CommandError) {
        let stop = Signals.catchThem()
        switch place {
        case .bus(let address): try await remember(file, on: address, until: stop)
        case .adapters(let names): try await rehearse(file, on: names, until: stop)
        }
    }

    /// Serves from adapters; nothing is kept: the modules begin from the start each time.
    private func rehearse(
        _ file: DepotFile,
        on adapters: [String],
        until stop: StopSignal
    ) async throws(CommandError) {
        try await AdapterRehearsal.serve(
            file,
            on: adapters,
            seed: seed,
            context,
            until: stop
        ) { [report] note in report("\(note)\n") }
    }

    private func remember(
        _ file: DepotFile,
        on address: BusAddress,
        until stop: StopSignal
    ) async throws(CommandError) {
        _ = try StateDirectory.prepared(at: state)
        let memory = try DepotMemoryFile.path(of: file, in: state)
        try await serve(file, memory, on: address, until: stop)
    }

    private func serve(
        _ file: DepotFile,
        _ memory: String,
        on address: BusAddress,
        until stop: StopSignal
    ) async throws(CommandError) {
        let fake: FakeBlueZ
        let clock: RealClock
        do {
            fake = try FakeBlueZ(address, try settings(file, memory))
            clock = RealClock(loop: try EventLoop.start(name: "clock"))
        } catch {
            throw CommandError(.unavailable, "the depot cannot be served", because: ["\(error)"])
        }
        let failure = await begin(fake, file, memory)
        if failure == nil {
            report(readyLine(file, address))
            await stop.ending(by: clock) { await clock.sleepForEver() }
        }
        await fake.close()
        clock.loop.stop()
        if let failure { throw failure }
    }

    private func settings(
        _ file: DepotFile,
        _ memory: String
    ) throws(SimulatedDepot.MemoryFailure) -> FakeBlueZ.Settings {
        var settings = FakeBlueZ.Settings()
        settings.adapters = file.adapters
        settings.linksPerAdapter = file.linksPerAdapter
        settings.steadyLinks = file.steadyLinks
        settings.host = file.host
        settings.seed = seed ?? file.seed
        settings.beginning = try SimulatedDepot.clock(of: file, at: memory)
        settings.wallTime = RealTime().wallTime
        return settings
    }

    private func begin(
        _ fake: FakeBlueZ,
        _ file: DepotFile,
        _ memory: String
    ) async -> CommandError? {
        let populated = await fake.arrange { world -> Result<Void, SimulatedDepot.MemoryFailure> in
            do throws(SimulatedDepot.MemoryFailure) {
                return .success(try SimulatedDepot.populate(world, file, memory))
            } catch { return .failure(error) }
        }
        if case .failure(let error) = populated {
            return CommandError(.cannotCreate, error.description)
        }
        do throws(BusError) {
            try await fake.start()
            return nil
        } catch {
            return CommandError(
                .unavailable,
                "the depot cannot be served on \(fake.address)",
                because: [error.description],
                hint: "the bus must let us own the name org.bluez, and nobody else may have it"
            )
        }
    }

    private func readyLine(_ file: DepotFile, _ address: BusAddress) -> String {
        let count = file.modules.count
        let adapters = file.adapters.joined(separator: ", ")
        return "ready: \(counted(count, "module")) of \(file.name.visible)"
            + " around \(adapters) on \(address)\n"
    }
}

extension RealClock {
    /// Sleeps until the task is cancelled.
    fileprivate func sleepForEver() async {
        while !Task.isCancelled { await sleep(for: .seconds(3_600), "the end of the service") }
    }
}
