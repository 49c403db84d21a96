package import Base
import Manifest
import Operations
import Rollout
import Store

extension Rollback {
    /// A line for each vehicle, and their counts, which stand above the question.
    package var lines: [String] {
        func words(_ number: Int, _ one: String, _ more: String) -> String? {
            number == 0 ? nil : "\(number) \(number == 1 ? one : more)"
        }
        let counts = [
            words(count, "vehicle goes back", "vehicles go back"),
            words(refused, "stays as it is", "stay as they are"),
            words(rows.count - count - refused, "has nothing to undo", "have nothing to undo"),
        ]
        let effect =
            count == 0 ? "" : "; with that \(hold.rollout) is recalled: it begins nothing more"
        return rows.map(\.line) + [counts.compactMap(\.self).joined(separator: ", ") + effect]
    }

    /// The document of a preview.
    package var document: JSONValue {
        .object([
            "schema": 1,
            "rollout": .string(plan.name),
            "plan": .string(plan.digest.description),
            "vehicles": .array(rows.map(\.json)),
            "exit": 0,
        ])
    }
}

extension WayBackSearch.Row {
    fileprivate var line: String {
        let now = sent?.version?.description ?? "its image"
        let words =
            fate.image.map { "\(now) → \($0.version)" }
            ?? fate.refusal.map { "stays as it is: \($0)" }
        return "\(vehicle.id.text.visible): \(words ?? "nothing to undo")"
    }

    fileprivate var json: JSONValue {
        .object([
            "vehicle": .string(vehicle.id.text),
            "fate": fate.image != nil ? "back" : fate.refusal != nil ? "refused" : "untouched",
            "from": sent?.version.map { .string($0.description) },
            "to": fate.image.map { .string($0.version.description) },
            "image": fate.image.map { .string($0.digest.description) },
            "reason": fate.refusal.map { .string($0) },
        ])
    }
}
