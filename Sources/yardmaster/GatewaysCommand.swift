import Commands
import Domain
import Operations
import Postgres
import Reports
import Wire

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
        if invocation.has("metrics") {
            context.console.result(MetricsText.text(Self.metrics(gateways)))
        } else if common.wantsJSON {
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
                    "\(gateway.silence.brief) ago", Self.load(gateway),
                    gateway.figures?.adapters.joined(separator: " ").visible ?? "",
                    gateway.figures.map { "\($0.untold)" } ?? "", Self.clock(gateway),
                    gateway.program.visible,
                ]
            }
            let head = [
                "gateway", "state", "heard", "modules", "adapters", "unreported", "clock",
                "program",
            ]
            let lines = Columns.table([head] + rows)
            context.console.result(lines.map { $0 + "\n" }.joined())
        }
        return .done
    }

    private enum State: String {
        case working = "at work"
        /// It finishes its work and begins nothing new.
        case draining
        /// It was silent for longer than a right lasts.
        case silent
        case ended
    }

    private static func state(_ gateway: FleetGateway) -> State {
        if gateway.isGone { return .ended }
        guard gateway.silence < LeaseTerms.standard.length else { return .silent }
        return gateway.isDraining ? .draining : .working
    }

    /// Modules that it works with, of the number that it can work with at the same time.
    private static func load(_ gateway: FleetGateway) -> String {
        guard let figures = gateway.figures, figures.links > 0, !gateway.isGone else {
            return "\(gateway.modules)"
        }
        return "\(gateway.modules) of \(figures.links)"
    }

    /// Figures of the last start of each gateway.
    private static func metrics(_ all: [FleetGateway]) -> [MetricsText.Family] {
        var latest: [FleetGateway] = []
        for gateway in all where latest.last?.name != gateway.name { latest.append(gateway) }
        func family(
            _ name: String,
            _ help: String,
            _ value: (FleetGateway) -> Double?
        ) -> MetricsText.Family {
            MetricsText.family(
                "yardmaster_gateway_" + name,
                help: help,
                of: "gateway",
                latest.compactMap { gateway in value(gateway).map { (gateway.name, $0) } }
            )
        }
        func seconds(_ duration: Duration) -> Double {
            Double(duration.nanoseconds) / 1_000_000_000
        }
        return [
            family("up", "1 while it is at work and not silent.") {
                [.working, .draining].contains(state($0)) ? 1 : 0
            },
            family("heard_timestamp_seconds", "The time of its last sign of life.") {
                Double($0.heard.milliseconds) / 1_000
            },
            family("rights_held", "Modules that it holds the right to.") { Double($0.modules) },
            family("links", "Modules that it can work with at the same time.") {
                ($0.figures?.links).map(Double.init)
            },
            family("rights_lost", "Rights of its run that ended before the work was done.") {
                ($0.figures?.rightsLost).map(Double.init)
            },
            family("database_wait_seconds", "How long its run has waited for the database.") {
                $0.figures.map { seconds($0.waited) }
            },
            family("unreported", "Results that it has not reported to the database yet.") {
                ($0.figures?.untold).map(Double.init)
            },
            family("clock_offset_seconds", "How far its clock is ahead of the server's.") {
                $0.clockOffset.map(seconds)
            },
        ]
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
