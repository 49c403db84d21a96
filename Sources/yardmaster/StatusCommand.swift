import Commands
import Domain
import Journal
import Manifest
import Operations
import Reports
import Rollout
import Wire

/// `status`: where the latest rollout stands, from the journal alone.
struct StatusCommand {
    let options: StatusOptions

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let snapshot = try read()
        if snapshot.run == nil, let name = options.rollout {
            throw RunCommand.unknown(rollout: name)
        }
        let holder = StateDirectoryHolder.current(options.state)
        let common = try options.common.looking(
            in: VehicleLedger(state: options.state).ground(of: snapshot)
        )
        let chosen = snapshot.executions.filter { common.takes($0.vehicle) }
        let plan = VehicleLedger(state: options.state).plan(of: snapshot)
        if options.common.wantsJSON {
            context.console.result(document(snapshot, chosen, plan, holder).text + "\n")
        } else {
            context.console.result(text(snapshot, chosen, plan, holder, context))
        }
        return .done
    }

    private func read() throws(CommandError) -> RolloutSnapshot {
        do throws(JournalError) {
            return try JournalReader(directory: options.state).read { view throws(JournalError) in
                try RolloutSnapshot(of: options.rollout, in: view, at: RealTime().wallTime)
            }
        } catch {
            throw RunCommand.refusal(reading: error, in: options.state)
        }
    }

    /// When the time between two waves is over.
    private static func soaksUntil(_ snapshot: RolloutSnapshot, _ plan: FrozenPlan?) -> WallTime? {
        guard let rollout = snapshot.rollout, rollout.hold == nil, rollout.state == .running,
            let ended = rollout.waveEnded,
            let soak = plan?.rollout.between.soak, soak > .zero
        else { return nil }
        return ended.advanced(by: soak)
    }

    /// What people do next about these vehicles.
    private func nextSteps(
        _ snapshot: RolloutSnapshot,
        _ executions: [ExecutionRecord],
        _ plan: FrozenPlan?
    ) -> [(vehicle: VehicleID, step: NextStep)] {
        let chosen = Set(executions.map(\.vehicle))
        return snapshot.nextSteps(
            manifest: PlanArchive(state: options.state).manifest(of: snapshot.run?.rollout ?? ""),
            plan,
            flags: options.stateFlag
        ).filter { chosen.contains($0.record.vehicle) }.map { ($0.record.vehicle, $0.step) }
    }

    // MARK: For people

    private func text(
        _ snapshot: RolloutSnapshot,
        _ executions: [ExecutionRecord],
        _ plan: FrozenPlan?,
        _ holder: LockHolder?,
        _ context: Context
    ) -> String {
        guard let run = snapshot.run else { return "nothing has run here yet\n" }
        let zone = plan.flatMap { try? ZoneSource.zone(of: $0, context) } ?? .utc
        let time = zone.text
        var lines = others(than: run, time)
        lines.append(
            "rollout \(run.rollout.visible), run \(run.number), begun \(time(run.started))"
        )
        if let end = run.end {
            let code = end.exitCode.map { "exit \($0): " } ?? ""
            lines.append("ended \(time(end.time)), \(code)\(end.reason)")
        } else if let holder {
            lines.append("at work now: \(holder)")
        } else {
            lines.append("was cut off; run it again and it goes on where the modules stand")
        }
        let standings = snapshot.standings(of: executions)
        if !standings.isEmpty {
            lines.append(VehicleCounts(standings.map { $0.verdict?.outcome }).sentence)
        }
        lines += Self.standing(snapshot, time)
        if let until = Self.soaksUntil(snapshot, plan) {
            lines.append("the next wave may begin at \(time(until))")
        }
        if !snapshot.underWay.isEmpty {
            let names = snapshot.underWay.map {
                "\($0.vehicle.text.visible) (\($0.state.rawValue))"
            }
            let verb = holder == nil ? "was working on" : "works on"
            lines.append("\(verb) \(names.joined(separator: ", "))")
        }
        if let next = snapshot.nextDeadline {
            lines.append(
                "next deadline: \(next.deadline.label) of \(next.vehicle.text.visible) at "
                    + time(next.deadline.time)
            )
        }
        lines.append("")
        // What needs somebody comes first; who asks quietly is not told of the rest.
        let rows = zip(executions, standings).enumerated().map { index, pair in
            (index: index, record: pair.0, standing: pair.1, rank: Self.rank(pair.1))
        }.filter { !options.common.isQuiet || $0.rank < Self.fine }
            .sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }
        if !rows.isEmpty {
            lines += Columns.table(
                [["vehicle", "serial", "state", "version", "since", "what"]]
                    + rows.map { row in
                        let isUnderWay = snapshot.isUnderWay(row.record)
                        let verdict = row.standing.verdict
                        return [
                            row.record.vehicle.text.visible,
                            row.record.serial.text,
                            isUnderWay
                                ? row.record.state.rawValue
                                : verdict?.outcome.rawValue ?? row.standing.state.rawValue,
                            (row.standing.debt == nil ? row.record.versionAfter : nil)?.description
                                ?? row.record.versionBefore?.description ?? "-",
                            time(row.record.updated),
                            isUnderWay
                                ? Self.sentence(about: row.record, time)
                                : (verdict?.message ?? row.standing.sentence).visible,
                        ]
                    }
            )
        }
        lines += Self.toDo(nextSteps(snapshot, executions, plan))
        let left = executions.filter(\.inBootloader).map(\.vehicle.text)
        if !left.isEmpty {
            lines.append("")
            lines.append(
                "in the bootloader, and first in the next run: \(left.joined(separator: ", "))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Those that need somebody come before those that the next run takes, and these before the rest.
    private static func rank(_ standing: Standing) -> Int {
        if standing.doubt != nil || standing.debt != nil { return 0 }
        return switch standing.verdict?.outcome.tally {
        case .failed: 1
        case .unreachable: 2
        case .deferred: 3
        case nil: 4
        case .ok, .current, .skipped, .aborted: standing.owed.isEmpty ? fine : 4
        }
    }

    private static let fine = 5

    /// Those steps by their kind, and the commands for them.
    private static func toDo(_ steps: [(vehicle: VehicleID, step: NextStep)]) -> [String] {
        guard !steps.isEmpty else { return [] }
        var lines = ["", "what to do"]
        for work in NextStep.Work.allCases {
            let here = steps.filter { $0.step.work == work }
            guard !here.isEmpty else { continue }
            let names = here.map(\.vehicle.text.visible).joined(separator: ", ")
            lines.append("  \(work.title): \(names)")
            var told: [String] = []
            for command in here.flatMap(\.step.commands) where !told.contains(command.line) {
                told.append(command.line)
                lines.append("    $ \(command.line.visible)   # \(command.when)")
            }
        }
        return lines
    }

    /// The other rollouts of the state directory, the newest first: one line each.
    private func others(than run: RunRecord, _ time: (WallTime) -> String) -> [String] {
        guard options.rollout == nil else { return [] }
        let others = rollouts.filter { $0.run.rollout != run.rollout }
        guard !others.isEmpty else { return [] }
        var lines = ["other rollouts here ('status --rollout NAME' shows one):"]
        for other in others {
            let end = other.run.end.map { "ended \(time($0.time))" } ?? "has no end"
            lines.append(
                "  \(other.run.rollout.visible): \(other.state), run \(other.run.number) \(end), "
                    + other.counts.sentence
            )
        }
        return lines + [""]
    }

    /// A rollout of the state directory in short.
    private struct Brief {
        let run: RunRecord
        let state: String
        let counts: VehicleCounts
    }

    /// All that ran here and are no orders, the newest first.
    private var rollouts: [Brief] {
        let briefs = try? JournalReader(directory: options.state).read {
            view throws(JournalError) -> [Brief] in
            var briefs: [Brief] = []
            for run in try view.runs(rollout: nil, limit: 1_000) where !run.isOrder {
                guard !briefs.contains(where: { $0.run.rollout == run.rollout }) else { continue }
                let snapshot = try RolloutSnapshot(
                    of: run.rollout,
                    in: view,
                    at: RealTime().wallTime
                )
                let standings = snapshot.standings(of: snapshot.executions)
                briefs.append(
                    Brief(
                        run: run,
                        state: snapshot.rollout.map {
                            $0.hold?.kind.rawValue ?? $0.state.rawValue
                        } ?? "finished",
                        counts: VehicleCounts(standings.map { $0.verdict?.outcome })
                    )
                )
            }
            return briefs
        }
        return briefs ?? []
    }

    /// What holds of the rollout as a whole.
    private static func standing(
        _ snapshot: RolloutSnapshot,
        _ time: (WallTime) -> String
    ) -> [String] {
        var lines: [String] = []
        if let rollout = snapshot.rollout {
            switch (rollout.hold, rollout.state) {
            case (let hold?, _): lines.append(hold.sentence)
            case (nil, .running): lines.append("under way in wave \(rollout.wave + 1)")
            case (nil, .finished): lines.append("finished")
            }
            if rollout.state != .finished, let ended = rollout.waveEnded {
                lines.append("wave \(rollout.wave + 1) ended \(time(ended))")
            }
        }
        for open in snapshot.requests {
            lines.append(
                "asked for and not taken up yet: \(open.request.kind.rawValue), "
                    + time(open.request.made)
            )
        }
        for inhibit in snapshot.inhibits {
            let whom = inhibit.vehicle?.text.visible ?? "the depot"
            let until = inhibit.expires.map { " until \(time($0))" } ?? ""
            lines.append("left alone\(until): \(whom), \(inhibit.reason.visible)")
        }
        for debt in snapshot.debts {
            lines.append("\(debt.vehicle.text.visible): \(debt.sentence.visible)")
        }
        for doubt in snapshot.openDoubts {
            let vehicle = doubt.intent.vehicle.text.visible
            lines.append(
                "\(vehicle): nobody knows whether `\(doubt.intent.description.visible)` of run "
                    + "\(doubt.intent.run) was carried out; look, then say 'yardmaster retry "
                    + "\(vehicle)' when it was not, 'yardmaster clear \(vehicle)' when it was"
            )
        }
        for step in snapshot.owed {
            lines.append(
                "\(step.vehicle.text.visible): `\(step.action.visible)` is owed since run "
                    + "\(step.run); the next run does it first"
            )
        }
        for failure in snapshot.failures where failure.count > 1 {
            lines.append(
                "\(failure.vehicle.text.visible) has failed \(failure.count) times on one image: "
                    + failure.message.visible
            )
        }
        return lines
    }

    /// How far one is that is worked on.
    private static func sentence(
        about record: ExecutionRecord,
        _ time: (WallTime) -> String
    ) -> String {
        var parts: [String] = []
        if let total = record.totalBytes, let done = record.acknowledged, total > .zero {
            parts.append("\(done) of \(total)")
        }
        if record.interruptions > 0 { parts.append("interrupted \(record.interruptions) times") }
        if let deadline = record.nextDeadline {
            parts.append("next: \(deadline.label) at \(time(deadline.time))")
        }
        return parts.isEmpty ? "attempt \(record.attempt)" : parts.joined(separator: ", ")
    }

    // MARK: For programs

    private func document(
        _ snapshot: RolloutSnapshot,
        _ executions: [ExecutionRecord],
        _ plan: FrozenPlan?,
        _ holder: LockHolder?
    ) -> JSONValue {
        let run = snapshot.run
        let standings = snapshot.standings(of: executions)
        return .object([
            "schema": 1,
            "rollout": run.map { .string($0.rollout) },
            "run": run.map { .integer(Int64($0.number)) },
            "plan": run.map { .string($0.plan.description) },
            "started": run.map { .string($0.started.description) },
            "ended": run?.end.map { .string($0.time.description) },
            "exit": run?.end.map { end in
                .object([
                    "code": end.exitCode.map { .integer(Int64($0)) } ?? .null,
                    "reason": .string(end.reason),
                ])
            },
            "running": .bool(holder != nil),
            "state": snapshot.rollout.map {
                .string($0.hold?.kind.rawValue ?? $0.state.rawValue)
            },
            "reason": snapshot.rollout.map { .string($0.hold?.reason ?? "") },
            "author": snapshot.rollout?.hold.map { .string($0.author) },
            "wave": snapshot.rollout.map { .int($0.wave + 1) },
            "soaks-until": Self.soaksUntil(snapshot, plan).map { .string($0.description) },
            "under-way": .array(snapshot.underWay.map { .string($0.vehicle.text) }),
            "next-deadline": snapshot.nextDeadline.map { next in
                .object([
                    "vehicle": .string(next.vehicle.text),
                    "label": .string(next.deadline.label),
                    "time": .string(next.deadline.time.description),
                ])
            },
            "requests": .array(
                snapshot.requests.map { open in
                    .object([
                        "kind": .string(open.request.kind.rawValue),
                        "reason": .string(open.request.reason),
                        "made": .string(open.request.made.description),
                    ])
                }
            ),
            "inhibits": .array(
                snapshot.inhibits.map { inhibit in
                    .object([
                        "vehicle": inhibit.vehicle.map { .string($0.text) },
                        "reason": .string(inhibit.reason),
                        "expires": inhibit.expires.map { .string($0.description) },
                    ])
                }
            ),
            "failures": .array(
                snapshot.failures.map { failure in
                    .object([
                        "vehicle": .string(failure.vehicle.text),
                        "image": .string(failure.release.description),
                        "count": .int(failure.count),
                        "message": .string(failure.message),
                    ])
                }
            ),
            "debts": .array(
                snapshot.debts.map { debt in
                    .object([
                        "vehicle": .string(debt.vehicle.text),
                        "serial": .string(debt.serial.text),
                        "image": .string(debt.image.description),
                        "name": .string(debt.name),
                        "version": debt.version.map { .string($0.description) },
                        "rollout": .string(debt.rollout),
                        "run": .int(debt.run),
                        "seen-run": .int(debt.seenRun),
                        "in-bootloader": .bool(debt.inBootloader),
                    ])
                }
            ),
            "doubts": .array(
                snapshot.openDoubts.map { doubt in
                    .object([
                        "vehicle": .string(doubt.intent.vehicle.text),
                        "step": .string(doubt.intent.description),
                        "run": .int(doubt.intent.run),
                    ])
                }
            ),
            "owed": .array(
                snapshot.owed.map { step in
                    .object([
                        "vehicle": .string(step.vehicle.text),
                        "step": .string(step.action),
                        "run": .int(step.run),
                    ])
                }
            ),
            "rollouts": .array(
                rollouts.map { brief in
                    .object([
                        "rollout": .string(brief.run.rollout),
                        "run": .int(brief.run.number),
                        "state": .string(brief.state),
                        "started": .string(brief.run.started.description),
                        "ended": brief.run.end.map { .string($0.time.description) },
                        "exit": brief.run.end?.exitCode.map { .int($0) },
                        "counts": brief.counts.json,
                    ])
                }
            ),
            "counts": VehicleCounts(standings.map { $0.verdict?.outcome }).json,
            "vehicles": .array(
                zip(executions, standings).map { record, standing in
                    Self.member(record, standing, isUnderWay: snapshot.isUnderWay(record))
                }
            ),
            "next": .array(
                nextSteps(snapshot, executions, plan).map { next in
                    .object(
                        [JSONMember("vehicle", .string(next.vehicle.text))]
                            + (next.step.json.members ?? [])
                    )
                }
            ),
        ])
    }

    private static func member(
        _ record: ExecutionRecord,
        _ standing: Standing,
        isUnderWay: Bool
    ) -> JSONValue {
        let verdict = standing.verdict
        let ended = verdict == nil ? standing.state.rawValue : ExecutionState.ended.rawValue
        return .object([
            "id": .string(record.vehicle.text),
            "serial": .string(record.serial.text),
            "state": .string(isUnderWay ? record.state.rawValue : ended),
            "outcome": verdict.map { .string($0.outcome.rawValue) },
            "class": verdict?.failure.map { .string($0.rawValue) },
            "message": isUnderWay ? nil : .string(verdict?.message ?? standing.sentence),
            "percent": standing.debt.map { .int($0.percent) },
            "attempt": .integer(Int64(record.attempt)),
            "acknowledged": record.acknowledged.map { .integer(Int64($0.bytes)) },
            "total": record.totalBytes.map { .integer(Int64($0.bytes)) },
            "in-bootloader": .bool(record.inBootloader),
            "updated": .string(record.updated.description),
            "next-deadline": record.nextDeadline.map { deadline in
                .object([
                    "label": .string(deadline.label), "time": .string(deadline.time.description),
                ])
            },
        ])
    }
}

extension Hold {
    /// For people: what holds, who set it, and what takes it back.
    fileprivate var sentence: String {
        let by = author.isEmpty || author == Self.gate ? "" : ", by \(author.visible)"
        switch kind {
        case .paused: return "paused: \(reason.visible)\(by); 'yardmaster resume' lets it go on"
        case .aborted: return "aborted: \(reason.visible)\(by)"
        }
    }
}

/// Who works in a state directory, as far as reading tells.
enum StateDirectoryHolder {
    static func current(_ path: String) -> LockHolder? {
        (try? StateDirectory.existing(at: path))?.holder()
    }
}
