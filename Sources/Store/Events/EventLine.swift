package import Base

/// The stream of `--events`: one line with a JSON object for each event.
///
/// Members are only added, never renamed or removed; their order is fixed, and members without a
/// value are left out.
package struct EventLine: Sendable {
    /// Known once the run has started; every later line contains it.
    private var rollout: String?

    package init() {}

    /// The line of `event`, with a line feed at its end.
    package mutating func line(_ event: Event) -> String { document(event) + "\n" }

    /// The JSON object of `event`, without a line feed.
    package mutating func document(_ event: Event) -> String {
        switch event.body {
        case .runStarted(let start): rollout = start.rollout
        case .runEnded(let end): rollout = end.rollout
        case .imageReady, .attemptStarted, .stateChanged, .inspected, .progress, .interrupted,
            .problem, .retrying, .stepEnded, .vehicleEnded, .vehicleStands, .warning, .notice:
            break
        }
        let head = JSONValue.object([
            "schema": 1,
            "number": .int(event.number),
            "time": .string(event.time.description),
            "kind": .string(event.body.kind),
            "rollout": rollout.map { .string($0) },
            "vehicle": event.body.vehicle.map { .string($0.text) },
        ])
        let members = (head.members ?? []) + (event.body.details.members ?? [])
        return JSONValue.object(members).text
    }
}

extension Event.Body {
    /// The event's name for programs.
    package var kind: String {
        switch self {
        case .runStarted: "run-started"
        case .imageReady: "image-ready"
        case .attemptStarted: "attempt-started"
        case .stateChanged: "state-changed"
        case .inspected: "inspected"
        case .progress: "progress"
        case .interrupted: "interrupted"
        case .problem: "problem"
        case .retrying: "retrying"
        case .stepEnded: "step-ended"
        case .vehicleEnded: "vehicle-ended"
        case .vehicleStands: "vehicle-stands"
        case .warning: "warning"
        case .notice(let notice): notice.kind.rawValue
        case .runEnded: "run-ended"
        }
    }

    /// The vehicle of the event; nil for events of the whole run.
    package var vehicle: VehicleID? {
        switch self {
        case .attemptStarted(let id, _, _, _), .stateChanged(let id, _, _, _),
            .inspected(let id, _, _), .progress(let id, _), .interrupted(let id, _, _),
            .problem(let id, _), .retrying(let id, _, _, _), .stepEnded(let id, _),
            .vehicleEnded(let id, _), .vehicleStands(let id, _):
            id
        case .notice(let notice): notice.vehicle
        case .runStarted, .imageReady, .warning, .runEnded: nil
        }
    }

    /// The members that only this kind of event has.
    fileprivate var details: JSONValue {
        switch self {
        case .runStarted(let start):
            .object([
                "plan": .string(start.plan.description),
                "run": .int(start.run),
                "gateway": start.gateway.map { .string($0) },
                "vehicles": .int(start.vehicles),
                "adapters": .array(start.adapters.map { .string($0) }),
                "seed": start.seed.map { .seed($0) },
                "approved-by": start.approvers.isEmpty
                    ? nil : .array(start.approvers.map { .string($0) }),
            ])
        case .imageReady(let name, let digest, let size, let provenance):
            .object([
                "image": .string(name),
                "sha256": .string(digest.description),
                "bytes": .int(size.bytes),
                "provenance": provenance.isEmpty
                    ? nil : .array(provenance.map { .string($0) }),
            ])
        case .attemptStarted(_, let serial, let attempt, let position):
            .object([
                "serial": .string(serial.text),
                "attempt": .int(attempt),
                "position": .int(position),
            ])
        case .stateChanged(_, let state, let adapter, let detail):
            .object([
                "state": .string(state.rawValue),
                "adapter": adapter.map { .string($0) },
                "detail": detail.map { .string($0) },
            ])
        case .inspected(_, let version, let facts):
            .object([
                "version": version.map { .string($0.description) },
                "facts": .facts(facts),
            ])
        case .progress(_, let progress):
            .object([
                "acknowledged": .int(progress.acknowledged.bytes),
                "total": .int(progress.total.bytes),
                "resumed-from": .int(progress.resumedFrom.bytes),
                "bytes-per-second": progress.wholeRate.map { .int($0) },
                "remaining-seconds": progress.remaining.map { .seconds($0) },
            ])
        case .interrupted(_, let cause, let count):
            .object(["cause": .string(cause), "count": .int(count)])
        case .problem(_, let problem):
            .object([
                "check": .string(problem.check),
                "measured": .string(problem.measured),
                "required": .string(problem.required),
            ])
        case .retrying(_, let failure, let message, let pause):
            .object([
                "class": .string(failure.rawValue),
                "message": .string(message),
                "pause-seconds": .seconds(pause),
            ])
        case .stepEnded(_, let step):
            step.json
        case .vehicleEnded(_, let verdict): .object(verdict.members)
        case .vehicleStands(_, let standing):
            .object([JSONMember("serial", .string(standing.serial.text))] + standing.members)
        case .warning(let text): .object(["message": .string(text)])
        case .notice(let notice):
            .object([
                "wave": notice.wave.map { .int($0) },
                "waves": notice.waves.map { .int($0) },
                "vehicles": notice.vehicles.isEmpty
                    ? nil : .array(notice.vehicles.map { .string($0.text) }),
                "message": .string(notice.message),
            ])
        case .runEnded(let end): .object(end.members)
        }
    }
}
