import Commands
import Domain
import Glibc
import Images
import Journal
import Manifest
import Operations
import Reports
import Rollout
import Simulation
import SourceTree
import Wire

/// `plan`: what a run would do, without a word to any vehicle.
struct PlanCommand {
    let options: PlanOptions

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let answer = try answer(context, tellsAll: true)
        if options.common.wantsJSON {
            context.console.result(answer.document.text + "\n")
        } else if !options.common.isQuiet {
            context.console.result(answer.text)
        }
        return .done
    }

    /// What is reported, for people and for programs.
    ///
    /// With `tellsAll`, what this machine lacks for a run is told; the plan stands all the same.
    func answer(
        _ context: Context,
        tellsAll: Bool = false
    ) throws(CommandError) -> (text: String, document: JSONValue) {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        let vehicles = try Inputs.selected(plan, options.common, state: options.state)
        try TokenCheck.check(plan, for: vehicles, context)
        let profiles = try ProfileFolder.library(of: plan, options.common, context)
        if tellsAll {
            if !options.common.isQuiet { Inputs.tell(plan.remarks, context) }
            MachineCheck(
                plan: plan,
                context: context,
                profiles: profiles,
                state: options.state,
                isRun: false
            ).warn(for: vehicles)
        }
        let zone = try ZoneSource.zone(of: plan, context)
        let now = RealTime().wallTime
        var adapters = plan.radio.adapters
        if adapters.isEmpty, let simulation = options.simulation {
            adapters = try Inputs.depot(simulation.depot, context, profiles).adapters
        }
        let knowledge = PlanForecast.Knowledge(
            state: options.state,
            rollout: plan.name,
            at: now
        )
        if let fault = knowledge.fault {
            context.console.note(
                "yardmaster: warning: nothing is known of earlier runs: \(fault)\n"
            )
        }
        let forecast = PlanForecast(
            plan,
            vehicles: vehicles,
            adapters: adapters,
            knowledge: knowledge,
            profiles: profiles,
            zone: zone,
            now: now
        )
        return (text(plan, forecast), document(plan, forecast))
    }

    private func text(_ plan: FrozenPlan, _ forecast: PlanForecast) -> String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        if let note = Self.standing(plan, forecast) { lines.append(note) }
        for image in plan.images {
            lines.append("image \(image.name): version \(image.version), from \(image.source)")
            for mirror in image.mirrors { lines.append("  or from \(mirror)") }
            lines.append("  " + presence(of: image, in: plan).words)
            lines.append("  SHA-256 \(image.digest)")
            lines.append("  trusted by \(image.trust.words)")
            lines.append("  for \(image.fits.words)")
        }
        lines.append("")
        var known: [Place: String] = [:]
        lines += Columns.table(
            [["vehicle", "serial", "wave", "time", "what is known", "steps"]]
                + forecast.rows.map { row in
                    [
                        row.vehicle.id.text, row.vehicle.serial.text, "\(row.wave)",
                        row.took == .zero ? "-" : "~" + row.took.brief, row.fate.reason.visible,
                        row.vehicle.steps.map { step in
                            if let words = known[step.place] { return words }
                            let words = Self.words(of: step, in: plan)
                            known[step.place] = words
                            return words
                        }.joined(separator: "; "),
                    ]
                }
        )
        lines.append("")
        lines += summary(plan, forecast)
        return lines.joined(separator: "\n") + "\n"
    }

    /// What the journal has of a rollout of this name.
    private static func standing(_ plan: FrozenPlan, _ forecast: PlanForecast) -> String? {
        guard let record = forecast.rollout else { return nil }
        switch record.hold?.kind {
        case .paused:
            return "paused: \(record.hold?.reason.visible ?? ""); 'yardmaster resume' lets it go on"
        case .aborted where record.plan == plan.digest:
            return
                "aborted: \(record.hold?.reason.visible ?? ""); another plan or name begins again"
        case .aborted: return nil
        case nil: break
        }
        switch record.state {
        case .finished: return nil
        case .running where record.plan == plan.digest:
            return "under way since run \(record.began), in wave \(record.wave + 1)"
        case .running:
            return "a rollout of this name is under way with the plan \(record.plan), and goes on "
                + "with that one"
        }
    }

    private func summary(_ plan: FrozenPlan, _ forecast: PlanForecast) -> [String] {
        var lines: [String] = []
        let count = forecast.rows.count
        let adapters =
            forecast.adapters.isEmpty
            ? "all adapters that are there (one is assumed)"
            : forecast.adapters.joined(separator: ", ")
        let measured = forecast.rows.count { $0.ground != .assumed }
        lines.append(
            "\(count) vehicle\(count == 1 ? "" : "s") on \(adapters), "
                + "\(plan.radio.linksPerAdapter) at once on each; those left in mid-update by an "
                + "earlier run first, then the strongest signal"
        )
        for wave in forecast.waves where forecast.waves.count > 1 {
            lines.append(
                "wave \(wave.number): \(wave.vehicles) vehicle\(wave.vehicles == 1 ? "" : "s"), about \(wave.took.brief)"
            )
        }
        lines.append(
            "about \(forecast.total.brief) in all, "
                + (measured == 0
                    ? "by assumed rates"
                    : "\(measured) of \(count) by rates that were measured")
        )
        if let window = forecast.window { lines.append("window: \(window)") }
        lines += forecast.gates.map { "gate: \($0)" }
        if let limit = plan.rollout.quarantineAfter {
            lines.append("a vehicle is left alone after \(limit) failures on one image")
        }
        let settle = plan.settle
        lines.append(
            "an update counts when the module was at rest for \(settle.quiet.brief) and gave its "
                + "version twice, within \(settle.deadline.brief)"
        )
        lines.append(
            "a vehicle counts as unreachable after \(plan.connect.attempts) searches of "
                + "\(plan.connect.timeout.brief); failures that may pass are tried again "
                + "\(Self.times(plan.rollout.retry.transient)), those of the module "
                + Self.times(plan.rollout.retry.device)
        )
        return lines
    }

    private func presence(
        of image: PlannedImage,
        in plan: FrozenPlan
    ) -> ImagePresence {
        ImagePresence(
            of: image,
            under: plan.trust,
            in: StoreFolder(stateDirectory: options.state)
        )
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 0: "not once"
        case 1: "once"
        default: "\(count) times"
        }
    }

    static func words(of step: Step, in plan: FrozenPlan) -> String {
        switch step.action {
        case .require(let conditions, let otherwise):
            let list = conditions.map { "\($0.property) \($0.condition)" }
            return "require \(list.joined(separator: ", ")), else \(otherwise.rawValue)"
        case .update(let update):
            let version = plan.image(named: update.image)?.version.description ?? "?"
            let part = update.part == .secondary ? "" : " \(update.part.rawValue)"
            let via = update.via.isEmpty ? "" : " via " + update.via.joined(separator: ", ")
            return "update\(part) to \(update.image) (\(version))\(via)"
                + (update.allowsDowngrade ? ", older versions allowed" : "")
                + (update.allowsConfirmed ? ", without a trial if its file says so" : "")
                + (update.judge.first.map { ", judged by \($0)" } ?? "")
        case .set(let assignments):
            return "set " + assignments.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
        case .read(let properties): return "read " + properties.joined(separator: ", ")
        case .expect(let conditions, let within):
            let list = conditions.map { "\($0.property) \($0.condition)" }
            return "expect \(list.joined(separator: ", ")) within \(within.brief)"
        case .command(let words):
            return "command " + words.map(\.rawValue).joined(separator: ", ")
        case .feature(let assignments):
            return "feature " + assignments.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
        case .wait(let duration): return "wait \(duration.brief)"
        case .rotate: return "rotate secret"
        }
    }

    private func document(_ plan: FrozenPlan, _ forecast: PlanForecast) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "plan": .string(plan.digest.description),
            "state": forecast.rollout.map { .string($0.state.rawValue) },
            "images": .array(
                plan.images.map { image in
                    .object([
                        "name": .string(image.name),
                        "version": .string(image.version.description),
                        "source": .string(image.source.description),
                        "sha256": .string(image.digest.description),
                        "trust": .string(image.trust.level),
                        "stored": .bool(presence(of: image, in: plan) == .usable),
                    ])
                }
            ),
            "waves": .array(
                forecast.waves.map { wave in
                    .object([
                        "wave": .int(wave.number),
                        "vehicles": .int(wave.vehicles),
                        "seconds": .seconds(wave.took),
                    ])
                }
            ),
            "gates": .array(forecast.gates.map(JSONValue.string)),
            "window": forecast.window.map { .string($0) },
            "fits-window": forecast.fitsWindow.map { .bool($0) },
            "adapters": .array(forecast.adapters.map(JSONValue.string)),
            "seconds": .seconds(forecast.total),
            "vehicles": .array(
                forecast.rows.map { row in
                    .object([
                        "id": .string(row.vehicle.id.text),
                        "serial": .string(row.vehicle.serial.text),
                        "family": .string(row.vehicle.family.rawValue),
                        "wave": .int(row.wave),
                        "what": .string(row.fate.kind.rawValue),
                        "reason": .string(row.fate.reason),
                        "seconds": .seconds(row.took),
                        "estimate": .string(row.ground.rawValue),
                        "steps": .array(
                            row.vehicle.steps.map { .string(Self.words(of: $0, in: plan)) }
                        ),
                    ])
                }
            ),
            "exit": .object([
                "code": .integer(Int64(ExitCode.done.rawValue)),
                "reason": .string(ExitCode.done.sentence),
            ]),
        ])
    }
}

extension PlannedImage.Fits {
    /// As in "family comodule, type 17".
    fileprivate var words: String {
        var words = ["family \(family.rawValue)"]
        if let type { words.append("type \(type)") }
        if let variant { words.append("variant \(variant)") }
        return words.joined(separator: ", ")
    }
}
