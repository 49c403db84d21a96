import Base
package import Commands
package import Operations
package import Radio

/// The modules in reach of one adapter, for a command that only listens.
package struct Surroundings: Sendable {
    let library: ProfileLibrary
    let simulation: SimulationOptions?
    let bus: String?
    let adapters: [String]
    /// The directory with the memory of the simulated depot; nil for a depot in its first state.
    let state: String?
    let context: Context

    package init(
        _ library: ProfileLibrary,
        simulation: SimulationOptions?,
        bus: String?,
        adapters: [String] = [],
        state: String? = nil,
        _ context: Context
    ) {
        self.library = library
        self.simulation = simulation
        self.bus = bus
        self.adapters = adapters
        self.state = state
        self.context = context
    }

    /// Listens for `length`, or until the modules that were heard are enough, or a signal arrives.
    package func heard(
        for length: Duration,
        until isEnough: @escaping @Sendable (HeardModules) -> Bool = { _ in false }
    ) async throws(CommandError) -> HeardModules {
        let (library, stop) = (library, Signals.catchThem())
        let heard = Monitor(HeardModules())
        let body: @Sendable (any Central, any Timekeeper) async -> Result<Void, CommandError> = {
            central,
            time in
            let problem = await stop.ending(by: time) { () async -> DiscoveryProblem? in
                let discovery = Discovery(central: central, time: time, library: library)
                do throws(DiscoveryProblem) {
                    try await discovery.scan(for: .lasting(length)) { _ in
                        isEnough(
                            heard.withLock { heard in
                                heard.hear(discovery.modules.value)
                                return heard
                            }
                        )
                    }
                    return nil
                } catch { return error == .unexpected(.cancelled) ? nil : error }
            }
            guard let problem else { return .success(()) }
            return .failure(CommandError(.unavailable, problem.sentence, hint: problem.remedy))
        }
        guard let simulation else {
            try await HostBluetooth.use(
                bus: bus,
                state: state,
                adapters: adapters,
                context,
                body
            )
            return heard.withLock { $0 }
        }
        try await SimulatedCommand.run(
            simulation,
            context,
            library,
            keptIn: state,
            adapter: adapters.first,
            body
        ).get()
        return heard.withLock { $0 }
    }
}
