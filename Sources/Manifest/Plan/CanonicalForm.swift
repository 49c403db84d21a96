import Base
import Families

/// A plan in its unique spelling, from which its digest is calculated.
///
/// It leaves out facts that do not change the work: places, labels that no rule uses, the sources
/// of images, the storage of secrets, and the choice of controllers. So a plan keeps its digest
/// when a mirror moves or when another gateway continues a run.
struct CanonicalForm {
    let plan: FrozenPlan

    /// JSON with its members in a fixed order; a list of steps that vehicles share occurs once.
    var value: JSONValue {
        var lists: [[JSONValue]] = []
        var rows: [JSONValue] = []
        var previous: (steps: [Step], index: Int)?
        var known: [String: Int] = [:]
        for vehicle in plan.vehicles {
            let index: Int
            if let previous, previous.steps == vehicle.steps {
                index = previous.index
            } else {
                let steps = vehicle.steps.map(Self.value)
                let text = JSONValue.array(steps).text
                index = known[text] ?? lists.count
                if index == lists.count {
                    known[text] = index
                    lists.append(steps)
                }
                previous = (vehicle.steps, index)
            }
            let asked = labels(of: vehicle)
            rows.append(
                .array(
                    [
                        .string(vehicle.id.text), .string(vehicle.serial.text),
                        .string(vehicle.family.rawValue), .string(vehicle.profile), .int(index),
                    ] + (asked.isEmpty ? [] : [.object(asked)])
                )
            )
        }
        return .object([
            "form": "yardmaster-plan-1",
            "name": .string(plan.name),
            "vehicles": .array(rows),
            "steps": .array(lists.map(JSONValue.array)),
            "always": .array(plan.always.map(Self.value)),
            "images": .array(plan.images.map(Self.value)),
            "rollout": Self.value(plan.rollout),
            "settle": .object([
                "quiet": Self.value(plan.settle.quiet),
                "confirm-gap": Self.value(plan.settle.confirmGap),
                "deadline": Self.value(plan.settle.deadline),
            ]),
            "connect": .object([
                "timeout": Self.value(plan.connect.timeout),
                "attempts": .int(plan.connect.attempts),
            ]),
        ])
    }

    /// The labels that decide the vehicle's wave, or whether anything is done on it.
    private func labels(of vehicle: PlannedVehicle) -> [JSONMember] {
        guard !vehicle.labels.isEmpty else { return [] }
        var asked = Set(plan.rollout.spread).union(vehicle.steps.flatMap(\.requiredLabels))
        if let own = plan.rollout.window?.own { asked.insert(own.label) }
        return vehicle.labels.filter { asked.contains($0.name) }
            .map { JSONMember($0.name, .string($0.value)) }
    }

    private static func value(_ duration: Duration) -> JSONValue { .integer(duration.nanoseconds) }

    private static func value(_ image: PlannedImage) -> JSONValue {
        .object([
            "name": .string(image.name),
            "sha256": .string(image.digest.description),
            "version": .string(image.version.description),
            "size": image.size.map { .int($0.bytes) },
            "trust": value(image.trust),
            "attested": attesters(of: image),
            "unpacked": image.packing.map { .string($0.digest.description) },
            "family": .string(image.fits.family.rawValue),
            "type": image.fits.type.map { .integer(Int64($0)) },
            "variant": image.fits.variant.map { .integer(Int64($0)) },
        ])
    }

    /// Nil for images that only their digest pins.
    private static func value(_ trust: ImageTrust) -> JSONValue? {
        switch trust {
        case .digest: nil
        case .signature(let key, _): .object(["signature": .string(key.description)])
        case .repository(let name, let target):
            .object(["repository": .string(name), "target": .string(target)])
        }
    }

    /// The keys of required attestations; nil when there are none.
    private static func attesters(of image: PlannedImage) -> JSONValue? {
        let keys = image.attachments.compactMap { attachment in
            if case .attestation(let key?) = attachment.kind { key.text } else { nil }
        }
        return keys.isEmpty ? nil : .array(Set(keys).sorted().map(JSONValue.string))
    }

    private static func value(_ policy: RolloutPolicy) -> JSONValue {
        .object([
            "waves": .array(policy.waves.map { .string($0.description) }),
            "pause": policy.pause.map { pause in
                .object([
                    "failed": .string(pause.failed.description),
                    "at-least": .int(pause.atLeast),
                    "classes": pause.classes.isEmpty
                        ? nil : .array(pause.classes.map { .string($0.rawValue) }),
                    "then": pause.action == .pause ? nil : .string(pause.action.rawValue),
                ])
            },
            "window": policy.window.map(value),
            "retry": value(policy.retry),
            "tolerate": .object([
                "unreachable": .string(policy.tolerance.unreachable.description),
                "deferred": .string(policy.tolerance.deferred.description),
            ]),
            "spread": policy.spread.isEmpty ? nil : .array(policy.spread.map(JSONValue.string)),
            "go-on-when": policy.advance.map { rule in
                .object([
                    "succeeded": rule.succeeded.map { .string($0.description) },
                    "covered": rule.covered.map { .string($0.description) },
                ])
            },
            "between-waves": policy.between == BetweenWaves() ? nil : value(policy.between),
            "airtime": policy.airtime == AirtimeBudget()
                ? nil
                : .object([
                    "vehicle": policy.airtime.vehicle.map(value),
                    "total": policy.airtime.total.map(value),
                ]),
            "quarantine-after": policy.quarantineAfter.map(JSONValue.int),
            "again": policy.again == .whenAsked ? nil : .string(policy.again.rawValue),
        ])
    }

    /// One opening of a length, each day, is written as before there were others.
    private static func value(_ window: Window) -> JSONValue {
        let nightly = window.nightly
        func list(_ items: [some CustomStringConvertible]) -> JSONValue? {
            items.isEmpty ? nil : .array(items.map { .string($0.description) })
        }
        return .object([
            "from": nightly.map { .string($0.from.description) },
            "for": nightly.map { value($0.length) },
            "open": nightly == nil ? list(window.openings) : nil,
            "not": list(window.freezes),
            "by": window.own.map { .string($0.label) },
            "own": window.own.map { own in
                .object(
                    own.openings.sorted { $0.key < $1.key }
                        .map { JSONMember($0.key, list($0.value) ?? []) }
                )
            },
            "zone": .string(window.zone),
            "at-close": window.close == .finish ? nil : .string(window.close.rawValue),
        ])
    }

    /// A default is left out where its key is newer than this form, so that old plans keep their
    /// digests.
    private static func value(_ retry: RetryPolicy) -> JSONValue {
        let usual = RetryPolicy(transient: retry.transient, device: retry.device)
        return .object([
            "transient": .int(retry.transient),
            "device": .int(retry.device),
            "pause": retry.pause == usual.pause ? nil : value(retry.pause),
            "longest-pause": retry.longestPause == usual.longestPause
                ? nil : value(retry.longestPause),
            "budget": retry.budget.map(JSONValue.int),
            "without-progress": retry.fruitless == usual.fruitless ? nil : .int(retry.fruitless),
        ])
    }

    private static func value(_ between: BetweenWaves) -> JSONValue {
        .object([
            "soak": value(between.soak),
            "check": .array(between.check.map(JSONValue.string)),
            "timeout": value(between.timeout),
            "ask": .bool(between.asks),
        ])
    }

    private static func value(_ step: Step) -> JSONValue {
        switch step.action {
        case .require(let conditions, let otherwise):
            .object([
                "require": value(conditions),
                "otherwise": .string(otherwise.rawValue),
            ])
        case .update(let update):
            .object([
                "update": .string(update.image),
                "part": update.part == .secondary ? nil : .string(update.part.rawValue),
                "via": update.via.isEmpty ? nil : .array(update.via.map(JSONValue.string)),
                "downgrade": .bool(update.allowsDowngrade),
                "confirmed": update.allowsConfirmed ? .bool(true) : nil,
                "healthy": value(update.healthy),
                "judge": update.judge.isEmpty
                    ? nil : .array(update.judge.map(JSONValue.string)),
                "within": value(update.within),
            ])
        case .set(let assignments): .object(["set": value(assignments)])
        case .read(let properties):
            .object(["read": .array(properties.map(JSONValue.string))])
        case .expect(let conditions, let within):
            .object(["expect": value(conditions), "within": value(within)])
        case .command(let words):
            .object(["command": .array(words.map { .string($0.rawValue) })])
        case .feature(let assignments): .object(["feature": value(assignments)])
        case .wait(let duration): .object(["wait": value(duration)])
        case .rotate: .object(["rotate": "secret"])
        }
    }

    private static func value(_ conditions: [PropertyCondition]) -> JSONValue {
        .array(conditions.map { [.string($0.property), .string($0.condition.description)] })
    }

    private static func value(_ assignments: [Assignment]) -> JSONValue {
        .array(assignments.map { [.string($0.name), .string($0.value.text)] })
    }
}
