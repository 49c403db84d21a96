package import Base
package import Manifest
package import Show
package import Store

/// The content of a notice; it does not change when sending is tried again.
package struct NotifyNotice: Sendable, Equatable {
    /// A vehicle that needs a person.
    package struct Task: Sendable, Equatable {
        package let vehicle: String
        /// The vehicle with its bay and its plate.
        let name: String
        let work: String
        let sentence: String
        let commands: [String]
    }

    /// More vehicles than this are only counted.
    static let mostTasks = 50

    let kind: NotifyKind
    let host: String
    let rollout: String?
    let run: Int?
    let exitCode: Int?
    /// The reason, in one sentence.
    let reason: String
    /// The vehicles of the rollout; nil without a run.
    package let counts: VehicleCounts?
    package let tasks: [Task]
    /// How many vehicles of how many need a person; nil without a run.
    let headline: String?
    /// The number of vehicles that are left out of the tasks.
    package let more: Int
    /// The next command, as a line for the shell.
    let next: String
    package let time: WallTime
    /// The same time as text for people.
    let localTime: String
    /// Whether the run was on simulated vehicles.
    let isRehearsal: Bool

    package init(
        kind: NotifyKind,
        host: String,
        rollout: String? = nil,
        run: Int? = nil,
        exitCode: Int? = nil,
        reason: String,
        counts: VehicleCounts? = nil,
        headline: String? = nil,
        tasks: [Task] = [],
        next: String = "",
        time: WallTime,
        localTime: String,
        isRehearsal: Bool = false
    ) {
        self.isRehearsal = isRehearsal
        self.kind = kind
        self.host = host
        self.rollout = rollout
        self.run = run
        self.exitCode = exitCode
        self.reason = reason
        self.counts = counts
        self.headline = headline
        self.tasks = Array(tasks.prefix(Self.mostTasks))
        more = max(0, tasks.count - Self.mostTasks)
        self.next = next
        self.time = time
        self.localTime = localTime
    }

    /// What there is to say of a run and of its rollout as it stands, in one moment.
    package init(
        _ kind: NotifyKind,
        of run: RunRecord,
        _ snapshot: RolloutSnapshot,
        _ plan: PlanView?,
        zone: Zone,
        manifest: String?,
        flags: PlaceFlags,
        made: WallTime
    ) {
        // A vehicle that failed is named even where a run will do the rest.
        let standings = snapshot.standings(of: snapshot.executions)
        let steps = snapshot.nextSteps(manifest: manifest, plan, flags: flags, standings)
        let planned = Dictionary((plan?.vehicles ?? []).map { ($0.id, $0) }) { first, _ in first }
        var headline = Headline(snapshot, standings)
        for next in steps { headline.add(next.record.vehicle, next.step) }
        let tasks =
            steps
            .filter { $0.step.work < .wait || $0.standing.verdict?.outcome.tally == .failed }
            .sorted { $0.step.work < $1.step.work }
            .map { record, _, step in
                Task(
                    vehicle: record.vehicle.text,
                    name: MorningPage.Card(record.vehicle, nil, planned[record.vehicle]).name,
                    work: step.work.rawValue,
                    sentence: step.sentence,
                    commands: step.commands.map(\.line)
                )
            }
        let end = run.end?.time ?? made
        let code = run.end?.exitCode
        self.init(
            kind: kind,
            host: NoticeSender.host,
            rollout: run.rollout,
            run: run.number,
            exitCode: code,
            reason: kind == .silent
                ? "nothing was heard from it since \(zone.text(end))"
                : run.end?.reason(under: snapshot.rollout?.hold) ?? "cut off",
            counts: VehicleCounts(standings.map { $0.verdict?.outcome }),
            headline: headline.sentence,
            tasks: tasks,
            next: Self.next(
                kind,
                exitCode: code,
                flags.offers(run.rollout, again: flags.again(manifest))
            ),
            time: end,
            localTime: zone.text(end),
            isRehearsal: run.seed != nil
        )
    }

    /// There is no next command after a run that ended well; after a silence there is one, however
    /// the last run ended.
    static func next(
        _ kind: NotifyKind,
        exitCode: Int?,
        _ offers: RunOffers
    ) -> String {
        if kind != .silent, exitCode == 0 { return "" }
        let code = kind == .silent ? nil : exitCode
        return offers.next(exitCode: code ?? 15)
    }

    /// The subject line of the notice.
    package var title: String {
        let what = rollout ?? host
        let words =
            switch kind {
            case .ended: "\(what) has ended"
            case .failed: "\(what) has failed"
            case .paused: "\(what) is paused"
            case .needsPerson: "\(what) needs somebody"
            case .silent: "no run of \(what)"
            case .test: "a test from \(host)"
            }
        let rest = counts?.sentence ?? reason
        let from = isRehearsal ? "yardmaster (rehearsal)" : "yardmaster"
        return "\(from): \(words): \(rest)".visible
    }

    /// Text for people: the reason, the vehicles, and the next command.
    package var text: String {
        var lines = isRehearsal ? ["a rehearsal: no vehicle was touched"] : []
        lines.append(reason.visible)
        if let headline { lines.append(headline) }
        if let counts { lines.append(counts.sentence) }
        if let rollout {
            lines.append(
                "rollout \(rollout.visible)" + (run.map { ", run \($0)" } ?? "")
                    + (exitCode.map { ", exit \($0)" } ?? "") + ", \(localTime), on \(host.visible)"
            )
        } else {
            lines.append("\(localTime), on \(host.visible)")
        }
        var told: Set<String> = []
        for (work, tasks) in tasks.grouped(by: \.work) {
            let kind = NextStep.Work(rawValue: work)
            lines += ["", "\(kind?.title ?? work) (\(tasks.count))"]
            lines += tasks.map { "\($0.name.visible): \($0.sentence.visible)" }
            for (commands, _) in tasks.grouped(by: \.commands) {
                let new = commands.filter { !told.contains($0) }.prefix(kind?.commandCount ?? 1)
                told.formUnion(new)
                lines += new.map { "    \($0.visible)" }
            }
        }
        if more > 0 { lines += ["", "and \(more) more"] }
        if !next.isEmpty, !told.contains(next) { lines += ["", "next: \(next.visible)"] }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The JSON document for programs, whose schema only grows.
    package var json: JSONValue {
        .object([
            "schema": 1,
            "type": .string(kind.rawValue),
            "host": .string(host),
            "time": .string(time.description),
            "unix-milliseconds": .integer(time.milliseconds),
            "local-time": .string(localTime),
            // Only a rehearsal has it.
            "rehearsal": isRehearsal ? true : nil,
            "rollout": rollout.map { .string($0) },
            "run": run.map { .integer(Int64($0)) },
            "exit": exitCode.map { .integer(Int64($0)) },
            "reason": .string(reason),
            "counts": counts?.json,
            "headline": headline.map { .string($0) },
            "vehicles": .array(
                tasks.map { task in
                    .object([
                        "vehicle": .string(task.vehicle),
                        "name": .string(task.name),
                        "work": .string(task.work),
                        "sentence": .string(task.sentence),
                        "commands": .array(task.commands.map { .string($0) }),
                    ])
                }
            ),
            "more": .integer(Int64(more)),
            "next": .string(next),
        ])
    }

    /// Reads the result of `json`; nil for anything else.
    package init?(_ value: JSONValue) {
        guard value["schema"]?.integer == 1,
            let kind = value["type"]?.string.flatMap({ NotifyKind(rawValue: $0) }),
            let reason = value["reason"]?.string, let host = value["host"]?.string,
            let local = value["local-time"]?.string,
            let milliseconds = value["unix-milliseconds"]?.integer
        else { return nil }
        self.kind = kind
        self.reason = reason
        self.host = host
        localTime = local
        isRehearsal = value["rehearsal"]?.bool ?? false
        time = WallTime(milliseconds: milliseconds)
        rollout = value["rollout"]?.string
        run = value["run"]?.integer.flatMap { Int(exactly: $0) }
        exitCode = value["exit"]?.integer.flatMap { Int(exactly: $0) }
        counts = value["counts"].flatMap { VehicleCounts($0) }
        headline = value["headline"]?.string
        next = value["next"]?.string ?? ""
        more = value["more"]?.integer.flatMap { Int(exactly: $0) } ?? 0
        tasks = (value["vehicles"]?.array ?? []).map { task in
            Task(
                vehicle: task["vehicle"]?.string ?? "",
                name: task["name"]?.string ?? task["vehicle"]?.string ?? "",
                work: task["work"]?.string ?? "",
                sentence: task["sentence"]?.string ?? "",
                commands: (task["commands"]?.array ?? []).compactMap(\.string)
            )
        }
    }
}
