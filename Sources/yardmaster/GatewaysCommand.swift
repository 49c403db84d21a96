import Commands
import Domain
import Operations
import Postgres
import Reports
import Wire

/// `gateways`: who is at work on a fleet.
struct GatewaysCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    func run() async throws(CommandError) -> ExitCode {
        let access = try FleetAccess(invocation, context)
        let gateways = try await access.withTables { fleet throws(FleetError) in
            try await fleet.gateways()
        }
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "gateways": .array(gateways.map { Self.document($0) }),
                "exit": ExitCode.done.json,
            ])
            context.console.result(document.text + "\n")
        } else if gateways.isEmpty {
            if !common.isQuiet { context.console.result("no gateway has signed in\n") }
        } else {
            let told = common.isQuiet ? gateways.filter { Self.state($0) == .silent } : gateways
            guard !told.isEmpty else { return .done }
            let rows = told.map { gateway in
                [
                    gateway.name.visible, Self.state(gateway).rawValue,
                    "\(gateway.silence.brief) ago", "\(gateway.modules)",
                    Self.clock(gateway), gateway.program.visible,
                ]
            }
            let head = ["gateway", "state", "heard", "modules", "clock", "program"]
            let lines = Columns.table([head] + rows)
            context.console.result(lines.map { $0 + "\n" }.joined())
        }
        return .done
    }

    private enum State: String {
        case working = "at work"
        /// It finishes what it has.
        case draining
        /// It has not been heard for longer than a right lasts.
        case silent
        case ended
    }

    private static func state(_ gateway: FleetGateway) -> State {
        if gateway.isGone { return .ended }
        guard gateway.silence < LeaseTerms.standard.length else { return .silent }
        return gateway.isDraining ? .draining : .working
    }

    private static func clock(_ gateway: FleetGateway) -> String {
        guard let offset = gateway.clockOffset else { return "" }
        let amount = max(offset, .zero - offset)
        if amount < .seconds(2) { return "right" }
        return amount.brief + (offset < .zero ? " behind" : " ahead")
    }

    private static func document(_ gateway: FleetGateway) -> JSONValue {
        .object([
            "name": .string(gateway.name),
            "instance": .string(gateway.instance),
            "state": .string(state(gateway).rawValue),
            "program": .string(gateway.program),
            "since": .string(gateway.since.description),
            "heard": .string(gateway.heard.description),
            "modules": .integer(Int64(gateway.modules)),
            "clock-offset-ms": gateway.clockOffset.map {
                .integer($0.nanoseconds / 1_000_000)
            },
        ])
    }
}
