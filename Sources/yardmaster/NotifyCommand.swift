import Commands
import Domain
import Journal
import Manifest
import Operations
import Reports
import Threads
import Wire

/// `notify test`, `notify list`, `notify send`, `notify failure`.
struct NotifyCommand {
    private let notices: NoticeSender
    private let state: String
    private let common: CommonOptions
    private let context: Context
    private let arguments: [String]

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        common = try CommonOptions(invocation, context)
        self.context = context
        arguments = invocation.arguments
        var notices = NoticeSender(state: state, context: context)
        if let manifest = invocation.value("manifest") {
            notices.own = try Inputs.plan(manifest, context, common).notify
        }
        self.notices = notices
    }

    // MARK: test

    func test() async throws(CommandError) -> ExitCode {
        let policy = try notices.policy()
        let known = policy.targets.map(\.name)
        if let unknown = arguments.first(where: { !known.contains($0) }) {
            throw CommandError(
                .usage,
                "no list names \(unknown.visible)",
                hint: known.isEmpty
                    ? "write one in \(state)/notify.yaml"
                    : "there are \(known.joined(separator: ", "))"
            )
        }
        guard !known.isEmpty else {
            throw CommandError(
                .inputMissing,
                "nobody is to be told",
                hint: "name targets in /etc/yardmaster/notify.yaml, \(state)/notify.yaml or under "
                    + "`notify` of a manifest"
            )
        }
        let now = RealTime().wallTime
        let notice = NotifyNotice(
            kind: .test,
            host: NoticeSender.host,
            reason: "somebody tries whether this arrives",
            time: now,
            localTime: Zone.utc.text(now)
        )
        let key = "test-\(now.milliseconds)"
        let names = arguments.isEmpty ? known : arguments
        try await post(
            names.map {
                OutboxWish(
                    key: key,
                    target: $0,
                    kind: NotifyKind.test.rawValue,
                    body: notice.json.text
                )
            }
        )
        let results = await notices.deliver(within: .seconds(300), only: key)
        say(results)
        return results.count == names.count && results.allSatisfy { $0.failure == nil }
            ? .done : .unavailable
    }

    private func say(_ results: [NoticeSender.Result]) {
        if common.wantsJSON {
            let list = results.map { result in
                JSONValue.object([
                    "target": .string(result.entry.target),
                    "kind": .string(result.entry.kind),
                    "delivered": .bool(result.failure == nil),
                    "failure": result.failure.map { .string($0) },
                ])
            }
            context.console.result(
                JSONValue.object(["schema": 1, "notices": .array(list)]).text + "\n"
            )
            return
        }
        for result in results where !common.isQuiet || result.failure != nil {
            let what = result.failure.map { "not told: \($0)" } ?? "told"
            context.console.result("\(result.entry.target): \(what)\n")
        }
    }

    private func post(_ wishes: [OutboxWish]) async throws(CommandError) {
        _ = try StateDirectory.prepared(at: state)
        let thread = try ThreadExecutor.working("journal")
        defer { thread.stop() }
        do throws(JournalError) {
            let journal = try await Journal.open(directory: state, executor: thread)
            try await journal.post(wishes, at: RealTime().wallTime)
            await journal.close()
        } catch { throw CommandError(error) }
    }

    // MARK: send

    func send() async throws(CommandError) -> ExitCode {
        try await lookForSilence()
        let results = await notices.deliver(within: .seconds(300))
        say(results)
        return .done
    }

    /// A rollout that has a list which says how long is too long.
    private func lookForSilence() async throws(CommandError) {
        let policy = try notices.policy()
        guard let limit = policy.silentAfter else { return }
        let now = RealTime().wallTime
        let last: RunRecord?
        do throws(JournalError) {
            last = try JournalReader(directory: state).read { view throws(JournalError) in
                try view.lastRollout()
            }
        } catch { throw CommandError(reading: error, in: state) }
        // One that goes on is heard of by anyone who looks.
        guard let last, let end = last.end, end.time.duration(to: now) > limit else { return }
        try await post(
            policy.targets.filter { $0.kinds.contains(.silent) }.map {
                OutboxWish(
                    key: "silent-\(last.number)",
                    target: $0.name,
                    kind: NotifyKind.silent.rawValue,
                    rollout: last.rollout,
                    run: last.number
                )
            }
        )
    }

    // MARK: failure

    /// A unit has failed: told, unless the run itself has said so already.
    func failure() async throws(CommandError) -> ExitCode {
        let unit = arguments[0]
        let code = context.variable("MONITOR_EXIT_STATUS").flatMap { Int($0) }
        let invocation =
            context.variable("MONITOR_INVOCATION_ID") ?? "\(RealTime().wallTime.milliseconds)"
        let policy = try notices.policy()
        let now = RealTime().wallTime
        let isTold = try? JournalReader(directory: state).read { view throws(JournalError) in
            guard let run = try view.runs(rollout: nil, limit: 1).first, let end = run.end,
                end.exitCode == code, end.time.duration(to: now) < .seconds(600)
            else { return false }
            // Of a pause people were told when it was found.
            if end.exitCode == 12 { return true }
            return try view.isTold("run-\(run.number)")
        }
        if isTold != true {
            let result = context.variable("MONITOR_SERVICE_RESULT").map { ", \($0)" } ?? ""
            let notice = NotifyNotice(
                kind: .failed,
                host: NoticeSender.host,
                exitCode: code,
                reason: "\(unit) has failed" + (code.map { ": exit \($0)" } ?? "") + result,
                next: "journalctl -u \(NextStep.quoted(unit)) -n 50",
                time: now,
                localTime: Zone.utc.text(now)
            )
            try await post(
                policy.targets.filter { $0.kinds.contains(.failed) }.map {
                    OutboxWish(
                        key: "unit-\(invocation)",
                        target: $0.name,
                        kind: NotifyKind.failed.rawValue,
                        body: notice.json.text
                    )
                }
            )
        }
        say(await notices.deliver(within: .seconds(300)))
        return .done
    }

    // MARK: list

    func list() throws(CommandError) -> ExitCode {
        let policy = try notices.policy()
        let entries: [OutboxEntry]
        do throws(JournalError) {
            entries = try JournalReader(directory: state).read { view throws(JournalError) in
                try view.outbox(limit: 100)
            }
        } catch {
            if error.kind != .missing { throw CommandError(reading: error, in: state) }
            entries = []
        }
        // What has not arrived comes first.
        let sorted =
            entries.filter { $0.delivered == nil } + entries.filter { $0.delivered != nil }
        let shown = common.isQuiet ? sorted.filter { $0.delivered == nil } : sorted
        context.console.result(
            common.wantsJSON ? document(policy, shown).text + "\n" : text(policy, shown)
        )
        return .done
    }

    private func text(_ policy: NotifyPolicy, _ entries: [OutboxEntry]) -> String {
        var lines: [String] = []
        if !common.isQuiet {
            let rows = policy.targets.map { target in
                [
                    target.name, Self.way(of: target),
                    NotifyKind.allCases.filter { target.kinds.contains($0) && $0 != .test }
                        .map(\.rawValue).joined(separator: ", "),
                ]
            }
            lines =
                rows.isEmpty
                ? ["nobody is to be told"] : Columns.table([["target", "way", "when"]] + rows)
            lines.append("")
        }
        if entries.isEmpty {
            if !common.isQuiet { lines.append("nothing was to be told yet") }
        } else {
            let time = Zone.utc.text
            let rows = entries.map { entry in
                let what: String =
                    if let delivered = entry.delivered {
                        "told \(time(delivered))"
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

    private func document(_ policy: NotifyPolicy, _ entries: [OutboxEntry]) -> JSONValue {
        .object([
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
