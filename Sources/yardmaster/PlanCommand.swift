import Commands
import Domain
import Glibc
import Images
import Manifest
import Reports
import Rollout
import Wire

/// `plan`: what a run would do, without a word to any vehicle.
struct PlanCommand {
    let options: PlanOptions

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        let vehicles = try Inputs.selected(plan, options.common)
        if options.common.wantsJSON {
            context.console.result(document(plan, vehicles).text + "\n")
        } else if !options.common.isQuiet {
            context.console.result(text(plan, vehicles))
        }
        return .done
    }

    private func text(_ plan: FrozenPlan, _ vehicles: [PlannedVehicle]) -> String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        for image in plan.images {
            lines.append("image \(image.name): version \(image.version), from \(image.source)")
            for mirror in image.mirrors { lines.append("  or from \(mirror)") }
            lines.append(isStored(image) ? "  in the store" : "  not in the store, to be fetched")
            lines.append("  trusted by its SHA-256 \(image.digest), pinned in the manifest")
            lines.append("  for \(image.fits.words)")
        }
        lines.append("")
        lines += Columns.table(
            [["vehicle", "serial", "steps"]]
                + vehicles.map { vehicle in
                    [
                        vehicle.id.text, vehicle.serial.text,
                        vehicle.steps.map { Self.words(of: $0, in: plan) }.joined(separator: "; "),
                    ]
                }
        )
        lines.append("")
        let settle = plan.settle
        lines.append(
            "\(vehicles.count) vehicle\(vehicles.count == 1 ? "" : "s"), one after the other; "
                + "those left in mid-update by an earlier run first"
        )
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
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether the store has it by its name; a run verifies it once more.
    private func isStored(_ image: PlannedImage) -> Bool {
        let path = StoreFolder(stateDirectory: options.state).path(of: image.digest)
        return access(path, F_OK) == 0
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
            return "update to \(update.image) (\(version))"
                + (update.allowsDowngrade ? ", older versions allowed" : "")
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
        }
    }

    private func document(_ plan: FrozenPlan, _ vehicles: [PlannedVehicle]) -> JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "plan": .string(plan.digest.description),
            "images": .array(
                plan.images.map { image in
                    .object([
                        "name": .string(image.name),
                        "version": .string(image.version.description),
                        "source": .string(image.source.description),
                        "sha256": .string(image.digest.description),
                        "trust": "digest",
                        "stored": .bool(isStored(image)),
                    ])
                }
            ),
            "vehicles": .array(
                vehicles.map { vehicle in
                    .object([
                        "id": .string(vehicle.id.text),
                        "serial": .string(vehicle.serial.text),
                        "family": .string(vehicle.family.rawValue),
                        "steps": .array(
                            vehicle.steps.map { .string(Self.words(of: $0, in: plan)) }
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
