package import Base
package import Store

/// The single document of `--json`, written at the end of the run.
package struct JSONReport: Printer {
    private var start: (run: RunStart, time: WallTime)?
    private var images: [JSONValue] = []
    private var serials: [VehicleID: Serial] = [:]
    /// What modules reported at their last inspection.
    private var firmware: [VehicleID: (version: FirmwareVersion?, facts: [Fact])] = [:]
    private var steps: [VehicleID: [StepResult]] = [:]
    private var verdicts: [VehicleID: Verdict] = [:]
    private var standings: [VehicleID: Standing] = [:]

    package init() {}

    package mutating func print(_ event: Event, at now: Moment) -> [Output] {
        switch event.body {
        case .runStarted(let run): start = (run, event.time)
        case .imageReady(let name, let digest, let size, let provenance):
            images.append(
                .object([
                    "image": .string(name),
                    "sha256": .string(digest.description),
                    "bytes": .int(size.bytes),
                    "provenance": .array(provenance.map { .string($0) }),
                ])
            )
        case .attemptStarted(let id, let serial, _, _): serials[id] = serial
        case .stepEnded(let id, let step): steps[id, default: []].append(step)
        case .vehicleEnded(let id, let verdict): verdicts[id] = verdict
        case .vehicleStands(let id, let standing): standings[id] = standing
        case .runEnded(let end):
            return [Output(.out, document(end, at: event.time).text + "\n")]
        case .inspected(let id, let version, let facts):
            firmware[id] = (version, facts)
        case .stateChanged, .progress, .interrupted, .problem, .retrying,
            .warning, .notice:
            break
        }
        return []
    }

    /// The document of a run that was cut off at this time: with all known facts, and without an
    /// exit code.
    func cutOff(at time: WallTime) -> String { document(nil, at: time).text + "\n" }

    private func document(_ end: RunEnd?, at time: WallTime) -> JSONValue {
        let head = JSONValue.object([
            "schema": 1,
            "rollout": (end?.rollout ?? start?.run.rollout).map { .string($0) },
            "plan": start.map { .string($0.run.plan.description) },
            "approved-by": start.flatMap { start in
                start.run.approvers.isEmpty
                    ? nil : .array(start.run.approvers.map { .string($0) })
            },
            "run": start.map { .int($0.run.run) },
            "gateway": (start?.run.gateway).map { .string($0) },
            "seed": start?.run.seed.map { .seed($0) },
            "started": start.map { .string($0.time.description) },
            "ended": .string(time.description),
        ])
        let vehicles = Set(verdicts.keys).union(standings.keys).sorted().map { id in
            let name = JSONValue.object([
                "vehicle": .string(id.text),
                "serial": (standings[id]?.serial ?? serials[id]).map { .string($0.text) },
            ])
            let steps = steps[id].map { list in
                [JSONMember("steps", .array(list.map(\.json)))]
            }
            let members = standings[id]?.members(verdicts[id]) ?? verdicts[id]?.members
            let firmware = firmware(of: id).map { [JSONMember("firmware", $0)] }
            return JSONValue.object(
                (name.members ?? []) + (members ?? []) + (firmware ?? []) + (steps ?? [])
            )
        }
        return .object(
            (head.members ?? [])
                + (images.isEmpty ? [] : [JSONMember("images", .array(images))])
                + [JSONMember("vehicles", .array(vehicles))]
                + (end?.members ?? [JSONMember("counts", counts)])
        )
    }

    /// What the module ran when this run saw it last; without a version when that is not known.
    private func firmware(of id: VehicleID) -> JSONValue? {
        guard let (version, facts) = firmware[id] else { return nil }
        let (standing, told) = (standings[id], verdicts[id])
        // Both the proof of an update and a debt come after the inspection.
        let last = standing?.run == nil && told != nil ? told?.versionAfter : version
        let shown = standing?.debt == nil ? last : nil
        return .object([
            "version": shown.map { .string($0.description) },
            "facts": .facts(facts),
        ])
    }

    /// The counts from the verdicts so far.
    private var counts: JSONValue {
        let vehicles = Set(verdicts.keys).union(standings.keys)
        let outcomes = vehicles.map { (standings[$0]?.verdict ?? verdicts[$0])?.outcome }
        return VehicleCounts(outcomes, of: start?.run.vehicles ?? 0).json
    }
}
