import Commands
import Domain
import Reports
import Trust
import Wire

/// `trust show`: which documents of a repository are trusted, until when and by whose keys.
struct TrustShow {
    private let invocation: Invocation
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) {
        self.invocation = invocation
        self.context = context
    }

    func run() throws(CommandError) -> ExitCode {
        let directories = try directories()
        let now = RealTime().wallTime
        var repositories: [(directory: String, state: TrustedState)] = []
        for directory in directories {
            do throws(TrustError) {
                let files = try TrustFolder.shared(directory)
                repositories.append((directory, try TrustedState(files, now: now)))
            } catch {
                throw CommandError(
                    error == .noRoot ? .inputMissing : .trust,
                    "\(directory.visible) holds no trusted repository",
                    because: [error.description],
                    hint: "begin with 'yardmaster trust --metadata-dir DIR init ROOT'"
                )
            }
        }
        if invocation.has("json") {
            context.console.result(Self.document(repositories).text + "\n")
        } else {
            context.console.result(repositories.map(Self.text).joined(separator: "\n"))
        }
        return .done
    }

    private func directories() throws(CommandError) -> [String] {
        if let directory = invocation.value("metadata-dir") { return [directory] }
        let folder = try CommonOptions.stateDirectory(invocation, context) + "/trust"
        let names = (try? TrustFolder.shared(folder).names()) ?? []
        guard !names.isEmpty else {
            throw CommandError(
                .inputMissing,
                "no repository is trusted in \(folder)",
                hint: "name a directory with --metadata-dir DIR"
            )
        }
        return names.map { "\(folder)/\($0)" }
    }

    private static func text(_ directory: String, _ state: TrustedState) -> String {
        let rows = state.documents.map { document in
            [
                document.role.description, "\(document.version)", document.expires.description,
                document.isExpired ? "expired" : "",
                "\(document.signers) of \(document.threshold)",
            ]
        }
        return directory.visible + "\n"
            + Columns.table([["role", "version", "expires", "", "signed by"]] + rows)
            .joined(separator: "\n") + "\n"
    }

    private static func document(_ list: [(directory: String, state: TrustedState)]) -> JSONValue {
        .object([
            "schema": 1,
            "repositories": .array(
                list.map { item in
                    .object([
                        "directory": .string(item.directory),
                        "documents": .array(
                            item.state.documents.map { document in
                                .object([
                                    "role": .string(document.role.name.text),
                                    "version": .integer(document.version),
                                    "expires": .string(document.expires.description),
                                    "expired": .bool(document.isExpired),
                                    "signers": .int(document.signers),
                                    "threshold": .int(document.threshold),
                                ])
                            }
                        ),
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}
