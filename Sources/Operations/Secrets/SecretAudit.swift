package import Base
package import Commands
import Families
package import Manifest

/// Reads every key, token and passkey of a plan, and checks it against its vehicle.
package struct SecretAudit {
    /// A token that ends within this time is reported.
    static let soon = Duration.seconds(7 * 86_400)

    /// One secret of one vehicle, and the result of its check.
    private struct Row {
        enum Standing: String {
            case good
            /// It is valid, and other vehicles have the same.
            case shared
            /// It is valid now, but will end soon.
            case ending
            /// It is issued when it is needed.
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
        /// The exit code that a run would have because of it.
        var exitCode = ExitCode.done
    }

    private let plan: FrozenPlan
    private let rows: [Row]

    package init(
        of plan: FrozenPlan,
        _ common: CommonOptions,
        _ context: Context
    ) throws(CommandError) {
        self.plan = plan
        let now = RealTime().wallTime
        let source = SecretSource(
            context: context,
            profiles: try ProfileFolder.library(of: plan, common, context)
        )
        let sharers = SharedSecrets(plan.holders, context).groups.reduce(into: [:]) {
            (sharers: inout [VehicleID: Int], group) in
            for holder in group { sharers[holder.vehicle] = group.count - 1 }
        }
        rows = plan.vehicles.flatMap { vehicle in
            Self.rows(of: vehicle, source, now).map { row in
                guard row.kind == Self.key, row.standing == .good,
                    let count = sharers[vehicle.id]
                else { return row }
                var row = row
                row.standing = .shared
                row.detail = "also the key of \(counted(count, "other vehicle"))"
                return row
            }
        }
    }

    private static let key = "key"

    private var refused: [Row] { rows.filter { $0.standing == .refused } }

    package var exitCode: ExitCode {
        let codes = refused.map(\.exitCode)
        return codes.contains(.trustRefused)
            ? .trustRefused : codes.max { $0.rawValue < $1.rawValue } ?? .done
    }

    /// Text for people; with `isQuiet` only refused secrets.
    package func text(isQuiet: Bool) -> String { Self.text(isQuiet ? refused : rows) }

    /// The number of secrets, and how many of them are refused.
    package var summary: String {
        let (secrets, vehicles) = (rows.count, plan.vehicles.count)
        let shared = rows.count { $0.standing == .shared }
        return "\(counted(secrets, "secret")) of "
            + "\(counted(vehicles, "vehicle")), \(refused.count) refused"
            + (shared == 0 ? "" : ", \(shared) shared")
    }

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

    /// The JSON document for programs.
    package var document: JSONValue {
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
            "exit": exitCode.json,
        ])
    }
}
