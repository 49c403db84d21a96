package import Base
package import Commands
import Store

/// The result of `sync`.
package struct SyncAnswer: Sendable {
    let server: String
    let rollout: String
    /// The manifest of the night; nil when there is nothing to do.
    let manifest: String?
    let rows: [SyncRow]
    /// How many files were downloaded.
    let fetched: Int
    /// The exit code of a signal that ended it early.
    let signal: ExitCode?

    /// The worst of all vehicles.
    package var code: ExitCode {
        var codes: [ExitCode] = signal.map { [$0] } ?? []
        if rows.contains(where: { !$0.isDone }), signal == nil { codes.append(.unavailable) }
        if rows.contains(where: \.isRefused) { codes.append(.trustRefused) }
        return ExitCode.worst(of: codes)
    }

    /// What a person has to look at, in words: nothing of it passes by itself.
    package var complaint: String? {
        rows.first { $0.needsPerson }.map { "\($0.vehicle): \($0.words)" }
    }

    private var wanted: Int {
        rows.flatMap(\.actions).count { $0.state == .open && $0.isWanted }
    }

    /// A line for each vehicle about which there is something to say, and the last line.
    package func text(isQuiet: Bool) -> String {
        let said = isQuiet ? rows.filter { !$0.isDone || $0.isRefused } : rows
        var lines = said.map { "\($0.vehicle): \($0.words)" }
        if !isQuiet, let manifest {
            lines.append(
                "the night is in \(manifest): yardmaster run --again \(manifest.quotedForShell)"
            )
        }
        lines.append(
            "server=\(server) vehicles=\(rows.count) asked=\(rows.count(where: \.isDone)) "
                + "wanted=\(wanted) fetched=\(fetched) exit=\(code.rawValue)"
        )
        return lines.map { $0.visible + "\n" }.joined()
    }

    package var document: JSONValue {
        .object([
            "schema": 1,
            "server": .string(server),
            "rollout": .string(rollout),
            "manifest": manifest.map { .string($0) },
            "fetched": .int(fetched),
            "vehicles": .array(rows.map(\.document)),
            "exit": code.json,
        ])
    }
}
