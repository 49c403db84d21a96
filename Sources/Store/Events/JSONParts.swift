package import Base

/// The parts that the event stream and the report have in common.
extension Verdict {
    package var members: [JSONMember] {
        let value = JSONValue.object([
            "outcome": .string(outcome.rawValue),
            "class": failure.map { .string($0.rawValue) },
            "message": .string(message),
            "versions": .object([
                "before": versionBefore.map { .string($0.description) },
                "after": versionAfter.map { .string($0.description) },
            ]),
            "attempts": .int(attempts),
            "interruptions": .int(interruptions),
            "bytes": .int(bytesSent.bytes),
            "seconds": .seconds(took),
            "problems": problems.isEmpty ? nil : .array(problems.map(\.json)),
        ])
        return value.members ?? []
    }
}

extension Problem {
    var json: JSONValue {
        .object([
            "check": .string(check),
            "measured": .string(measured),
            "required": .string(required),
        ])
    }
}

extension StepResult {
    package var json: JSONValue {
        .object([
            "step": .int(number),
            "action": .string(action),
            "fate": .string(fate.rawValue),
            "facts": .facts(facts),
        ])
    }
}

extension RunEnd {
    package var members: [JSONMember] {
        let used = adapters.map { use in
            JSONValue.object([
                "name": .string(use.name),
                "busy-seconds": .seconds(use.busy),
                "link-seconds": use.linked.map { .seconds($0) },
                "air-seconds": use.aired.map { .seconds($0) },
                "busy": use.spans.isEmpty
                    ? nil
                    : .array(use.spans.map { .array([.seconds($0.from), .seconds($0.to)]) }),
            ])
        }
        return [
            JSONMember("counts", vehicles.json),
            JSONMember("seconds", .seconds(took)),
        ] + (used.isEmpty ? [] : [JSONMember("adapters", .array(used))]) + [
            JSONMember("exit", .object(["code": .int(exitCode), "reason": .string(reason)]))
        ]
    }
}

extension Progress {
    /// Whole bytes per second; nil when there is no meaningful value.
    package var wholeRate: Int? {
        guard let rate, rate.isFinite, rate >= 0, rate < 1e15 else { return nil }
        return Int(rate)
    }

    /// The share that the module has acknowledged, from 0 to 100; 100 only when it is complete.
    package var percent: Int {
        guard total.bytes > 0, acknowledged.bytes < total.bytes else { return 100 }
        return min(99, Int(Double(acknowledged.bytes) / Double(total.bytes) * 100))
    }
}

extension JSONValue {
    /// Seconds with milliseconds; a whole number where possible.
    package static func seconds(_ duration: Duration) -> JSONValue {
        let milliseconds = duration.nanoseconds / 1_000_000
        guard !milliseconds.isMultiple(of: 1_000) else { return .integer(milliseconds / 1_000) }
        return .number(Double(milliseconds) / 1_000)
    }

    /// A number, or its digits as text when it does not fit into 64 signed bits.
    package static func seed(_ seed: UInt64) -> JSONValue {
        Int64(exactly: seed).map { .integer($0) } ?? .string(String(seed))
    }

    /// The facts as an object; of facts with the same name, the first.
    package static func facts(_ facts: [Fact]) -> JSONValue {
        var members: [JSONMember] = []
        for fact in facts where !members.contains(where: { $0.name == fact.name }) {
            members.append(JSONMember(fact.name, .string(fact.value)))
        }
        return .object(members)
    }
}
