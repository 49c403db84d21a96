package import Domain
package import Reports

/// Says what a person does next about vehicles of one rollout.
package struct NextStepGuide: Sendable {
    let rollout: String
    /// What was given to the first run; nil where it is not known any more.
    let manifest: String?
    /// Follows the command's name where the state directory is not the usual one.
    let flags: String
    let isHeld: Bool

    package init(rollout: String, manifest: String?, flags: String, isHeld: Bool) {
        self.rollout = rollout
        self.manifest = manifest
        self.flags = flags
        self.isHeld = isHeld
    }

    /// Nil for a vehicle that is as it should be, or with which the rollout is done for good.
    package func step(
        _ vehicle: VehicleID,
        _ standing: Standing,
        problems: [Problem] = [],
        isQuarantined: Bool = false
    ) -> NextStep? {
        if let debt = standing.debt, standing.state == .inBootloader {
            return NextStep(
                .rescue,
                "its module waits in the bootloader with \(debt.percent) % of \(debt.image), seen last in "
                    + "run \(debt.seenRun): bring it near an adapter with power on, and run again; "
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
        guard let verdict = standing.verdict else {
            return NextStep(.wait, standing.sentence, run)
        }
        let message = standing.sentence
        switch verdict.outcome.tally {
        case .failed: return failed(vehicle, standing, verdict, message, isQuarantined)
        case .deferred:
            let isLow = Self.isAboutPower(problems.isEmpty ? verdict.problems : problems, message)
            return isLow
                ? NextStep(.charge, "\(message): charge it, the next run takes it", run)
                : NextStep(.wait, "\(message): the next run looks again", run)
        case .unreachable:
            return NextStep(.bringIn, message, run)
        case .ok, .current, .skipped:
            guard !standing.owed.isEmpty || standing.debt != nil else { return nil }
            let owed = standing.owed.map { "it owes `\($0)`" }
            return NextStep(
                .wait,
                owed.isEmpty ? standing.sentence : owed.joined(separator: ", "),
                run
            )
        case .aborted: return nil
        }
    }

    private func failed(
        _ vehicle: VehicleID,
        _ standing: Standing,
        _ verdict: Verdict,
        _ message: String,
        _ isQuarantined: Bool
    ) -> NextStep {
        let again = command("retry", vehicle, "to have it taken again")
        if isQuarantined {
            return NextStep(
                .mechanic,
                "\(message); it failed so often that it is left alone until somebody has looked",
                [command("clear", vehicle, "it is in order"), again]
            )
        }
        if standing.debt != nil {
            // It has the whole image and is silent: who is only away was not changed so far.
            return NextStep(verdict.failure == .noReturn ? .mechanic : .bringIn, message, run)
        }
        switch verdict.failure {
        case .rejected, .integrity:
            var commands = [again]
            if let manifest {
                commands.insert(
                    NextStep.Command(
                        "yardmaster validate \(NextStep.quoted(manifest))",
                        "after the correction"
                    ),
                    at: 0
                )
            }
            return NextStep(.correct, message, commands)
        case .transient: return NextStep(.wait, message, [again] + run)
        case .unreachable: return NextStep(.bringIn, message, [again])
        case .device, .noReturn, .wrongVersion, .rolledBack, .inDoubt, .internal, nil:
            return NextStep(.mechanic, message, [again])
        }
    }

    /// Going on with the rollout.
    private var run: [NextStep.Command] {
        let file = manifest.map { NextStep.quoted($0) } ?? "MANIFEST"
        let run = NextStep.Command("yardmaster run\(flags) \(file)", "or let the timer do it")
        guard isHeld else { return [run] }
        let name = NextStep.quoted(rollout)
        return [
            NextStep.Command(
                "yardmaster resume\(flags) --rollout \(name)",
                "the rollout is paused"
            ),
            run,
        ]
    }

    private func command(_ verb: String, _ vehicle: VehicleID, _ when: String) -> NextStep.Command {
        let rollout = verb == "retry" ? " --rollout \(NextStep.quoted(rollout))" : ""
        return NextStep.Command(
            "yardmaster \(verb)\(flags)\(rollout) \(NextStep.quoted(vehicle.text))",
            when
        )
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
