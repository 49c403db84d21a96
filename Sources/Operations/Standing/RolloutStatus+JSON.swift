import Domain
import Journal
import Reports
package import Wire

extension RolloutStatus {
    /// What `status --json` and the web page's interface give: times in UTC.
    package var json: JSONValue {
        let run = snapshot.run
        return .object([
            "schema": 1,
            "rollout": run.map { .string($0.rollout) },
            "run": run.map { .integer(Int64($0.number)) },
            "plan": run.map { .string($0.plan.description) },
            "started": run.map { .string($0.started.description) },
            "ended": run?.end.map { .string($0.time.description) },
            "exit": run?.end.map { end in
                .object([
                    "code": end.exitCode.map { .integer(Int64($0)) } ?? .null,
                    "reason": .string(end.reason),
                ])
            },
            "running": .bool(isRunning),
            "state": snapshot.rollout.map {
                .string($0.hold?.kind.rawValue ?? $0.state.rawValue)
            },
            "reason": snapshot.rollout.map { .string($0.hold?.reason ?? "") },
            "author": snapshot.rollout?.hold.map { .string($0.author) },
            "wave": snapshot.rollout.map { .int($0.wave + 1) },
            "waves": waves.isEmpty ? nil : .array(waves.map(\.json)),
            "gates": plan.map { _ in .array(gates.map { .string($0) }) },
            "soaks-until": soaksUntil.map { .string($0.description) },
            "under-way": .array(snapshot.underWay.map { .string($0.vehicle.text) }),
            "next-deadline": snapshot.nextDeadline.map { next in
                .object([
                    "vehicle": .string(next.vehicle.text),
                    "label": .string(next.deadline.label),
                    "time": .string(next.deadline.time.description),
                ])
            },
            "requests": .array(
                snapshot.requests.map { open in
                    .object([
                        "kind": .string(open.request.kind.rawValue),
                        "reason": .string(open.request.reason),
                        "made": .string(open.request.made.description),
                    ])
                }
            ),
            "inhibits": .array(
                snapshot.inhibits.map { inhibit in
                    .object([
                        "vehicle": inhibit.vehicle.map { .string($0.text) },
                        "reason": .string(inhibit.reason),
                        "expires": inhibit.expires.map { .string($0.description) },
                        "author": .string(inhibit.author),
                    ])
                }
            ),
            "said": .array(snapshot.sayings.map(\.json)),
            "failures": .array(
                snapshot.failures.map { failure in
                    .object([
                        "vehicle": .string(failure.vehicle.text),
                        "image": .string(failure.release.description),
                        "count": .int(failure.count),
                        "message": .string(failure.message),
                    ])
                }
            ),
            "debts": .array(
                snapshot.debts.map { debt in
                    .object([
                        "vehicle": .string(debt.vehicle.text),
                        "serial": .string(debt.serial.text),
                        "image": .string(debt.image.description),
                        "name": .string(debt.name),
                        "version": debt.version.map { .string($0.description) },
                        "rollout": .string(debt.rollout),
                        "run": .int(debt.run),
                        "seen-run": .int(debt.seenRun),
                        "in-bootloader": .bool(debt.inBootloader),
                    ])
                }
            ),
            "doubts": .array(
                snapshot.openDoubts.map { doubt in
                    .object([
                        "vehicle": .string(doubt.intent.vehicle.text),
                        "step": .string(doubt.intent.description),
                        "run": .int(doubt.intent.run),
                    ])
                }
            ),
            "owed": .array(
                snapshot.owed.map { step in
                    .object([
                        "vehicle": .string(step.vehicle.text),
                        "step": .string(step.action),
                        "run": .int(step.run),
                    ])
                }
            ),
            "rollouts": .array(
                briefs.map { brief in
                    .object([
                        "rollout": .string(brief.run.rollout),
                        "run": .int(brief.run.number),
                        "state": .string(brief.state),
                        "started": .string(brief.run.started.description),
                        "ended": brief.run.end.map { .string($0.time.description) },
                        "exit": brief.run.end?.exitCode.map { .int($0) },
                        "counts": brief.counts.json,
                    ])
                }
            ),
            "counts": counts.json,
            "vehicles": .array(
                zip(chosen, standings).map { record, standing in
                    Self.member(record, standing, isUnderWay: snapshot.isUnderWay(record))
                }
            ),
            "next": .array(
                nextSteps.map { next in
                    .object(
                        [JSONMember("vehicle", .string(next.vehicle.text))]
                            + (next.step.json.members ?? [])
                    )
                }
            ),
        ])
    }

    private static func member(
        _ record: ExecutionRecord,
        _ standing: Standing,
        isUnderWay: Bool
    ) -> JSONValue {
        let verdict = standing.verdict
        let ended = verdict == nil ? standing.state.rawValue : ExecutionState.ended.rawValue
        return .object([
            "id": .string(record.vehicle.text),
            "serial": .string(record.serial.text),
            "state": .string(isUnderWay ? record.state.rawValue : ended),
            "outcome": verdict.map { .string($0.outcome.rawValue) },
            "class": verdict?.failure.map { .string($0.rawValue) },
            "message": isUnderWay ? nil : .string(verdict?.message ?? standing.sentence),
            "percent": standing.debt.map { .int($0.percent) },
            "attempt": .integer(Int64(record.attempt)),
            "acknowledged": record.acknowledged.map { .integer(Int64($0.bytes)) },
            "total": record.totalBytes.map { .integer(Int64($0.bytes)) },
            "in-bootloader": .bool(record.inBootloader),
            "updated": .string(record.updated.description),
            "next-deadline": record.nextDeadline.map { deadline in
                .object([
                    "label": .string(deadline.label), "time": .string(deadline.time.description),
                ])
            },
        ])
    }
}
