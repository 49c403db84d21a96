package import Base
package import Commands
import Manifest
package import Operations
import Show
import Store

/// The targets of notices, and the delivery state of the notices.
package struct NoticeList {
    private let policy: NotifyPolicy
    /// Notices that have not arrived come first.
    private let entries: [OutboxEntry]

    package init(of notices: NoticeSender, in state: String) throws(CommandError) {
        policy = try notices.policy()
        let entries: [OutboxEntry]
        do throws(JournalError) {
            entries = try JournalReader(directory: state).read { view throws(JournalError) in
                try view.outbox(limit: 100)
            }
        } catch {
            if error.kind != .missing { throw CommandError(reading: error, in: state) }
            entries = []
        }
        self.entries =
            entries.filter { $0.delivered == nil } + entries.filter { $0.delivered != nil }
    }

    private func shown(_ isQuiet: Bool) -> [OutboxEntry] {
        isQuiet ? entries.filter { $0.delivered == nil } : entries
    }

    /// Text for people; with `isQuiet` only notices that have not arrived.
    package func text(isQuiet: Bool) -> String {
        let entries = shown(isQuiet)
        var lines: [String] = []
        if !isQuiet {
            let rows = policy.targets.map { target in
                [
                    target.name, Self.way(of: target),
                    NotifyKind.allCases.filter { target.kinds.contains($0) && $0 != .test }
                        .map(\.rawValue).joined(separator: ", "),
                ]
            }
            lines =
                rows.isEmpty
                ? ["no target for notices is named"]
                : Columns.table([["target", "way", "when"]] + rows)
            lines.append("")
        }
        if entries.isEmpty {
            if !isQuiet { lines.append("no notice was made yet") }
        } else {
            let time = Zone.utc.text
            let rows = entries.map { entry in
                let what: String =
                    if let delivered = entry.delivered {
                        "notified \(time(delivered))"
                    } else if let next = entry.next {
                        "undelivered, tried again \(time(next))"
                            + (entry.failure.map { ": \($0)" } ?? "")
                    } else {
                        "undelivered, given up: \(entry.failure ?? "")"
                    }
                return [
                    entry.target, entry.kind, entry.rollout?.visible ?? "-",
                    entry.run.map { "\($0)" } ?? "-", time(entry.made), what.visible,
                ]
            }
            lines += Columns.table([["target", "kind", "rollout", "run", "since", ""]] + rows)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func way(of target: NotifyTarget) -> String {
        switch target.way {
        case .mail(let address): "mail to \(address)"
        case .webhook(let address, let key):
            "webhook at \(address)" + (key == nil ? ", not signed" : "")
        case .ntfy(let address): "ntfy at \(address)"
        case .alertmanager(let address): "Alertmanager at \(address)"
        case .healthcheck(let address): "healthcheck at \(address)"
        case .program(let words): words[0]
        }
    }

    /// The JSON document for programs; with `isQuiet` only notices that have not arrived.
    package func document(isQuiet: Bool) -> JSONValue {
        let entries = shown(isQuiet)
        return .object([
            "schema": 1,
            "targets": .array(
                policy.targets.map { target in
                    .object([
                        "name": .string(target.name), "way": .string(Self.way(of: target)),
                        "when": .array(
                            NotifyKind.allCases.filter { target.kinds.contains($0) }
                                .map { .string($0.rawValue) }
                        ),
                    ])
                }
            ),
            "notices": .array(
                entries.map { entry in
                    .object([
                        "target": .string(entry.target),
                        "kind": .string(entry.kind),
                        "rollout": entry.rollout.map { .string($0) },
                        "run": entry.run.map { .integer(Int64($0)) },
                        "made": .string(entry.made.description),
                        "attempts": .integer(Int64(entry.attempts)),
                        "delivered": entry.delivered.map { .string($0.description) },
                        "next": entry.next.map { .string($0.description) },
                        "failure": entry.failure.map { .string($0) },
                    ])
                }
            ),
        ])
    }
}
