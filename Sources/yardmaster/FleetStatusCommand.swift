import Commands
import Domain
import Operations
import Postgres
import Reports
import Wire

/// `fleet status`, and `status --fleet`: the outcomes of a rollout's vehicles, over all gateways.
struct FleetStatusCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    func run() async throws(CommandError) -> ExitCode {
        guard !invocation.has("limit") else {
            throw CommandError(.usage, "'--limit' cannot be used with '--fleet'")
        }
        let access = try FleetAccess(invocation, context)
        let wanted = invocation.value("rollout")
        let (rollout, known, vehicles) = try await access.withTables {
            fleet throws(FleetError) -> (String?, FleetRollout?, [FleetStanding]) in
            var rollout = wanted
            if rollout == nil { rollout = try await fleet.lastRollout()?.name }
            guard let rollout else { return (nil, nil, []) }
            return (
                rollout, try await fleet.rollout(rollout), try await fleet.standings(of: rollout)
            )
        }
        guard let rollout, !vehicles.isEmpty else {
            throw CommandError(
                .inputMissing,
                wanted.map { "the rollout \($0.visible) is not known to the fleet" }
                    ?? "no rollout is known to the fleet yet",
                hint:
                    "a rollout is known when a run with the fleet's rights has worked on a vehicle"
            )
        }
        context.console.result(
            common.wantsJSON
                ? Self.document(rollout, known, vehicles) : text(rollout, known, vehicles)
        )
        return .done
    }

    private func text(
        _ rollout: String,
        _ known: FleetRollout?,
        _ vehicles: [FleetStanding]
    ) -> String {
        let told = common.isQuiet ? vehicles.filter(Self.needsSomebody) : vehicles
        guard !told.isEmpty else { return "" }
        let rows = told.map { vehicle in
            let verdict = vehicle.verdict
            let outcome = verdict.map { $0.counts ? $0.outcome : "\($0.outcome) (late)" }
            let state = vehicle.holder.map { "at work: \($0)" } ?? outcome ?? "waiting"
            return [
                vehicle.vehicle.visible, state.visible, verdict?.version?.visible ?? "",
                verdict?.gateway.visible ?? "", verdict?.at.description ?? "",
                verdict?.sentence.visible ?? "",
            ]
        }
        let head = ["vehicle", "state", "version", "gateway", "when", "what happened"]
        let lines =
            ["rollout \(rollout.visible)"] + Self.words(known) + Columns.table([head] + rows)
        return lines.map { $0 + "\n" }.joined()
    }

    /// The progress over all gateways, and the hold, if there is one.
    private static func words(_ known: FleetRollout?) -> [String] {
        guard let known else { return [] }
        let wave = "wave \(known.wave + 1) of \(known.waves)"
        var lines = [
            (known.isFinished ? "finished, " : "") + wave
                + ", \(known.failed) of \(known.attempted) attempted have failed"
        ]
        if let hold = known.hold {
            lines.append(
                "\(hold.kind.rawValue) by \(hold.author.visible) at \(hold.made): "
                    + hold.reason.visible
            )
        }
        return lines
    }

    private static func needsSomebody(_ vehicle: FleetStanding) -> Bool {
        guard vehicle.holder == nil, let word = vehicle.verdict?.outcome else { return false }
        switch Outcome(rawValue: word) {
        case .succeeded, .alreadyCurrent, .skipped: return false
        case .failed, .rolledBack, .rejected, .unreachable, .deferred, .timedOut, .aborted,
            .inDoubt, nil:
            return true
        }
    }

    private static func document(
        _ rollout: String,
        _ known: FleetRollout?,
        _ vehicles: [FleetStanding]
    ) -> String {
        JSONValue.object([
            "schema": 1,
            "rollout": .string(rollout),
            "wave": known.map { .integer(Int64($0.wave + 1)) },
            "waves": known.map { .integer(Int64($0.waves)) },
            "attempted": known.map { .integer(Int64($0.attempted)) },
            "failed": known.map { .integer(Int64($0.failed)) },
            "finished": known.map { .bool($0.isFinished) },
            "hold": known?.hold.map { hold in
                .object([
                    "kind": .string(hold.kind.rawValue),
                    "reason": .string(hold.reason),
                    "author": .string(hold.author),
                    "at": .string(hold.made.description),
                ])
            },
            "vehicles": .array(vehicles.map { document($0) }),
            "exit": ExitCode.done.json,
        ]).text + "\n"
    }

    private static func document(_ vehicle: FleetStanding) -> JSONValue {
        .object([
            "vehicle": .string(vehicle.vehicle),
            "serial": .string(vehicle.serial),
            "at-work": vehicle.holder.map { .string($0) },
            "verdict": vehicle.verdict.map { verdict in
                .object([
                    "outcome": .string(verdict.outcome),
                    "failure": verdict.failure.map { .string($0) },
                    "sentence": .string(verdict.sentence),
                    "version": verdict.version.map { .string($0) },
                    "gateway": .string(verdict.gateway),
                    "at": .string(verdict.at.description),
                    "counts": .bool(verdict.counts),
                ])
            },
        ])
    }
}
