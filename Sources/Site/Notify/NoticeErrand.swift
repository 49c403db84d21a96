import Base
package import Commands
import Manifest
package import Operations
import Show
import Store

/// Notices without a run: a test of the targets, a report that no run took place for too long, and
/// a report that a unit of the service manager has failed.
package struct NoticeErrand {
    private let notices: NoticeSender
    private let state: String
    private let context: Context

    package init(_ notices: NoticeSender, in state: String, _ context: Context) {
        self.notices = notices
        self.state = state
        self.context = context
    }

    /// Sends a test notice to the named targets, or to all when none is named.
    package func test(
        _ targets: [String]
    ) async throws(CommandError) -> (results: [NoticeSender.Result], code: ExitCode) {
        let policy = try notices.policy()
        let known = policy.targets.map(\.name)
        if let unknown = targets.first(where: { !known.contains($0) }) {
            throw CommandError(
                .usage,
                "no list contains the target \(unknown.visible)",
                hint: known.isEmpty
                    ? "write one in \(state)/notify.yaml"
                    : "the targets are \(known.joined(separator: ", "))"
            )
        }
        guard !known.isEmpty else {
            throw CommandError(
                .inputMissing,
                "no target for notices is named",
                hint: "name targets in /etc/yardmaster/notify.yaml, \(state)/notify.yaml or under "
                    + "`notify` of a manifest"
            )
        }
        let now = RealTime().wallTime
        let notice = NotifyNotice(
            kind: .test,
            host: NoticeSender.host,
            reason: "this is a test of whether notices arrive",
            time: now,
            localTime: Zone.utc.text(now)
        )
        let key = "test-\(now.milliseconds)"
        let names = targets.isEmpty ? known : targets
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
        let isDone = results.count == names.count && results.allSatisfy { $0.failure == nil }
        return (results, isDone ? .done : .unavailable)
    }

    /// Sends the notices that have not arrived, and a new one when no run took place for too long.
    package func send() async throws(CommandError) -> [NoticeSender.Result] {
        try await lookForSilence()
        return await notices.deliver(within: .seconds(300))
    }

    /// Finds a rollout without runs for longer than its list allows.
    private func lookForSilence() async throws(CommandError) {
        let policy = try notices.policy()
        guard let limit = policy.silentAfter else { return }
        let now = RealTime().wallTime
        // Asked first: a run that begins meanwhile has been heard of.
        let isAtWork = StateDirectoryHolder.current(state) != nil
        let found: (run: RunRecord, sign: WallTime)?
        do throws(JournalError) {
            found = try JournalReader(directory: state).read {
                view throws(JournalError) -> (run: RunRecord, sign: WallTime)? in
                guard let run = try view.lastRollout() else { return nil }
                if let end = run.end { return (run, end.time) }
                return (run, try view.lastSign(of: run))
            }
        } catch { throw CommandError(reading: error, in: state) }
        // A run that is still working is not silent, and nobody waits for a rehearsal. One that
        // was cut off has no end until another run begins, and that run may be what is missing.
        guard let (last, sign) = found, last.seed == nil, last.end != nil || !isAtWork,
            sign.duration(to: now) > limit
        else { return }
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

    /// Reports that a unit has failed, unless the run itself has already reported it.
    package func failure(of unit: String) async throws(CommandError) -> [NoticeSender.Result] {
        let code = context.variable("MONITOR_EXIT_STATUS").flatMap { Int($0) }
        let invocation =
            context.variable("MONITOR_INVOCATION_ID") ?? "\(RealTime().wallTime.milliseconds)"
        let policy = try notices.policy()
        let now = RealTime().wallTime
        let isTold = try? JournalReader(directory: state).read { view throws(JournalError) in
            guard let run = try view.runs(rollout: nil, limit: 1).first, let end = run.end,
                end.exitCode == code, end.time.duration(to: now) < .seconds(600)
            else { return false }
            // The notice of a pause was sent when the gate tripped.
            if end.exitCode == 12 { return true }
            return try view.isTold("run-\(run.number)")
        }
        if isTold != true {
            let result = context.variable("MONITOR_SERVICE_RESULT").map { ", \($0)" } ?? ""
            try await post(
                "unit-\(invocation)",
                policy,
                code,
                because: "\(unit) has failed" + (code.map { ": exit \($0)" } ?? "") + result,
                next: "journalctl -u \(NextStep.quoted(unit)) -n 50"
            )
        }
        return await notices.deliver(within: .seconds(300))
    }

    /// Reports that an update server was not used, once for each start of a unit: its failure stops no run, so the
    /// service manager tells nobody.
    package func failure(
        ofSync manifest: String,
        _ code: ExitCode,
        because reason: String
    ) async throws(CommandError) {
        guard let invocation = context.variable("INVOCATION_ID") else { return }
        try await post(
            "sync-\(invocation)",
            notices.policy(),
            Int(code.rawValue),
            because: "the update server was not used: \(reason)",
            next: "yardmaster sync \(NextStep.quoted(manifest))"
        )
        _ = await notices.deliver(within: .seconds(30))
    }

    private func post(
        _ key: String,
        _ policy: NotifyPolicy,
        _ code: Int?,
        because reason: String,
        next: String
    ) async throws(CommandError) {
        let now = RealTime().wallTime
        let notice = NotifyNotice(
            kind: .failed,
            host: NoticeSender.host,
            exitCode: code,
            reason: reason,
            next: next,
            time: now,
            localTime: Zone.utc.text(now)
        )
        try await post(
            policy.targets.filter { $0.kinds.contains(.failed) }.map {
                OutboxWish(
                    key: key,
                    target: $0.name,
                    kind: NotifyKind.failed.rawValue,
                    body: notice.json.text
                )
            }
        )
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
}
