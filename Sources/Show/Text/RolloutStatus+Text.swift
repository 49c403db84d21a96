package import Base
package import Store

extension RolloutStatus {
    /// One vehicle as it is printed.
    package struct Row: Sendable {
        package let record: ExecutionRecord
        package let standing: Standing
        package let isUnderWay: Bool
        /// The gateway that works on it, in a fleet.
        let holder: SharedStanding.Holder?

        /// The outcome, or its progress when there is none.
        package var state: String {
            isUnderWay
                ? record.state.rawValue
                : standing.verdict?.outcome.rawValue ?? standing.state.rawValue
        }

        /// The version when it was last read; nil while an update is not proven, because then it is
        /// unknown.
        package var version: String? {
            standing.debt == nil ? (record.versionAfter ?? record.versionBefore)?.description : nil
        }

        /// Details beyond its state.
        package func what(_ time: (WallTime) -> String) -> String {
            guard isUnderWay else {
                // In a fleet the verdict is shown with the run that gave it.
                let isShared = standing.gateway != nil
                let words = isShared ? nil : standing.verdict?.message
                return (words ?? standing.sentence).visible
            }
            guard let holder else { return progress(time) }
            let since = holder.since.map { " since \(time($0))" } ?? ""
            let words = progress(time)
            return "\(holder.gateway.visible)\(since)" + (words.isEmpty ? "" : ": \(words)")
        }

        /// Whether no run has begun it yet.
        package var isNotBegun: Bool { !isUnderWay && state == Standing.State.notBegun.rawValue }

        /// Whether a person or the next run has something to do with it.
        package var needsMore: Bool { standing.needsMore }

        /// The progress of a vehicle that is worked on.
        private func progress(_ time: (WallTime) -> String) -> String {
            var parts: [String] = []
            if let total = record.totalBytes, let done = record.acknowledged, total > .zero {
                parts.append("\(done) of \(total)")
            }
            if record.interruptions > 0 {
                let times = record.interruptions == 1 ? "once" : "\(record.interruptions) times"
                parts.append("interrupted \(times)")
            }
            if let deadline = record.nextDeadline {
                parts.append("next: \(deadline.label) at \(time(deadline.time))")
            }
            if parts.isEmpty, record.attempt > 0 { parts.append("attempt \(record.attempt)") }
            return parts.joined(separator: ", ")
        }
    }

    /// The selected vehicles; those that need a person come first.
    package var rows: [Row] {
        zip(chosen, standings).map { record, standing in
            Row(
                record: record,
                standing: standing,
                isUnderWay: snapshot.isUnderWay(record),
                holder: snapshot.shared?.holders[record.vehicle]
            )
        }.enumerated().sorted {
            ($0.element.standing.rank, $0.offset) < ($1.element.standing.rank, $1.offset)
        }.map(\.element)
    }

    /// The rollout and when it was begun.
    func title(_ time: (WallTime) -> String) -> String {
        guard let run = snapshot.run else { return "nothing has run here yet" }
        let isShared = snapshot.shared != nil
        let number = isShared ? "" : ", run \(run.number)"
        let begun = snapshot.shared?.begun ?? run.started
        return "rollout \(run.rollout.visible)\(number), begun \(time(begun))"
    }

    /// The rollout and its active runs, one line each; `holder` is the process that works in the
    /// state directory.
    package func head(_ holder: LockHolder?, _ time: (WallTime) -> String) -> [String] {
        var lines = [title(time)]
        guard let run = snapshot.run else { return lines }
        lines += approval
        if let shared = snapshot.shared { return lines + shared.lines(time) }
        if let end = run.end {
            let code = end.exitCode.map { "exit \($0): " } ?? ""
            let reason = end.reason(under: snapshot.rollout?.hold)
            lines.append("ended \(time(end.time)), \(code)\(reason)")
        } else if let holder {
            let other =
                holder.rollout == run.rollout ? "" : ", rollout \(holder.rollout.visible)"
            lines.append(
                "at work now: process \(holder.pid)\(other), since \(time(holder.started))"
            )
        } else {
            lines.append("was cut off; " + run.cutOff)
        }
        return lines
    }

    private var approval: [String] { RunStart.approval(by: approvers).map { [$0] } ?? [] }

    private var isOperator: Bool { snapshot.shared?.isOperator ?? true }

    /// `isTold` where the commands that answer it stand beside its vehicle.
    private func sentence(_ doubt: IntentRecord, isTold: Bool) -> String {
        let vehicle = doubt.intent.vehicle.text
        let question =
            "\(vehicle.visible): nobody knows whether `\(doubt.intent.description.visible)` of run "
            + "\(doubt.runName) was carried out"
        guard !isTold else { return question }
        let no = flags.line("retry", NextStep.quoted(vehicle))
        let yes = flags.line("clear", NextStep.quoted(vehicle))
        let say = "; look, then \(isOperator ? "say" : "let an operator say") "
        // Of a rollout that is over for good, nothing is tried again.
        guard snapshot.rollout?.hold?.kind.isForGood != true else {
            return question + say + "'\(yes)'"
        }
        return question + say + "'\(no)' when it was not, '\(yes)' when it was"
    }

    /// Sentences about the rollout as a whole.
    ///
    /// What the lines of the vehicles say is left out where these are shown with them, and the
    /// gate's numbers, which change with each vehicle, where only news is shown.
    package func sentences(
        _ time: (WallTime) -> String,
        besideVehicles: Bool = false,
        withGate: Bool = true
    ) -> [String] {
        var lines: [String] = []
        if let rollout = snapshot.rollout {
            switch (rollout.hold, rollout.state) {
            case (let hold?, _):
                let whose = isOperator ? "" : "an operator's "
                lines.append(hold.sentence(resuming: "\(whose)'\(resume)'", back, again))
            case (nil, .running):
                let all = snapshot.shared == nil ? "" : " of \(waves.count)"
                lines.append(
                    waitsUntil == nil
                        ? "under way in wave \(rollout.wave + 1)\(all)\(outlook(time))"
                        : "waits for its window, which opens \(openings.words(time))"
                )
            case (nil, .finished): lines.append("finished")
            }
            if withGate, let gate = snapshot.shared?.gate { lines.append(gate.sentence) }
            if rollout.state != .finished, let ended = rollout.waveEnded {
                lines.append("wave \(rollout.wave + 1) ended \(time(ended))")
            }
            if let until = soaksUntil {
                lines.append("the next wave may begin at \(time(until))")
            }
            if waitsUntil == nil, !openings.isEmpty {
                lines.append("the window opens next at \(openings.words(time))")
            }
        }
        if let next = snapshot.nextDeadline {
            lines.append(
                "next deadline: \(next.deadline.label) of \(next.vehicle.text.visible) at "
                    + time(next.deadline.time)
            )
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
            lines.append(
                "left alone\(until): \(whom), \(inhibit.reason.visible)\(inhibit.by)"
            )
        }
        if !snapshot.recalls.isEmpty {
            let own = snapshot.executions.map(\.vehicle) + snapshot.done.flatMap(\.vehicles)
            let names = Set(own)
            lines += snapshot.recalls.flatMap { $0.sentences(among: names) }
        }
        for saying in snapshot.sayings where saying.leavesNothing {
            lines.append(saying.sentence(time))
        }
        return lines + vehicleSentences(besideVehicles)
    }

    /// When the active run is probably done, and whether that fits into its window.
    private func outlook(_ time: (WallTime) -> String) -> String {
        let end = expectedEnd
        let words = [
            end.map { "done at about \(time($0)) at this pace" },
            closes.map { closes in
                let isLate = end.map { $0 > closes } ?? false
                return "the window closes at \(time(closes))"
                    + (isLate ? ", and the rest goes on in the next one" : "")
            },
        ]
        return words.compactMap { $0.map { "; \($0)" } }.joined()
    }

    /// What vehicles owe, and what has failed more than once.
    private func vehicleSentences(_ besideVehicles: Bool) -> [String] {
        var lines: [String] = []
        // Debts that the active run is about to settle are not reported yet.
        let underWay = Set(snapshot.underWay.map(\.vehicle))
        var told: [VehicleID: String] = [:]
        if besideVehicles {
            for (record, standing) in zip(chosen, standings) {
                told[record.vehicle] = standing.verdict?.message ?? ""
            }
        }
        let owing = Set(
            besideVehicles
                ? zip(chosen, standings).filter { $1.debt != nil && $1.verdict == nil }.map(
                    \.0.vehicle
                ) : []
        )
        for debt in snapshot.debts
        where !underWay.contains(debt.vehicle)
            && !owing.contains(debt.vehicle)
            && told[debt.vehicle]?.contains(debt.sentence) != true
        {
            lines.append("\(debt.vehicle.text.visible): \(debt.sentence.visible)")
        }
        lines += snapshot.openDoubts.map { sentence($0, isTold: told[$0.intent.vehicle] != nil) }
        for step in snapshot.owed {
            lines.append(
                "\(step.vehicle.text.visible): `\(step.action.visible)` is owed since run "
                    + "\(step.runName); the next run does it first"
            )
        }
        // Of many vehicles those are listed that are not done.
        let isLong = counts.total > Self.mostListed
        let listed =
            isLong
            ? Set(zip(chosen, standings).filter { $1.needsMore }.map(\.0.vehicle)) : []
        for failure in snapshot.failures
        where failure.count > 1 && (!isLong || listed.contains(failure.vehicle)) {
            let isTold = told[failure.vehicle]?.contains(failure.message) == true
            lines.append(
                "\(failure.vehicle.text.visible) has failed \(failure.count) times on one image"
                    + (isTold ? "" : ": \(failure.message.visible)")
            )
        }
        return lines
    }
}

extension Standing {
    /// Vehicles that need a person come first, then those that the next run works on, then the rest.
    fileprivate var rank: Int {
        if doubt != nil || debt != nil { return 0 }
        return switch verdict?.outcome.tally {
        case .failed: 1
        case .unreachable: 2
        case .deferred: 3
        case nil: 4
        case .ok, .current, .skipped, .aborted: owed.isEmpty ? Self.fine : 4
        }
    }

    fileprivate var needsMore: Bool { rank < Self.fine }

    private static let fine = 5
}

extension ExecutionRecord {
    /// Whether its module waits in its bootloader; what an update left there is over with its debt.
    package func isInBootloader(_ standing: Standing) -> Bool {
        standing.debt == nil
            ? inBootloader && stage == "none" : standing.state == .inBootloader
    }
}

extension Hold {
    /// The sentence for people: the hold, who set it, and how to lift it.
    fileprivate func sentence(resuming resume: String, _ back: String, _ again: String) -> String {
        let by = author.isEmpty || isByGate ? "" : ", by \(author.visible)"
        switch kind {
        case .paused: return "paused: \(reason.visible)\(by); \(resume) lets it go on"
        case .aborted:
            return
                "aborted: \(reason.visible)\(by); '\(again)' begins it again, from the first step"
        case .recalled:
            return
                "recalled: \(reason.visible)\(by); '\(back)' goes on with that, and '\(again)' begins "
                + "it again"
        }
    }
}
