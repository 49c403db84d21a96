import Base
import Commands
import Operations
import Rollout
import Show
import Store

/// `gateways`: the gateways that work on a fleet.
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
        if invocation[Command.gatewayMetrics] {
            context.console.result(MetricsText.text(GatewayMetrics.families(gateways)))
        } else if common.wantsJSON || !common.isQuiet {
            let document = JSONValue.object([
                "schema": 1,
                "gateways": .array(gateways.map { Self.document($0) }),
                "exit": ExitCode.done.json,
            ])
            context.answer(common, document, Self.text(gateways))
        } else {
            let silent = gateways.filter { State($0) == .silent }
            if !silent.isEmpty { context.show(Self.text(silent)) }
        }
        return .done
    }

    private static func text(_ gateways: [FleetGateway]) -> String {
        guard !gateways.isEmpty else { return "no gateway has signed in\n" }
        return Columns.text(
            [
                "gateway", "state", "heard", "modules", "adapters", "unreported", "clock",
                "program",
            ],
            gateways.map { gateway in
                [
                    gateway.name.visible, State(gateway).words,
                    "\(gateway.silence.brief) ago", load(gateway),
                    gateway.figures?.adapters.joined(separator: " ").visible ?? "",
                    gateway.figures.map { "\($0.untold)" } ?? "", clock(gateway),
                    gateway.program.visible,
                ]
            }
        )
    }

    private typealias State = SharedStanding.Worker.State

    /// Modules that it works with, of the number that it can work with at the same time.
    private static func load(_ gateway: FleetGateway) -> String {
        guard let figures = gateway.figures, figures.links > 0, !gateway.isGone else {
            return "\(gateway.modules)"
        }
        return "\(gateway.modules) of \(figures.links)"
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
            "state": .string(State(gateway).words),
            "program": .string(gateway.program),
            "since": .string(gateway.since.description),
            "heard": .string(gateway.heard.description),
            "modules": .integer(Int64(gateway.modules)),
            "adapters": gateway.figures.map { .array($0.adapters.map { .string($0) }) },
            "links": gateway.figures.map { .integer(Int64($0.links)) },
            "rights-lost": gateway.figures.map { .integer(Int64($0.rightsLost)) },
            "database-wait-ms": gateway.figures.map {
                .integer($0.waited.nanoseconds / 1_000_000)
            },
            "unreported": gateway.figures.map { .integer(Int64($0.untold)) },
            "clock-offset-ms": gateway.clockOffset.map {
                .integer($0.nanoseconds / 1_000_000)
            },
        ])
    }
}
