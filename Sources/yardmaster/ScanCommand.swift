import Commands
import Domain
import Glibc
import Journal
import Modules
import Operations
import Radio
import Reports
import Rollout
import Synchronization
import Wire

/// `scan`: which modules are in reach, as they come and go.
struct ScanCommand: Sendable {
    let length: Duration
    let simulation: SimulationOptions?
    let bus: String?
    let library: ProfileLibrary
    /// Where an inventory may have left what it read; nil where there is no such place.
    let state: String?
    let common: CommonOptions
    let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        length = invocation.value("for").flatMap { Duration(text: $0) } ?? .seconds(30)
        simulation = SimulationOptions(invocation)
        bus = invocation.value("bus")
        library = try ProfileFolder.library(invocation, context)
        common = CommonOptions(invocation)
        state = try? CommonOptions.stateDirectory(invocation, context)
        self.context = context
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

    /// Scans and tells of it; generic over the radio.
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
            isSilent: common.wantsJSON || common.isQuiet
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
        let seen = screen.seen
        if common.wantsJSON {
            context.console.result(document(seen, took: began.duration(to: time.now)).text + "\n")
        } else if !common.isQuiet {
            screen.finish()
            context.console.note(
                "\(seen.count) module\(seen.count == 1 ? "" : "s") in "
                    + "\(began.duration(to: time.now).brief)\n"
            )
        }
        return .success(Signals.exitCode ?? .done)
    }

    /// What an inventory has read of modules; empty where there is none that can be read.
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
                        "profile": .string(module.profile),
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
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}

/// What a scan shows: a table that is redrawn on a terminal, a line for each change elsewhere.
private final class ScanScreen: Sendable {
    private struct State {
        var seen: [String: DiscoveredModule] = [:]
        var present: [String: DiscoveredModule] = [:]
        /// Lines of the table that stand on the terminal now.
        var drawn = 0
        var lastDraw: Duration?
    }

    private let console: Console
    private let style: TerminalStyle
    private let isLive: Bool
    private let isSilent: Bool
    private let state = Mutex(State())

    init(console: Console, style: TerminalStyle, isTerminal: Bool, isSilent: Bool) {
        self.console = console
        self.style = style
        isLive = isTerminal && style.isLive
        self.isSilent = isSilent
    }

    var seen: [DiscoveredModule] {
        state.withLock { $0.seen.values.sorted { $0.place < $1.place } }
    }

    /// Takes note of a list that may be replaced before it is shown.
    func remember(_ list: [DiscoveredModule]) {
        state.withLock { state in for module in list { state.seen[module.place] = module } }
    }

    func show(_ list: [DiscoveredModule], after time: Duration) {
        let text = state.withLock { state -> String in
            for module in list { state.seen[module.place] = module }
            if isSilent { return "" }
            return isLive ? table(list, time, &state) : lines(list, time, &state)
        }
        if !text.isEmpty { console.result(text) }
    }

    /// What is left to be said at the end.
    func finish() {
        guard isLive else { return }
        let text = state.withLock { state -> String in
            state.lastDraw = nil
            return table(state.seen.values.sorted { $0.place < $1.place }, .zero, &state)
        }
        console.result(text)
    }

    private func lines(
        _ list: [DiscoveredModule],
        _ time: Duration,
        _ state: inout State
    ) -> String {
        var text = ""
        for module in list where state.present[module.place] == nil {
            text += "\(time.brief) found \(Self.row(module).joined(separator: " "))\n"
        }
        let now = Set(list.map(\.place))
        for (place, module) in state.present.sorted(by: { $0.key < $1.key })
        where !now.contains(place) {
            text += "\(time.brief) lost \(module.serial)\n"
        }
        state.present = Dictionary(list.map { ($0.place, $0) }) { first, _ in first }
        return text
    }

    private func table(
        _ list: [DiscoveredModule],
        _ time: Duration,
        _ state: inout State
    ) -> String {
        // An eye follows no more than a few pictures a second.
        if let last = state.lastDraw, time - last < .milliseconds(200) { return "" }
        state.lastDraw = time
        let rows = Columns.table([["serial", "family", "signal", "name"]] + list.map(Self.row))
        let up = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
        state.drawn = rows.count
        return up + "\u{1B}[J" + rows.map { $0.prefix(style.width) + "\n" }.joined()
    }

    private static func row(_ module: DiscoveredModule) -> [String] {
        [
            module.serial.text, module.family.rawValue, "\(module.signal) dBm",
            module.isInBootloader ? "(in its bootloader)" : module.name,
        ]
    }
}

extension DiscoveredModule {
    /// Modules of two families may have one serial: each has its own row.
    fileprivate var place: String { serial.text + "\u{1F}" + family.rawValue }
}
