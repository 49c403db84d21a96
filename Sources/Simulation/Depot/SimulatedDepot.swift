package import Base

/// A depot of simulated modules on the air of one simulation.
package struct SimulatedDepot: Sendable {
    package let file: DepotFile
    package let simulation: Simulation

    /// Why a depot's memory could not be read or created.
    package struct MemoryFailure: Error, Sendable, CustomStringConvertible {
        package let description: String

        init(description: String) { self.description = description }

        /// A system call failed with this error.
        init(_ call: String, _ path: String, _ number: Int32) {
            description = "\(path): \(call) failed with error \(number)"
        }
    }

    /// Sets the depot up.
    ///
    /// With a `memoryPath` the modules keep their flash in that file, so that a depot continues
    /// where it was when its process ended, and so does virtual time. A depot in which no time has
    /// passed yet begins at `notBefore`, the time at which another depot stopped.
    package init(
        _ file: DepotFile,
        seed: UInt64? = nil,
        memoryPath: String? = nil,
        beginning: WallTime = Simulation.firstEvening,
        notBefore: WallTime? = nil
    ) throws(MemoryFailure) {
        self.file = file
        let clock = try memoryPath.map { (path) throws(MemoryFailure) in
            try Self.memory(path, file).clock
        }
        let earliest = Moment(nanoseconds: 0).advanced(
            by: notBefore.map { max(.zero, beginning.duration(to: $0)) } ?? .zero
        )
        simulation = Simulation(
            seed: seed ?? file.seed,
            beginning: beginning,
            now: clock.flatMap { $0 > 0 ? Moment(nanoseconds: $0) : nil } ?? earliest
        )
        self.memoryPath = memoryPath
    }

    private let memoryPath: String?

    /// Puts adapters and modules on the air: the first thing to do inside the simulation.
    package func populate() async throws(MemoryFailure) {
        for adapter in file.adapters {
            await simulation.air.addAdapter(
                adapter,
                linkLimit: file.linksPerAdapter,
                steadyLinks: file.steadyLinks
            )
        }
        try await simulation.air.on { (air) throws(MemoryFailure) in
            try Self.populate(air.world, file, memoryPath)
        }
    }

    /// Stores the current virtual time, even when no module has written anything since.
    package func keepTime() throws(MemoryFailure) {
        guard let memoryPath else { return }
        let memory = try Self.memory(memoryPath, file)
        memory.clock = max(memory.clock, simulation.time.now.nanoseconds)
    }

    /// The virtual time when the depot's memory was last written.
    package static func clock(
        of file: DepotFile,
        at memoryPath: String
    ) throws(MemoryFailure) -> Moment {
        Moment(nanoseconds: try memory(memoryPath, file).clock)
    }

    /// Puts the modules into a world, with their flash in the file if there is one.
    package static func populate(
        _ world: World,
        _ file: DepotFile,
        _ memoryPath: String?
    ) throws(MemoryFailure) {
        let memory = try memoryPath.map { (path) throws(MemoryFailure) in
            try Self.memory(path, file)
        }
        if let memoryPath { world.diary = try DepotDiary(besides: memoryPath).add }
        for plan in file.modules {
            plan.join(
                ModulePlace(
                    world,
                    slot: memory?.slot(of: plan.serial),
                    imageCapacity: file.imageCapacity
                )
            )
        }
        world.addStrangers(file.host.strangers, every: file.host.strangersInterval)
    }

    private static func memory(
        _ path: String,
        _ file: DepotFile
    ) throws(MemoryFailure) -> DepotMemory {
        let memory = try DepotMemory(path: path, imageCapacity: file.imageCapacity)
        try memory.reserve(file.modules.map(\.serial))
        return memory
    }

    package func radio(_ adapter: String) -> SimulatedRadio {
        SimulatedRadio(adapter: adapter, air: simulation.air)
    }
}
