import Base
import Commands
import Glibc
import Operations
import Store

/// `fleet prune`: deletes old rows from a fleet's database, and can archive them in a file.
struct FleetPruneCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
        common = CommonOptions(invocation)
    }

    /// Pages of one transaction: few enough that no other session has to wait.
    private static let batch = 128
    /// How long a statement may take: nobody waits for it, and a server may be busy.
    private static let patience = Duration.seconds(600)

    func run() async throws(CommandError) -> ExitCode {
        let beginnings = invocation[Command.keptBeginnings]
        guard beginnings > 0 else {
            throw CommandError(
                .usage,
                "--keep 0 would drop the current beginning",
                hint: "keep at least 1"
            )
        }
        let retention = FleetRetention(
            beginnings: beginnings,
            age: invocation[Command.olderThan]
        )
        let isDry = invocation[Command.dryRun]
        var archive: FleetArchive?
        if let path = invocation[Command.archive], !isDry {
            archive = try FleetArchive(appendingTo: path)
        }
        let access = try FleetAccess(invocation, context)
        let file = archive
        let result = try await access.withTables(as: nil, patience: Self.patience) {
            fleet throws(FleetError) -> Result<[(FleetPast, Int)], CommandError> in
            var counts: [(FleetPast, Int)] = []
            for table in FleetPast.allCases {
                if isDry {
                    counts.append((table, try await fleet.count(of: table, beyond: retention)))
                    continue
                }
                var dropped = 0
                let end = try await fleet.pages(of: table)
                for begin in stride(from: 0, to: end, by: Self.batch) {
                    do {
                        dropped += try await fleet.drop(
                            from: table,
                            beyond: retention,
                            in: begin..<begin + Self.batch,
                            isKept: file != nil
                        ) { rows throws(CommandError) in
                            try file?.keep(rows, of: table)
                        }
                    } catch let error as FleetError {
                        throw error
                    } catch {
                        return .failure(
                            error as? CommandError ?? CommandError(.internal, "\(error)")
                        )
                    }
                }
                counts.append((table, dropped))
            }
            if !isDry { try await fleet.notePruning() }
            return .success(counts)
        }
        tell(try result.get(), isDry)
        return .done
    }

    private func tell(_ counts: [(table: FleetPast, rows: Int)], _ isDry: Bool) {
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "dry-run": .bool(isDry),
                "rows": .object(
                    counts.map { JSONMember($0.table.rawValue, .integer(Int64($0.rows))) }
                ),
                "exit": ExitCode.done.json,
            ])
            return context.console.result(document.text + "\n")
        }
        guard !common.isQuiet else { return }
        let all = counts.map(\.rows).reduce(0, +)
        guard all > 0 else { return context.console.result("nothing is old enough\n") }
        let list = counts.filter { $0.rows > 0 }.map { "\($0.rows) of \($0.table.rawValue)" }
        context.console.result(
            (isDry ? "would drop " : "dropped ") + list.joined(separator: ", ") + "\n"
        )
    }
}

/// A file that receives rows before they are deleted: one JSON object in each line.
private final class FleetArchive: Sendable {
    private let path: String
    private let descriptor: CInt

    init(appendingTo path: String) throws(CommandError) {
        self.path = path
        descriptor = try Descriptor.openForAppending(path, mode: 0o640)
    }

    deinit { close(descriptor) }

    /// Returns when the rows are on disk.
    func keep(_ rows: [String], of table: FleetPast) throws(CommandError) {
        guard !rows.isEmpty else { return }
        let lines = rows.map { #"{"table":""# + table.rawValue + #"","row":"# + $0 + "}\n" }
        var code = Descriptor.write(Array(lines.joined().utf8), to: descriptor)
        if code == nil, fsync(descriptor) != 0 { code = errno }
        guard let code else { return }
        throw CommandError(
            .cannotWrite,
            "\(path): \(Descriptor.text(of: code))",
            hint: "rows that could not be written are still in the database"
        )
    }
}
