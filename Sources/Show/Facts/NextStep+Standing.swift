package import Base
import Manifest
package import Store

/// Decides what a person has to do next about vehicles of one rollout.
package struct NextStepGuide: Sendable {
    let rollout: String
    /// The path that was given to the first run; nil when it is no longer known.
    let manifest: String?
    let flags: PlaceFlags
    let hold: Hold.Kind?
    /// Whether a run of the rollout is active.
    let isAtWork: Bool
    /// Whether several gateways run the rollout, which may not include this machine.
    let isShared: Bool
    /// Whether the user who asks may give people's requests; else an operator of the fleet has to.
    let isOperator: Bool

    package init(
        rollout: String,
        manifest: String?,
        flags: PlaceFlags,
        hold: Hold.Kind?,
        isAtWork: Bool,
        isShared: Bool = false,
        isOperator: Bool = true
    ) {
        self.isShared = isShared
        self.isOperator = isOperator
        self.rollout = rollout
        self.manifest = manifest
        self.flags = flags
        self.hold = hold
        self.isAtWork = isAtWork
    }

    /// Nil for a vehicle that is in order, or for which the rollout is permanently over.
    package func step(
        _ vehicle: VehicleID,
        _ standing: Standing,
        problems: [Problem] = [],
        isListed: Bool = true,
        isQuarantined: Bool = false,
        inhibit: Inhibit? = nil
    ) -> NextStep? {
        var step = step(vehicle, standing, problems, isQuarantined)
        if !isListed, let found = step {
            // No run touches it before it is in a list again.
            let clear = command("clear", vehicle, "somebody has seen to it, or it was handed over")
            step = NextStep(
                found.work,
                "\(found.sentence); it is in no list now: list it again",
                [clear]
            )
        }
        guard let inhibit, let step else { return step }
        // Until that is lifted, no run touches it, and `retry` refuses it.
        let whom = inhibit.vehicle.map { NextStep.quoted($0.text) } ?? "--all"
        let lift = request(
            flags.line("uninhibit", whom),
            inhibit.vehicle == nil
                ? "when the depot may be worked on" : "when it may be worked on again"
        )
        switch step.work {
        case .wait, .held: return NextStep(.held, inhibit.sentence, [lift])
        case .answer:
            // A person can report at any time that it was carried out.
            let (clear, others) = (step.commands.prefix(1), step.commands.dropFirst())
            return NextStep(.answer, step.sentence, clear + [lift] + others)
        case .rescue, .mechanic, .correct, .charge, .bringIn:
            return NextStep(step.work, step.sentence, [lift] + step.commands)
        }
    }

    private func step(
        _ vehicle: VehicleID,
        _ standing: Standing,
        _ problems: [Problem],
        _ isQuarantined: Bool
    ) -> NextStep? {
        if let debt = standing.debt, standing.state == .inBootloader {
            return NextStep(
                .rescue,
                "its module waits in the bootloader with \(debt.percent) % of \(debt.image), seen last in "
                    + "run \(debt.seen): bring it near an adapter with power on, and run again; "
                    + "the run goes on there before anything else",
                run
            )
        }
        if let doubt = standing.doubt {
            return NextStep(
                .answer,
                "nobody knows whether `\(doubt)` was carried out: look at the vehicle, then say it",
                [
                    command("clear", vehicle, "it was carried out"),
                    command("retry", vehicle, "it was not"),
                ]
            )
        }
        if let debt = standing.debt, standing.verdict == nil, standing.state == .unproven {
            return NextStep(
                .rescue,
                "its module has the whole of \(debt.image) and was not seen to run it since run "
                    + "\(debt.seen): bring it near an adapter with power on, and run again; the run "
                    + "settles that before anything else",
                run
            )
        }
        guard let verdict = standing.verdict else {
            // An aborted rollout begins nothing more, and only settles what it has begun.
            if hold?.isForGood == true, standing.debt == nil, standing.owed.isEmpty { return nil }
            return NextStep(.wait, standing.sentence, run)
        }
        let message = standing.sentence
        switch verdict.outcome.tally {
        case .failed: return failed(vehicle, standing, verdict, message, isQuarantined)
        case .deferred where verdict.failure == .rejected:
            return NextStep(.correct, message, [again("with the list as it is now")])
        case .deferred:
            let isLow = Self.isAboutPower(problems.isEmpty ? verdict.problems : problems, message)
            return isLow
                ? NextStep(.charge, "\(message): charge it, the next run takes it", run)
                : NextStep(.wait, "\(message): the next run looks again", run)
        case .unreachable:
            return NextStep(.bringIn, message, hold?.isForGood == true ? [again] : run)
        case .ok, .current, .skipped:
            let owed = Self.owed(standing)
            return owed.isEmpty ? nil : NextStep(.wait, owed.joined(separator: ", "), run)
        case .aborted: return nil
        }
    }

    /// What a vehicle with a good verdict owes.
    private static func owed(_ standing: Standing) -> [String] {
        let debt = standing.debt.map {
            ["its update to \($0.image), begun in run \($0.begun), is not proven"]
        }
        return (debt ?? []) + standing.owed.map { "it owes `\($0)`" }
    }

    private func failed(
        _ vehicle: VehicleID,
        _ standing: Standing,
        _ verdict: Verdict,
        _ message: String,
        _ isQuarantined: Bool
    ) -> NextStep {
        // A run takes it again; only a run under way must be told.
        let again =
            hold?.isForGood == true
            ? [self.again]
            : isAtWork ? [command("retry", vehicle, "to have it taken again now")] : run
        if isQuarantined {
            return NextStep(
                .mechanic,
                "\(message); it failed so often that it is left alone until somebody has looked",
                [command("clear", vehicle, "it is in order")] + again
            )
        }
        if standing.debt != nil {
            // If it has the whole image and is silent, it needs a mechanic; a module that is only
            // away was not changed so far.
            return NextStep(verdict.failure == .noReturn ? .mechanic : .bringIn, message, run)
        }
        switch verdict.failure {
        case .rejected, .integrity:
            var commands = again
            if let manifest {
                commands.insert(
                    NextStep.Command(
                        flags.line("validate", NextStep.quoted(manifest)),
                        "after the correction"
                    ),
                    at: 0
                )
            }
            return NextStep(.correct, message, commands)
        case .transient: return NextStep(.wait, message, again)
        case .unreachable: return NextStep(.bringIn, message, again)
        case .device, .noReturn, .wrongVersion, .rolledBack, .inDoubt, .internal, nil:
            return NextStep(.mechanic, message, again)
        }
    }

    /// The flags of `run`, which is started on a gateway and not always on this machine.
    private var runFlags: PlaceFlags { isShared ? flags.onGateway : flags }

    private var file: String { manifest.map { NextStep.quoted($0) } ?? "MANIFEST" }

    /// The command that begins the rollout again.
    private func again(_ why: String) -> NextStep.Command {
        NextStep.Command(
            runFlags.line("run --again", file),
            (isShared ? "on a gateway: " : "") + why
        )
    }

    /// The command that tries a vehicle of an aborted rollout again.
    private var again: NextStep.Command {
        guard hold == .recalled else {
            return again("the rollout is aborted: this begins it again")
        }
        return NextStep.Command(
            runFlags.line("rollback", NextStep.quoted(rollout)),
            "the rollout is recalled: this brings its vehicles back"
        )
    }

    /// The commands that continue the rollout.
    private var run: [NextStep.Command] {
        // The active run does everything that it can.
        guard !isAtWork else { return [] }
        let why =
            hold?.isForGood == true
            ? "the rollout is \(hold?.rawValue ?? "over"): it is brought to rest, and nothing is begun"
            : isShared ? "on a gateway; or let its timer do it" : "or let the timer do it"
        let line =
            FrozenPlan.rolledBack(by: rollout).flatMap { name in
                manifest == nil ? runFlags.line("rollback", NextStep.quoted(name)) : nil
            } ?? runFlags.line("run", file)
        let run = NextStep.Command(line, why)
        guard hold == .paused else { return [run] }
        let name = NextStep.quoted(rollout)
        return [
            request(flags.line("resume", "--rollout \(name)"), "the rollout is paused"), run,
        ]
    }

    private func command(_ verb: String, _ vehicle: VehicleID, _ when: String) -> NextStep.Command {
        let name = NextStep.quoted(vehicle.text)
        return request(
            verb == "retry"
                ? flags.line(verb, "--rollout", NextStep.quoted(rollout), name)
                : flags.line(verb, name),
            when
        )
    }

    /// A command that only an operator of a fleet may give.
    private func request(_ line: String, _ when: String) -> NextStep.Command {
        NextStep.Command(line, when, isForOperator: !isOperator)
    }

    private static func isAboutPower(_ problems: [Problem], _ message: String) -> Bool {
        let names = problems.isEmpty ? [message] : problems.map(\.check)
        return names.contains { name in
            let name = name.lowercased()
            if name.contains("temperature") { return false }
            return name.contains("charge") || name.contains("battery") || name.contains("voltage")
        }
    }
}
