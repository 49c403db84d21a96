package import Base
package import Commands
import Rollout
import Show

/// The result for each image of a plan, and the last line, which scripts read.
package struct FetchSummary: Sendable, Equatable {
    package enum State: String, Sendable {
        case fetched, present, failed
    }

    package struct Row: Sendable, Equatable {
        let name: String
        let digest: SHA256Digest
        fileprivate(set) var state: State
        /// Nil for an image that was not fetched.
        let size: ByteCount?
        let path: String?

        init(
            name: String,
            digest: SHA256Digest,
            state: State,
            size: ByteCount? = nil,
            path: String? = nil
        ) {
            self.name = name
            self.digest = digest
            self.state = state
            self.size = size
            self.path = path
        }
    }

    /// Nil before the manifest was read.
    var rollout: String?
    var rows: [Row] = []

    package init() {}

    /// Marks an image that is here but must not be used.
    package mutating func refuse(_ name: String) {
        for index in rows.indices where rows[index].name == name { rows[index].state = .failed }
    }

    private func count(_ state: State) -> Int { rows.count { $0.state == state } }

    /// A line such as `fetched=2 present=1 failed=0 exit=0`.
    package func lastLine(_ code: ExitCode) -> String {
        "fetched=\(count(.fetched)) present=\(count(.present)) failed=\(count(.failed)) "
            + "exit=\(code.rawValue)\n"
    }

    /// The images that are here, and the last line.
    package func text(_ code: ExitCode) -> String {
        let here = rows.compactMap { row in
            row.size.map { size in
                [row.name, Self.words(row.state), size.description, row.digest.description]
            }
        }
        guard !here.isEmpty else { return lastLine(code) }
        let table = Columns.table([["image", "state", "size", "sha256"]] + here)
        return table.map { $0 + "\n" }.joined() + lastLine(code)
    }

    private static func words(_ state: State) -> String {
        switch state {
        case .fetched: "fetched"
        case .present: "in the store"
        case .failed: "refused"
        }
    }

    /// The JSON document for programs; `error` is the error that ended it.
    package func document(_ code: ExitCode, _ error: CommandError? = nil) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": rollout.map { .string($0) },
            "images": .array(
                rows.map { row in
                    .object([
                        "name": .string(row.name),
                        "sha256": .string(row.digest.description),
                        "size": row.size.map { .integer(Int64($0.bytes)) },
                        "path": row.path.map { .string($0) },
                        "state": .string(row.state.rawValue),
                    ])
                }
            ),
            "fetched": .int(count(.fetched)),
            "present": .int(count(.present)),
            "failed": .int(count(.failed)),
            "error": error?.document["error"],
            "exit": code.json,
        ])
    }
}
