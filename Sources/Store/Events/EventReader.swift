package import Base

/// Reads the output of `EventLine`, so that a run can be shown again from its journal.
///
/// Members that a later version adds are ignored. A line without a required member gives nil, and
/// so does progress, which no journal keeps.
package enum EventReader {
    package static func body(
        kind: String,
        vehicle: VehicleID?,
        _ line: JSONValue
    ) -> Event.Body? {
        let fields = Fields(line)
        if let kind = Notice.Kind(rawValue: kind) { return notice(kind, vehicle, fields) }
        if let vehicle { return body(kind: kind, of: vehicle, fields) }
        switch kind {
        case "run-started": return start(fields).map { .runStarted($0) }
        case "image-ready":
            guard let name = fields.text("image"), let digest = fields.digest("sha256"),
                let size = fields.bytes("bytes")
            else { return nil }
            return .imageReady(
                name: name,
                digest: digest,
                size: size,
                provenance: (line["provenance"]?.array ?? []).compactMap(\.string)
            )
        case "warning": return fields.text("message").map { .warning($0) }
        case "run-ended": return end(fields).map { .runEnded($0) }
        default: return nil
        }
    }

    private static func body(
        kind: String,
        of vehicle: VehicleID,
        _ fields: Fields
    ) -> Event.Body? {
        switch kind {
        case "attempt-started":
            guard let serial = fields.text("serial").flatMap({ Serial($0) }),
                let attempt = fields.int("attempt"), let position = fields.int("position")
            else { return nil }
            return .attemptStarted(vehicle, serial: serial, attempt: attempt, position: position)
        case "state-changed":
            guard let state = fields.text("state").flatMap({ ExecutionState(rawValue: $0) })
            else { return nil }
            return .stateChanged(
                vehicle,
                state,
                adapter: fields.text("adapter"),
                detail: fields.text("detail")
            )
        case "inspected":
            return .inspected(vehicle, version: fields.version("version"), facts: fields.facts)
        case "interrupted":
            guard let cause = fields.text("cause"), let count = fields.int("count") else {
                return nil
            }
            return .interrupted(vehicle, cause: cause, count: count)
        case "problem":
            return problem(fields).map { .problem(vehicle, $0) }
        case "retrying":
            guard let failure = fields.failure, let message = fields.text("message"),
                let pause = fields.duration("pause-seconds")
            else { return nil }
            return .retrying(vehicle, failure, message: message, pause: pause)
        case "step-ended":
            guard let number = fields.int("step"), let action = fields.text("action"),
                let fate = fields.text("fate").flatMap({ StepResult.Fate(rawValue: $0) })
            else { return nil }
            return .stepEnded(vehicle, StepResult(number, action, fate, facts: fields.facts))
        case "vehicle-ended": return verdict(fields).map { .vehicleEnded(vehicle, $0) }
        case "vehicle-stands": return standing(fields).map { .vehicleStands(vehicle, $0) }
        default: return nil
        }
    }

    private static func notice(
        _ kind: Notice.Kind,
        _ vehicle: VehicleID?,
        _ fields: Fields
    ) -> Event.Body? {
        guard let message = fields.text("message") else { return nil }
        return .notice(
            Notice(
                kind,
                wave: fields.int("wave"),
                of: fields.int("waves"),
                vehicle: vehicle,
                vehicles: fields.texts("vehicles").compactMap { VehicleID($0) },
                message
            )
        )
    }

    private static func start(_ fields: Fields) -> RunStart? {
        guard let rollout = fields.text("rollout"), let plan = fields.digest("plan"),
            let vehicles = fields.int("vehicles"), let run = fields.int("run")
        else { return nil }
        var start = RunStart(
            rollout: rollout,
            plan: plan,
            vehicles: vehicles,
            adapters: fields.texts("adapters"),
            run: run,
            seed: fields.value["seed"].flatMap { seed in
                seed.integer.flatMap { UInt64(exactly: $0) } ?? seed.string.flatMap { UInt64($0) }
            }
        )
        start.gateway = fields.text("gateway")
        start.approvers = fields.texts("approved-by")
        return start
    }

    private static func problem(_ fields: Fields) -> Problem? {
        guard let check = fields.text("check"), let measured = fields.text("measured"),
            let required = fields.text("required")
        else { return nil }
        return Problem(check: check, measured: measured, required: required)
    }

    private static func verdict(_ fields: Fields) -> Verdict? {
        guard let outcome = fields.text("outcome").flatMap({ Outcome(rawValue: $0) }),
            let message = fields.text("message"), let took = fields.duration("seconds")
        else { return nil }
        let versions = Fields(fields.value["versions"] ?? .null)
        return Verdict(
            outcome: outcome,
            failure: fields.failure,
            message: message,
            versionBefore: versions.version("before"),
            versionAfter: versions.version("after"),
            attempts: fields.int("attempts") ?? 0,
            interruptions: fields.int("interruptions") ?? 0,
            bytesSent: fields.bytes("bytes") ?? .zero,
            took: took,
            problems: (fields.value["problems"]?.array ?? []).compactMap { problem(Fields($0)) }
        )
    }

    private static func standing(_ fields: Fields) -> Standing? {
        let verdict = verdict(fields)
        let state = fields.text("state").flatMap { Standing.State(rawValue: $0) }
        guard let serial = fields.text("serial").flatMap({ Serial($0) }),
            verdict != nil || state != nil
        else { return nil }
        var standing = Standing(
            serial,
            state ?? .waiting,
            verdict: verdict,
            run: fields.int("run")
        )
        let debt = Fields(fields.value["debt"] ?? .null)
        if let image = debt.text("image"), let rollout = debt.text("rollout"),
            let run = debt.int("run"), let seenRun = debt.int("seen-run"),
            let percent = debt.int("percent")
        {
            standing.debt = Standing.Unproven(
                image: image,
                rollout: rollout,
                run: run,
                seenRun: seenRun,
                percent: percent
            )
            standing.debt?.gateway = debt.text("gateway")
            standing.debt?.seenGateway = debt.text("seen-gateway")
        }
        standing.gateway = fields.text("gateway")
        standing.waits = fields.text("waits")
        if verdict == nil { standing.sent = fields.bytes("bytes") ?? .zero }
        standing.doubt = fields.text("doubt")
        standing.owed = fields.texts("owes")
        return standing
    }

    private static func end(_ fields: Fields) -> RunEnd? {
        let exit = Fields(fields.value["exit"] ?? .null)
        guard let rollout = fields.text("rollout"), let code = exit.int("code"),
            let reason = exit.text("reason"), let took = fields.duration("seconds")
        else { return nil }
        var counts: [Outcome: Int] = [:]
        let given = Fields(fields.value["counts"] ?? .null)
        for outcome in Outcome.allCases {
            guard let count = given.int(outcome.rawValue), count > 0 else { continue }
            counts[outcome] = count
        }
        var end = RunEnd(
            rollout: rollout,
            counts: counts,
            unfinished: given.int("unfinished") ?? 0,
            exitCode: code,
            reason: reason,
            took: took
        )
        end.adapters = (fields.value["adapters"]?.array ?? []).compactMap { value in
            let fields = Fields(value)
            guard let name = fields.text("name"), let busy = fields.duration("busy-seconds")
            else { return nil }
            var use = AdapterUse(name: name, busy: busy)
            use.linked = fields.duration("link-seconds")
            use.aired = fields.duration("air-seconds")
            use.spans = (value["busy"]?.array ?? []).compactMap { span in
                guard let ends = span.array, ends.count == 2,
                    let from = Fields.duration(ends[0]), let to = Fields.duration(ends[1])
                else { return nil }
                return AdapterUse.Span(from: from, to: to)
            }
            return use
        }
        return end
    }
}

/// The members of a line, converted to their types.
private struct Fields {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func text(_ name: String) -> String? { value[name]?.string }

    func texts(_ name: String) -> [String] { (value[name]?.array ?? []).compactMap(\.string) }

    func int(_ name: String) -> Int? {
        value[name]?.integer.flatMap { $0 >= 0 ? Int(exactly: $0) : nil }
    }

    func bytes(_ name: String) -> ByteCount? { int(name).flatMap { ByteCount(bytes: $0) } }

    func digest(_ name: String) -> SHA256Digest? { text(name).flatMap { SHA256Digest($0) } }

    func version(_ name: String) -> FirmwareVersion? {
        text(name).flatMap { FirmwareVersion($0) }
    }

    var failure: FailureClass? { text("class").flatMap { FailureClass(rawValue: $0) } }

    /// A duration, which was written in whole milliseconds.
    func duration(_ name: String) -> Duration? { value[name].flatMap(Self.duration) }

    static func duration(_ value: JSONValue) -> Duration? {
        switch value {
        case .integer(let seconds): .seconds(seconds)
        case .number(let seconds) where seconds.magnitude < 1e12:
            .milliseconds(Int64((seconds * 1_000).rounded()))
        case .null, .bool, .number, .string, .array, .object: nil
        }
    }

    var facts: [Fact] {
        (value["facts"]?.members ?? []).compactMap { member in
            member.value.string.map { Fact(member.name, $0) }
        }
    }
}
