import Base
import Commands
import Glibc
import Operations
import Radio
import Rollout
import Store
import Synchronization
import Yard

/// `scan`: the modules in reach, as they appear and disappear.
struct ScanCommand: Sendable {
    let length: Duration
    let simulation: SimulationOptions?
    let bus: String?
    let library: ProfileLibrary
    /// The state directory in which an inventory may have left its results; nil when there is none.
    let state: String?
    let wantsRows: Bool
    let common: CommonOptions
    let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        length = invocation[Command.length]
        simulation = SimulationOptions(invocation)
        bus = invocation[Command.bus]
        library = try ProfileFolder.library(invocation, context)
        wantsRows = invocation[Command.fleetRows]
        common = CommonOptions(invocation)
        state = try? CommonOptions.stateDirectory(invocation, context)
        self.context = context
        if wantsRows, common.wantsJSON {
            throw CommandError(.usage, "--json and --csv cannot be used together")
        }
    }

    func run() async throws(CommandError) -> ExitCode {
        let stop = Signals.catchThem()
        guard let simulation else {
            return try await HostBluetooth.use(bus: bus, context) { central, time in
                await scan(central, time, stop)
            }
        }
        let result = try await SimulatedCommand.run(simulation, context, library) {
            [self] central, time in
            await scan(central, time, stop)
        }
        return try result.get()
    }

    /// Scans and prints the modules that are found; generic over the radio.
    func scan(
        _ central: any Central,
        _ time: any Timekeeper,
        _ stop: StopSignal
    ) async -> Result<ExitCode, CommandError> {
        let discovery = Discovery(central: central, time: time, library: library)
        let began = time.now
        let screen = ScanScreen(
            console: context.console,
            style: context.style(noColor: common.noColor),
            isTerminal: isatty(STDOUT_FILENO) == 1,
            isSilent: common.wantsJSON || wantsRows || common.isQuiet
        )
        let length = length
        let problem = await stop.ending(by: time) { () async -> DiscoveryProblem? in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await list in discovery.modules.values() where !list.isEmpty {
                        screen.show(list, after: began.duration(to: time.now))
                    }
                }
                var problem: DiscoveryProblem?
                do throws(DiscoveryProblem) {
                    try await discovery.scan(for: .lasting(length)) { _ in
                        screen.remember(discovery.modules.value)
                        return false
                    }
                } catch {
                    problem = error == .unexpected(.cancelled) ? nil : error
                }
                group.cancelAll()
                return problem
            }
        }
        if let problem {
            return .failure(
                CommandError(.unavailable, problem.sentence, hint: problem.remedy)
            )
        }
        print(screen, took: began.duration(to: time.now))
        return .success(Signals.exitCode ?? .done)
    }

    private func print(_ screen: ScanScreen, took: Duration) {
        let heard = screen.heard
        let count = heard.modules.count
        if common.wantsJSON {
            context.console.result(document(heard.modules, took: took).text + "\n")
            return
        }
        if wantsRows {
            let rows = ScanRows(heard)
            context.console.result(rows.csv)
            for remark in rows.remarks { context.console.note("warning: \(remark)\n") }
        } else if !common.isQuiet {
            screen.finish()
        }
        if !common.isQuiet {
            context.console.note(
                "\(counted(count, "module")) in \(took.brief)\n"
            )
        }
    }

    /// The results of an inventory; empty when there are none that can be read.
    private var known: [InventoryRecord] {
        guard let state else { return [] }
        let known = try? JournalReader(directory: state).read { view throws(JournalError) in
            try view.inventory()
        }
        return known ?? []
    }

    private func document(_ seen: [DiscoveredModule], took: Duration) -> JSONValue {
        let known = known
        return .object([
            "schema": 1,
            "seconds": .integer(took.nanoseconds / 1_000_000_000),
            "modules": .array(
                seen.map { module in
                    let record = known.first {
                        $0.serial == module.serial && $0.family == module.family && $0.read != nil
                    }
                    return .object([
                        "serial": .string(module.serial.text),
                        "family": .string(module.family.rawValue),
                        "profile": .string(module.profiles[0]),
                        "name": .string(module.name),
                        "signal": .integer(Int64(module.signal)),
                        "bootloader": .bool(module.isInBootloader),
                        "vehicle": record?.vehicle.map { .string($0.text) },
                        "firmware": record.map { record in
                            .object(
                                (record.facts(.version) + record.facts(.identity))
                                    .map { JSONMember($0.name, .string($0.value)) }
                            )
                        },
                        "read": record?.read.map { .string($0.description) },
                    ])
                }
            ),
            "exit": ExitCode.done.json,
        ])
    }
}
