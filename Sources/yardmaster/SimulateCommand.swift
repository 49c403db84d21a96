import BlueZ
import Commands
import Operations
import Site

/// `simulate`: serves a simulated depot to other programs, in real time, until it is interrupted.
struct SimulateCommand {
    private let depot: String
    private let place: DepotService.Target
    private let state: String
    private let seed: UInt64?
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        depot = invocation.arguments[0]
        let adapters = invocation[Command.servedAdapter]
        switch (invocation[Command.bus].flatMap { BusAddress($0) }, adapters.isEmpty) {
        case (let address?, true): place = .bus(address)
        case (nil, false): place = .adapters(adapters)
        case (nil, true):
            throw CommandError(
                .usage,
                "no bus and no adapter is given to serve the depot on",
                hint: "name a bus with --bus ADDRESS, or an adapter with --adapter hciN"
            )
        case (.some, false):
            throw CommandError(
                .usage,
                "a depot is served on a bus or from adapters, not on both",
                hint: "leave out --bus or --adapter"
            )
        }
        state = try CommonOptions.stateDirectory(invocation, context)
        seed = invocation[Command.seed]
        common = try CommonOptions(invocation, context)
        self.context = context
    }

    func run() async throws(CommandError) -> ExitCode {
        let file = try Inputs.depot(depot, context, common.profiles)
        let service = DepotService(place, state: state, seed: seed, context) {
            [context, isQuiet = common.isQuiet] text in
            if !isQuiet { context.console.result(text) }
        }
        try await service.serve(file)
        return Signals.exitCode ?? .done
    }
}
