package import Base
import Manifest
import Operations
import Rollout
import Store

extension Rollback {
    /// A line for each vehicle.
    package var lines: [String] { rows.map(\.line) }

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

extension Rollback.Row {
    fileprivate var line: String {
        let now = sent?.version?.description ?? "its image"
        return switch fate {
        case .back(let image): "\(vehicle.id.text.visible): \(now) → \(image.version)"
        case .untouched: "\(vehicle.id.text.visible): nothing to undo"
        case .refused(let why): "\(vehicle.id.text.visible): stays as it is: \(why)"
        }
    }

    fileprivate var json: JSONValue {
        let (word, image, why): (String, PlannedImage?, String?) =
            switch fate {
            case .back(let image): ("back", image, nil)
            case .untouched: ("untouched", nil, nil)
            case .refused(let why): ("refused", nil, why)
            }
        return .object([
            "vehicle": .string(vehicle.id.text),
            "fate": .string(word),
            "from": sent?.version.map { .string($0.description) },
            "to": image.map { .string($0.version.description) },
            "image": image.map { .string($0.digest.description) },
            "reason": why.map { .string($0) },
        ])
    }
}
