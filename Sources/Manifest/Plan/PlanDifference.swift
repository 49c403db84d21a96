package import Base

/// What a plan has otherwise than the one that was approved, field by field.
package enum PlanDifference {
    /// One line for each difference of two texts that people sign (`approvalText`), those of vehicles first.
    package static func lines(_ now: JSONValue, approved: JSONValue) -> [String] {
        guard now != approved else { return [] }
        let (mine, theirs) = (PlanLeaves(now), PlanLeaves(approved))
        let known = Dictionary(theirs.vehicles) { first, _ in first }
        let present = Dictionary(mine.vehicles) { first, _ in first }
        var notes: [(line: String, vehicle: String)] = []
        for (id, leaves) in mine.vehicles {
            let lines = known[id].map { compare(leaves, $0) }
            notes += (lines ?? ["was not approved as a vehicle of it"]).map { ($0, id) }
        }
        for (id, _) in theirs.vehicles where present[id] == nil {
            notes.append(("was approved and is not in the plan", id))
        }
        // One line for all vehicles with the same difference.
        var whose = Dictionary(grouping: notes, by: \.line).mapValues(\.count)
        let ofVehicles = notes.compactMap { note in
            whose.removeValue(forKey: note.line).map { count in
                let more = count > 1 ? " and \(count - 1) more" : ""
                return "\(note.vehicle.visible)\(more): \(note.line)"
            }
        }
        let lines = ofVehicles + compare(mine.others, theirs.others)
        return lines.isEmpty ? ["its parts were approved in another order"] : lines
    }

    /// What a part of such a text says, on one line.
    package static func words(_ value: JSONValue, _ name: String = "") -> String {
        switch value {
        case .object(let members):
            members.filter { $0.value.array?.isEmpty != true }
                .map { "\($0.name) \(words($0.value, $0.name))" }.joined(separator: ", ")
        case .array(let elements):
            elements.map { words($0) }.joined(
                separator: elements.first?.members != nil
                    ? "; " : elements.first?.array != nil ? ", " : " "
            )
        case .null, .bool, .string, .integer, .number: PlanLeaves.text(value, name)
        }
    }

    private static func compare(_ now: [PlanLeaves.Leaf], _ approved: [PlanLeaves.Leaf]) -> [String]
    {
        let known = Dictionary(approved.map { ($0.path, $0.value) }) { first, _ in first }
        let present = Set(now.map(\.path))
        func line(_ path: String, _ now: String?, _ approved: String?) -> String {
            let words = [now, approved].map { ($0 ?? "(none)").visible }
            return "\(path.visible) \(words[0]) was approved as \(words[1])"
        }
        return now.filter { known[$0.path] != $0.value }
            .map { line($0.path, $0.value, known[$0.path]) }
            + approved.filter { !present.contains($0.path) }.map { line($0.path, nil, $0.value) }
    }
}

/// The fields of a plan, each with its path; those of a vehicle include its steps and their images.
private struct PlanLeaves {
    typealias Leaf = (path: String, value: String)

    private(set) var vehicles: [(String, [Leaf])] = []
    private(set) var others: [Leaf] = []

    init(_ plan: JSONValue) {
        func elements(_ name: String) -> [JSONValue] { plan[name]?.array ?? [] }
        func named(_ pairs: [(JSONValue?, JSONValue?)]) -> [String: JSONValue] {
            let pairs = pairs.map { ($0?.string ?? "", $1 ?? .null) }
            return Dictionary(pairs) { first, _ in first }
        }
        let steps = elements("steps")
        let images = named(elements("images").map { ($0["name"], $0) })
        let devices = named(elements("devices").compactMap(\.array).map { ($0.first, $0.last) })
        for row in elements("vehicles") {
            guard let row = row.array, row.count >= 5, let id = row[0].string else { continue }
            let index = row[4].integer.flatMap { Int(exactly: $0) } ?? -1
            let own = steps.indices.contains(index) ? steps[index] : .null
            let facts = JSONValue.object([
                "serial": row[1], "family": row[2], "profile": row[3],
                "label": row.count > 5 ? row[5] : nil, "device": devices[id], "step": own,
            ])
            let names = (own.array ?? []).flatMap { step in
                [step["update"]].compactMap(\.self) + (step["via"]?.array ?? [])
            }.compactMap(\.string)
            let sent = Set(names).sorted().flatMap { name in
                Self.leaves(images[name] ?? .null, "image \(name)")
            }
            vehicles.append((id, Self.leaves(facts) + sent))
        }
        let apart = ["vehicles", "steps", "images", "devices"]
        others = Self.leaves(.object((plan.members ?? []).filter { !apart.contains($0.name) }))
    }

    private static func leaves(_ value: JSONValue, _ path: String = "") -> [Leaf] {
        switch value {
        case .null: []
        case .object(let members):
            members.flatMap { leaves($0.value, (path.isEmpty ? "" : "\(path): ") + $0.name) }
        case .array(let elements):
            elements.enumerated().flatMap { leaves($0.element, "\(path) \($0.offset + 1)") }
        case .bool, .string, .integer, .number: [(path, text(value, path))]
        }
    }

    fileprivate static func text(_ value: JSONValue, _ path: String) -> String {
        if let text = value.string { return text.isEmpty ? "''" : text }
        // Lengths of time are kept in nanoseconds.
        if let number = value.integer, number >= 1_000_000_000, !path.hasSuffix("size") {
            return exact(.nanoseconds(number))
        }
        return value.text
    }

    /// As people write it, where that says it exactly.
    private static func exact(_ time: Duration) -> String {
        if Duration(text: time.brief) == time { return time.brief }
        return time.nanoseconds % 1_000_000_000 == 0
            ? "\(time.nanoseconds / 1_000_000_000)s" : "\(time.nanoseconds)ns"
    }
}
