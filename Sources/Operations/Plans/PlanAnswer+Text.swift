import Base
import Families
import Manifest
import Rollout
import Show
import Store

extension PlanAnswer {
    /// The text for people.
    package var text: String {
        var lines = ["rollout \(plan.name), plan \(plan.digest)"]
        if let note = standing { lines.append(note) }
        for image in plan.images {
            lines.append("image \(image.name): version \(image.version), from \(image.source)")
            for mirror in image.mirrors { lines.append("  or from \(mirror)") }
            lines.append("  " + presence(of: image).words)
            lines.append("  SHA-256 \(image.digest)")
            lines.append("  trusted by \(image.trust.words)")
            lines.append("  for \(image.fits.words)")
        }
        let steps = steps
        let alike = Set(steps).count == 1 && steps.count > 1
        lines += [""] + summary
        if alike { lines.append("the steps of each vehicle: \(steps[0])") }
        lines.append("")
        lines += Columns.table(
            [["vehicle", "serial", "wave", "time", "what is known"] + (alike ? [] : ["steps"])]
                + zip(forecast.rows, steps).map { row, steps in
                    [
                        row.vehicle.id.text, row.vehicle.serial.text, "\(row.wave)",
                        row.took == .zero ? "-" : "~" + row.took.brief, row.fate.reason.visible,
                    ] + (alike ? [] : [steps])
                }
        )
        if let saved { lines += ["", saved] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The steps of each vehicle in words.
    private var steps: [String] {
        var known: [Place: String] = [:]
        return forecast.rows.map { row in
            row.vehicle.steps.map { step in
                if let words = known[step.place] { return words }
                let words = words(of: step)
                known[step.place] = words
                return words
            }.joined(separator: "; ")
        }
    }

    /// The state of a rollout of this name in the journal.
    private var standing: String? {
        guard let record = forecast.rollout else { return nil }
        switch record.hold?.kind {
        case .paused:
            return "paused: \(record.hold?.reason.visible ?? ""); `resume` continues it"
        case .aborted, .recalled:
            guard let hold = record.hold, record.plan == plan.digest else { return nil }
            let words = "\(hold.kind.rawValue): \(hold.reason.visible)"
            return "\(words); another plan or name begins again"
        case nil: break
        }
        switch record.state {
        case .finished: return nil
        case .running where record.plan == plan.digest:
            return "under way since run \(record.began), in wave \(record.wave + 1)"
        case .running:
            return
                "a rollout of this name is under way with the plan \(record.plan), and continues "
                + "with that plan"
        }
    }

    private var summary: [String] {
        var lines: [String] = []
        let count = forecast.rows.count
        let adapters =
            forecast.adapters.isEmpty
            ? "all available adapters (one is assumed)"
            : forecast.adapters.joined(separator: ", ")
        let measured = forecast.rows.count { $0.ground != .assumed }
        let most = plan.radio.linksPerAdapter
        let atOnce = most == 1 ? "1" : "at most \(most) (estimated with \(forecast.links) in all)"
        lines.append(
            "\(counted(count, "vehicle")) on \(adapters), "
                + "\(atOnce) at a time on each; those that an earlier run left "
                + "in the middle of an update first, then the strongest signal"
        )
        for wave in forecast.waves where forecast.waves.count > 1 {
            lines.append(
                "wave \(wave.number): \(counted(wave.vehicles, "vehicle")), about \(wave.took.brief)"
            )
        }
        lines.append(
            "about \(forecast.total.brief) in total, "
                + (measured == 0
                    ? "with assumed rates"
                    : "\(measured) of \(count) with measured rates")
        )
        if let window = forecast.window { lines.append("window: \(window)") }
        if let words = forecast.opens { lines.append(words) }
        lines += forecast.gates.map { "gate: \($0)" }
        lines += plan.programs.map { "starts \($0.purpose.visible): \($0.line)" }
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

    private static func times(_ count: Int) -> String {
        switch count {
        case 0: "not once"
        case 1: "once"
        default: "\(count) times"
        }
    }

    /// A step in the words of the manifest.
    func words(of step: Step) -> String {
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
                + (update.judge.first.map { ", judged by \($0.visible)" } ?? "")
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
}

extension PlannedImage.Fits {
    /// A text such as "family comodule, type 17".
    fileprivate var words: String {
        var words = ["family \(family.rawValue)"]
        if let type { words.append("type \(type)") }
        if let variant { words.append("variant \(variant)") }
        return words.joined(separator: ", ")
    }
}
