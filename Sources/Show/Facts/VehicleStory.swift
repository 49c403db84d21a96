package import Base
import Manifest
import Store

/// One vehicle as `show` prints it, for people and for programs.
package struct VehicleStory: Sendable {
    let view: VehicleView
    let planned: PlannedVehicle?
    let rollouts: [Row]
    /// The source of this answer; nil on a machine that belongs to no fleet.
    package var source: StandingSource?

    /// The standing of the vehicle in one rollout.
    struct Row {
        let rollout: String
        let record: ExecutionRecord
        let standing: Standing
        let hold: Hold?
        let step: NextStep?
        let isUnderWay: Bool
        /// The gateway that works on it, in a fleet.
        let holder: SharedStanding.Holder?
        /// The run that wrote the record last; nil in a fleet, for a vehicle without a verdict of a gateway.
        let run: RunName?

        /// Its state or the gateway that works on it, for people.
        func sentence(_ time: (WallTime) -> String) -> String {
            guard isUnderWay, let holder else { return standing.sentence }
            return "\(holder.gateway) works on it"
                + (holder.since.map { " since \(time($0))" } ?? "")
        }

        var state: String {
            isUnderWay
                ? record.state.rawValue
                : standing.verdict?.outcome.rawValue ?? standing.state.rawValue
        }
    }

    package init(_ view: VehicleView, plans: [String: MorningMaker.Plan], flags: PlaceFlags) {
        self.view = view
        planned =
            view.snapshots.lazy.compactMap { snapshot in
                plans[snapshot.run?.rollout ?? ""]?.plan.vehicles.first { $0.id == view.vehicle }
            }.first
        rollouts = view.snapshots.compactMap { snapshot in
            let name = snapshot.run?.rollout ?? ""
            guard let record = snapshot.executions.last(where: { $0.vehicle == view.vehicle }),
                let standing = snapshot.standings(of: [record]).first
            else { return nil }
            let steps = snapshot.nextSteps(
                manifest: plans[name]?.manifest,
                plans[name]?.plan,
                flags: flags
            )
            return Row(
                rollout: name,
                record: record,
                standing: standing,
                hold: snapshot.rollout?.hold,
                step: steps.first { $0.record.vehicle == view.vehicle }?.step,
                isUnderWay: snapshot.isUnderWay(record),
                holder: snapshot.shared?.holders[view.vehicle],
                run: snapshot.shared != nil && record.gateway == nil
                    ? nil : RunName(record.run, of: record.gateway)
            )
        }
    }

    var serial: Serial? {
        rollouts.first?.record.serial ?? planned?.serial ?? view.inventory?.serial
    }

    /// The version when it was last read; nil while an update is not proven, because then it is
    /// unknown.
    var version: FirmwareVersion? { view.debts.isEmpty ? versionRead : nil }

    private var versionRead: FirmwareVersion? {
        view.inventory?.version.flatMap { FirmwareVersion($0) }
            ?? rollouts.lazy.compactMap { $0.record.versionAfter ?? $0.record.versionBefore }.first
    }

    /// When an inventory heard it or a run got an answer from it.
    var lastSeen: WallTime? {
        [view.lastSeen, view.inventory?.lastSeen].compactMap { $0 }.max()
    }

    /// The signal when it was last heard.
    var signal: String? {
        let heard = view.inventory?.record
        guard let signal = heard?.signal, let time = heard?.heard else { return view.signal }
        return view.lastSeen.map { $0 > time } ?? false
            ? view.signal ?? "\(signal) dBm" : "\(signal) dBm"
    }

    /// The next steps, the most urgent first; a step of several rollouts appears once.
    var steps: [NextStep] {
        var steps: [NextStep] = []
        for step in rollouts.compactMap(\.step)
        where !steps.contains(where: { $0.work == step.work }) {
            steps.append(step)
        }
        return steps.sorted { $0.work < $1.work }
    }

    /// The steps with their commands, each where it is needed first.
    var help: [(step: NextStep, commands: [NextStep.Command])] {
        var told: Set<String> = []
        return steps.map { step in
            (step, step.commands.filter { told.insert($0.line).inserted })
        }
    }

    /// Facts that do not depend on rollouts, one line each.
    func facts(_ time: (WallTime) -> String) -> [String] {
        var facts: [String] = []
        if let serial { facts.append("serial \(serial)") }
        if let planned {
            facts.append("family \(planned.family.rawValue), profile \(planned.profile)")
        } else if let known = view.inventory {
            facts.append("family \(known.family.rawValue), profile \(known.profile)")
        }
        facts += (planned?.labels ?? []).filter { !$0.value.isEmpty }.map {
            "\($0.name.visible) \($0.value.visible)"
        }
        var lines = facts.isEmpty ? [] : [facts.joined(separator: ", ")]
        let read = view.debts.isEmpty ? nil : versionRead
        lines.append(
            "version \(version?.description ?? "not known")"
                + (read.map { "; \($0) was read before its update was begun" } ?? "")
        )
        let seen = lastSeen.map { "seen \(time($0))" } ?? "never seen"
        lines.append(seen + (signal.map { " at \($0.visible)" } ?? ""))
        lines += (view.inventory?.lines(time) ?? [])
        for inhibit in view.inhibits {
            let until = inhibit.expires.map { " until \(time($0))" } ?? ""
            let whom = inhibit.vehicle == nil ? " (the whole depot)" : ""
            lines.append("left alone\(until)\(whom): \(inhibit.reason.visible)\(inhibit.by)")
        }
        for debt in view.debts {
            lines.append(
                "owes the update to \(debt.title.visible): begun in run \(debt.runName), seen "
                    + "last in run \(debt.seenName)"
                    + (debt.inBootloader ? ", in its bootloader" : "")
            )
        }
        for doubt in view.doubts {
            lines.append(
                "nobody knows whether `\(doubt.intent.description.visible)` of run "
                    + "\(doubt.runName) was carried out"
            )
        }
        for step in view.owed {
            lines.append("owes `\(step.action.visible)` since run \(step.runName)")
        }
        for failure in view.failures {
            let times = failure.count == 1 ? "once" : "\(failure.count) times"
            lines.append("failed \(times) on one image: \(failure.message.visible)")
        }
        return lines
    }

    /// `time` formats a time for people.
    package func text(_ time: (WallTime) -> String) -> String {
        var lines = source.map { [$0.sentence] } ?? []
        lines += ["vehicle \(view.vehicle.text.visible)"] + facts(time).map { "  " + $0 }
        lines += ["", "rollouts"]
        for row in rollouts {
            let hold = row.hold.map { ", the rollout is \($0.kind.rawValue)" } ?? ""
            lines.append(
                "  \(row.rollout.visible)\(row.run.map { ", run \($0)" } ?? ""): "
                    + "\(row.state)\(hold), \(time(row.record.updated))"
            )
            let sentence = row.sentence(time)
            // What happened stands once: with what to do about it.
            if !steps.contains(where: { $0.message == sentence }) {
                lines.append("    " + sentence.visible)
            }
        }
        if !view.endings.isEmpty {
            lines += ["", "last verdicts"]
            for ending in view.endings.suffix(Self.shown).reversed() {
                lines.append("  \(time(ending.time))  \(ending.outcome.rawValue)")
            }
        }
        lines += ["", "what to do"]
        if steps.isEmpty { lines.append("  nothing") }
        for (step, commands) in help {
            lines.append("  \(step.work.title): \(step.sentence.visible)")
            for command in commands {
                lines.append("    $ \(command.line.visible)   # \(command.when)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let shown = 10
}
