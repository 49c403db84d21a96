package import Base
package import Commands
import Images
import Show

/// The trusted documents of repositories, with their expiry and the keys that signed them.
package struct TrustReport {
    /// The record of a repository or of all keys, with its resets.
    private struct Records {
        let directory: String
        let keys: [(key: MinisignKey, record: ReleaseLedger?)]
        let record: ReleaseLedger?
        let resets: [LedgerReset]
        let attesters: [SHA256Digest]

        init(_ directory: String) throws(TrustError) {
            self.directory = directory
            let store = TrustStore(try TrustFolder.shared(directory))
            let book = KeyBook(store)
            var keys: [(key: MinisignKey, record: ReleaseLedger?)] = []
            for key in try book.keys() { keys.append((key, try book.record(of: key))) }
            self.keys = keys
            record = try store.read("releases", limit: 1 << 20).flatMap { ReleaseLedger($0) }
            resets = try store.resets() ?? []
            attesters = try AttesterBook(store).fingerprints()
        }
    }

    private let repositories: [(directory: String, state: TrustedState)]
    private let records: [Records]

    /// Reads each of the directories.
    package init(of directories: [String]) throws(CommandError) {
        let now = RealTime().wallTime
        var repositories: [(directory: String, state: TrustedState)] = []
        var records: [Records] = []
        for directory in directories {
            do throws(TrustError) {
                records.append(try Records(directory))
                guard !directory.hasSuffix("/trust/signatures") else { continue }
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
        self.repositories = repositories
        self.records = records
    }

    /// The folders below a state directory that contain something trusted.
    package static func directories(in state: String) throws(CommandError) -> [String] {
        let folder = state + "/trust"
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

    /// The text for people.
    package var text: String {
        (repositories.map(Self.text) + records.compactMap(Self.text)).joined(separator: "\n")
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

    /// Nil when there is nothing to print.
    private static func text(_ records: Records) -> String? {
        var rows: [[String]] = []
        for (key, record) in records.keys {
            guard let record else {
                rows.append([key.line, "the record is damaged", ""])
                continue
            }
            rows += words(record, of: key.line)
        }
        if let record = records.record, records.keys.isEmpty { rows += words(record, of: "-") }
        var lines = [records.directory.visible]
        if !rows.isEmpty {
            lines += Columns.table([["key", "modules", "highest release"]] + rows)
        }
        lines += records.attesters.map { "attestation key \($0)" }
        for reset in records.resets {
            let whose = reset.key.map { "the record of the key \($0)" } ?? "the record"
            lines.append(
                "\(reset.time): \(reset.author.visible) reset \(whose): "
                    + reset.reason.visible
            )
        }
        return lines.count > 1 ? lines.joined(separator: "\n") + "\n" : nil
    }

    private static func words(_ record: ReleaseLedger, of owner: String) -> [[String]] {
        guard !record.lines.isEmpty else { return [[owner, "-", "none counted"]] }
        return record.lines.map { line in
            [owner, line.hardware.description, "\(line.counter), version \(line.version)"]
        }
    }

    /// The JSON document for programs.
    package var document: JSONValue {
        .object([
            "schema": 1,
            "repositories": .array(
                repositories.map { item in
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
            "records": .array(records.map(Self.document)),
            "exit": ExitCode.done.json,
        ])
    }

    private static func document(_ records: Records) -> JSONValue {
        .object([
            "directory": .string(records.directory),
            "keys": .array(
                records.keys.map { item in
                    .object([
                        "key": .string(item.key.line),
                        "releases": item.record.map(releases) ?? .null,
                    ])
                }
            ),
            "attesters": records.attesters.isEmpty
                ? nil : .array(records.attesters.map { .string($0.description) }),
            "releases": records.record.map(releases),
            "resets": .array(
                records.resets.map { reset in
                    .object([
                        "time": .string(reset.time.description),
                        "author": .string(reset.author),
                        "reason": .string(reset.reason),
                        "key": reset.key.map { .string($0) },
                    ])
                }
            ),
        ])
    }

    private static func releases(_ record: ReleaseLedger) -> JSONValue {
        .array(
            record.lines.map { line in
                .object([
                    "hardware": .string(line.hardware.description),
                    "counter": .integer(line.counter),
                    "version": .string(line.version.description),
                ])
            }
        )
    }
}
