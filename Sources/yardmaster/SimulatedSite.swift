import Commands
import Domain
import Glibc
import Manifest
import Simulation
import Threads

/// All that a run in a simulated depot is made of.
struct SimulatedJob: Sendable {
    let run: RunJob
    let file: DepotFile
    let options: SimulationOptions

    var plan: FrozenPlan { run.plan }
    var state: String { run.state }
}

/// Where simulations run: a thread of its own, since virtual time is spent in one long call.
actor SimulatedSite {
    private nonisolated let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(executor: ThreadExecutor) { self.executor = executor }

    func run(_ job: SimulatedJob) -> Result<ExitCode, CommandError> {
        do throws(CommandError) {
            return .success(try simulate(job))
        } catch {
            return .failure(error)
        }
    }

    private func simulate(_ job: SimulatedJob) throws(CommandError) -> ExitCode {
        let folder = job.state + "/simulation"
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw CommandError(
                .cannotCreate,
                "cannot make \(folder)",
                because: [Descriptor.text(of: errno)]
            )
        }
        let depot: SimulatedDepot
        do throws(SimulatedDepot.MemoryFailure) {
            depot = try SimulatedDepot(
                job.file,
                seed: job.options.seed,
                memoryPath: "\(folder)/\(Self.fileName(job.file.name)).memory"
            )
        } catch {
            throw CommandError(.cannotCreate, error.description)
        }
        let pace: Simulation.Pace =
            job.options.pace.map { .times($0) } ?? .asFastAsPossible
        let result: Result<ExitCode, CommandError>
        do throws(Simulation.Deadlock) {
            result = try depot.simulation.run(pace: pace) {
                await SimulatedRun(job: job, depot: depot).result()
            }
        } catch {
            throw CommandError(.internal, error.description)
        }
        return try result.get()
    }

    /// A depot's name as part of a file's name.
    private static func fileName(_ name: String) -> String {
        String(
            decoding: name.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: byte
                default: 0x5F
                }
            },
            as: UTF8.self
        )
    }
}

/// The run itself, in virtual time.
private struct SimulatedRun {
    let job: SimulatedJob
    let depot: SimulatedDepot

    func result() async -> Result<ExitCode, CommandError> {
        do throws(CommandError) {
            return .success(try await run())
        } catch {
            return .failure(error)
        }
    }

    private func run() async throws(CommandError) -> ExitCode {
        do throws(SimulatedDepot.MemoryFailure) {
            try await depot.populate()
        } catch { throw CommandError(.cannotCreate, error.description) }
        let site = Site(
            time: depot.simulation.time,
            lane: depot.simulation.worldLane,
            seed: depot.simulation.seed,
            adapters: job.plan.radio.adapters.isEmpty
                ? job.file.adapters : job.plan.radio.adapters,
            central: { [depot] in depot.radio($0) },
            peripheral: { [depot] in depot.radio($0) },
            linkTime: { [depot] in await depot.simulation.air.linkTime(of: $0) }
        )
        return try await SiteRun(job: job.run, site: site).run()
    }
}
