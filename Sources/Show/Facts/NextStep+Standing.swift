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
    /// The run of an order that is over: no run goes on with it.
    let order: Int?
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
        order: Int? = nil,
        isAtWork: Bool,
        isShared: Bool = false,
        isOperator: Bool = true
    ) {
        self.order = order
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
        signal: Cause.Signal = .unknown,
        isListed: Bool = true,
        isQuarantined: Bool = false,
        inhibit: Inhibit? = nil
    ) -> NextStep? {
        guard let cause = cause(standing, isQuarantined) else { return nil }
        let remedy = Remedy(cause, signal, Cause.Tried(standing))
        var message = message(standing)
        var short = short(message, standing)
        var commands = commands(vehicle, standing, cause, remedy)
        if !isListed {
            // No run touches it before it is in a list again.
            message += Self.unlisted
            short? += Self.unlisted
            commands = [command("clear", vehicle, "somebody has seen to it, or it was handed over")]
        }
        var step = NextStep(cause, by: remedy, message, commands)
        step.short = short
        guard let inhibit else { return step }
        // Until that is lifted, no run touches it, and `retry` refuses it.
        let whom = inhibit.vehicle.map { NextStep.quoted($0.text) } ?? "--all"
        let lift = request(
            flags.line("uninhibit", whom),
            inhibit.vehicle == nil
                ? "when the depot may be worked on" : "when it may be worked on again"
        )
        guard remedy.work.needsPerson else {
            return NextStep(.inhibited, inhibit.sentence, [lift])
        }
        // A person can report at any time that a command was carried out.
        step.commands.insert(lift, at: remedy.work == .answer ? min(1, commands.count) : 0)
        return step
    }

    private static let unlisted = "; it is in no list now: list it again"

    /// The message of a verdict without the sentence about a debt, of which it says the share.
    private func short(_ message: String, _ standing: Standing) -> String? {
        guard let debt = standing.debt,
            let start = message.firstRange(
                of: "; its update to \(debt.image) (run \(debt.begun)) is not proven"
            )
        else { return nil }
        let owed = standing.owed.map { "; it owes `\($0)`" }.joined()
        return "\(message[..<start.lowerBound]); it has \(debt.percent) % of \(debt.image)\(owed)"
    }

    /// Why the vehicle is not as it should be; nil when it is.
    private func cause(_ standing: Standing, _ isQuarantined: Bool) -> Cause? {
        if standing.doubt != nil { return .inDoubt }
        guard let verdict = standing.verdict else {
            // An aborted rollout begins nothing more, and only settles what it has begun.
            let owes = standing.debt != nil || !standing.owed.isEmpty
            if hold?.isForGood == true, !owes { return nil }
            if order != nil, !owes { return .cutOff }
            return standing.state == .notBegun ? .notBegun : .unfinished
        }
        switch verdict.outcome.tally {
        case .failed where isQuarantined: return .quarantined
        case .failed where verdict.outcome == .timedOut: return .timedOut
        case .failed: return verdict.failure.map { Cause($0) } ?? .device
        case .deferred where verdict.failure == .rejected: return .list
        case .deferred where verdict.failure == .transient: return .gateway
        case .deferred: return Self.isAboutPower(verdict) ? .lowPower : .condition
        case .unreachable: return .unreachable
        case .ok, .current, .skipped:
            return standing.debt == nil && standing.owed.isEmpty ? nil : .owing
        case .aborted: return nil
        }
    }

    /// What happened, in the words of the run where it gave a verdict.
    private func message(_ standing: Standing) -> String {
        if let doubt = standing.doubt, standing.state != .inBootloader {
            return "nobody knows whether `\(doubt)` was carried out"
        }
        switch standing.verdict?.outcome.tally {
        case .ok, .current, .skipped: return Self.owed(standing).joined(separator: ", ")
        case .failed, .deferred, .unreachable, .aborted, nil: return standing.sentence
        }
    }

    /// What a vehicle with a good verdict owes.
    private static func owed(_ standing: Standing) -> [String] {
        let debt = standing.debt.map {
            ["its update to \($0.image), begun in run \($0.begun), is not proven"]
        }
        return (debt ?? []) + standing.owed.map { "it owes `\($0)`" }
    }

    /// The commands, in the order in which they are given.
    private func commands(
        _ vehicle: VehicleID,
        _ standing: Standing,
        _ cause: Cause,
        _ remedy: Remedy
    ) -> [NextStep.Command] {
        // With the same image, the module goes on where it stands.
        let update = NextStep.Command(
            runFlags.line("update", "FILE", NextStep.quoted(standing.serial.text)),
            "FILE is the image of the order"
        )
        let run = order == nil || standing.debt == nil ? run : [update]
        guard remedy.work != .rescue else { return run }
        let next = standing.debt == nil ? again(vehicle) : run
        switch cause {
        // Of a rollout that is over for good, nothing is tried again.
        case .inDoubt where hold?.isForGood == true:
            return [command("clear", vehicle, "somebody has looked; the rollout is over")]
        case .inDoubt:
            return [
                command("clear", vehicle, "it was carried out"),
                command("retry", vehicle, "it was not"),
            ]
        case .list: return [again("with the list as it is now")]
        case .quarantined: return [command("clear", vehicle, "it is in order")] + again(vehicle)
        case .gateway:
            return [NextStep.Command("yardmaster doctor", "on the gateway")] + goingOn
        case .rejected, .integrity:
            let check = manifest.map { file in
                NextStep.Command(
                    flags.line("validate", NextStep.quoted(file)),
                    "after the correction"
                )
            }
            return (check.map { [$0] } ?? []) + next
        case .unreachable where standing.verdict?.outcome == .unreachable:
            return goingOn
        case .transient, .unreachable, .device, .noReturn, .wrongVersion, .rolledBack, .internal,
            .timedOut:
            return next
        case .lowPower, .condition: return goingOn
        case .unfinished, .notBegun, .cutOff, .owing, .inhibited: return run
        }
    }

    /// The commands for a vehicle that has failed: a run takes it again, and only a run under way must be told.
    private func again(_ vehicle: VehicleID) -> [NextStep.Command] {
        hold?.isForGood == true
            ? [self.again]
            : isAtWork ? [command("retry", vehicle, "to have it taken again now")] : run
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

    /// The commands after which a vehicle is taken to which nothing was done.
    private var goingOn: [NextStep.Command] { hold?.isForGood == true ? [again] : run }

    /// The commands that continue the rollout.
    private var run: [NextStep.Command] {
        // The active run does everything that it can.
        guard !isAtWork else { return [] }
        if let order {
            let look = flags.line("history show", "\(order)")
            return [NextStep.Command(look, "what was carried out")]
        }
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
        return [request(Self.resume(rollout, flags), "the rollout is paused"), run]
    }

    /// The command that resumes a paused rollout.
    static func resume(_ rollout: String, _ flags: PlaceFlags) -> String {
        flags.line("resume", "--rollout \(NextStep.quoted(rollout))")
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

    private static func isAboutPower(_ verdict: Verdict) -> Bool {
        let checks = verdict.problems.map(\.check)
        return (checks.isEmpty ? [verdict.message] : checks).contains { name in
            let name = name.lowercased()
            if name.contains("temperature") { return false }
            return name.contains("charge") || name.contains("battery") || name.contains("voltage")
        }
    }
}
