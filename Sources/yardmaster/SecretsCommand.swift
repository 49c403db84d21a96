import Commands
import Domain
import Families
import Manifest
import Operations
import SourceTree
import Wire

/// `secrets check`: every key, token and passkey that a manifest names, read and held against its vehicle.
struct SecretsCommand {
    /// A token that ends within this time is told of.
    private static let soon = Duration.seconds(7 * 86_400)

    let manifest: String
    let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        common = try CommonOptions(invocation, context)
    }

    /// One secret of one vehicle, and what was found.
    struct Row {
        enum Standing: String {
            case good
            /// It is good now, and not for long.
            case ending
            /// It is handed out when it is needed.
            case issued
            case refused
        }

        let vehicle: VehicleID
        let kind: String
        let reference: String
        let place: Place
        var standing = Standing.good
        var detail = ""
        var ends: WallTime?
        /// What a run would end with.
        var exitCode = ExitCode.done
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        var sources = PlanSources()
        let plan = try Inputs.plan(manifest, context, common, &sources)
        let now = RealTime().wallTime
        let source = SecretSource(context: context)
        let rows = plan.vehicles.flatMap { Self.rows(of: $0, source, now) }
        let refused = rows.filter { $0.standing == .refused }
        let code =
            refused.contains { $0.exitCode == .trustRefused }
            ? .trustRefused : refused.map(\.exitCode).max { $0.rawValue < $1.rawValue } ?? .done
        if common.wantsJSON {
            context.console.result(Self.document(rows, code).text + "\n")
            return code
        }
        let shown = common.isQuiet ? refused : rows
        context.console.result(Self.text(shown))
        if !common.isQuiet {
            context.console.result(
                "\(manifest): \(rows.count) secret\(rows.count == 1 ? "" : "s") of "
                    + "\(plan.vehicles.count) vehicle\(plan.vehicles.count == 1 ? "" : "s"), "
                    + "\(refused.count) refused\n"
            )
        }
        return code
    }

    // MARK: What is looked at

    private static func rows(
        of vehicle: PlannedVehicle,
        _ source: SecretSource,
        _ now: WallTime
    ) -> [Row] {
        source.checks(of: vehicle).map { check in
            var row = Row(
                vehicle: vehicle.id,
                kind: check.kind,
                reference: check.title,
                place: check.place
            )
            if let error = check.fault {
                row.standing = .refused
                row.exitCode = error.exitCode
                row.detail = ([error.sentence] + error.causes).joined(separator: ": ")
                return row
            }
            if check.isIssued { row.standing = .issued }
            guard let token = check.token else { return row }
            row.ends = token.lastMoment
            if let fault = TokenCheck.fault(token.reservation, vehicle) {
                row.standing = .refused
                row.exitCode = .trustRefused
                row.detail = fault.message
            } else if let fault = token.faults(at: now).first {
                row.standing = .refused
                row.exitCode = .configuration
                row.detail = fault.description
            } else if !token.faults(at: now.advanced(by: soon)).isEmpty {
                row.standing = .ending
                row.detail = "ends at \(token.lastMoment?.description ?? "no time")"
            }
            return row
        }
    }

    // MARK: Output

    private static func text(_ rows: [Row]) -> String {
        let widths = (
            rows.map { $0.vehicle.text.count }.max() ?? 0,
            rows.map { $0.reference.count }.max() ?? 0
        )
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return rows.map { row in
            let word = row.standing == .refused ? "REFUSED" : row.standing.rawValue
            let line = [
                padded(row.vehicle.text, widths.0), padded(row.kind, 7),
                padded(row.reference.visible, widths.1), padded(word, 7), row.detail.visible,
            ].joined(separator: "  ")
            let end = line.lastIndex { $0 != " " }.map { line.index(after: $0) }
            return line[..<(end ?? line.startIndex)] + "\n"
        }.joined()
    }

    private static func document(_ rows: [Row], _ code: ExitCode) -> JSONValue {
        .object([
            "schema": 1,
            "secrets": .array(
                rows.map { row in
                    .object([
                        "vehicle": .string(row.vehicle.text),
                        "kind": .string(row.kind),
                        "reference": .string(row.reference),
                        "file": .string(row.place.file),
                        "line": .integer(Int64(row.place.line)),
                        "standing": .string(row.standing.rawValue),
                        "detail": row.detail.isEmpty ? nil : .string(row.detail),
                        "ends": row.ends.map { .string($0.description) },
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(code.rawValue)), "reason": .string(code.sentence),
            ]),
        ])
    }
}
