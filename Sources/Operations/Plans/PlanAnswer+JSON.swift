package import Base
import Commands
import Manifest
import Rollout
import Show
import Store

extension PlanAnswer {
    /// The JSON document for programs.
    package var document: JSONValue {
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
                        "stored": .bool(presence(of: image) == .usable),
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
            "programs": .array(plan.programs.map(\.document)),
            "window": forecast.window.map { .string($0) },
            "openings": forecast.window.map { _ in
                .array(forecast.openings.map(OpenTimes.Span.jsonForm.json))
            },
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
                            row.vehicle.steps.map { .string(words(of: $0)) }
                        ),
                    ])
                }
            ),
            "exit": ExitCode.done.json,
        ])
    }
}
