package import Base

/// What a plan has otherwise than the one that was approved, field by field.
package enum PlanDifference {
    /// One line for each difference of two texts that people sign (`approvalText`), those of vehicles first.
    package static func lines(_ now: JSONValue, approved: JSONValue) -> [String] {
        guard now != approved else { return [] }
        let (mine, theirs) = (PlanLeaves(now), PlanLeaves(approved))
        let known = Dictionary(theirs.vehicles) { first, _ in first }
        let present = Dictionary(mine.vehicles) { first, _ in first }
        // One line for all vehicles with the same difference.
        var order: [String] = []
        var whose: [String: [String]] = [:]
        func note(_ line: String, _ vehicle: String) {
            if whose[line] == nil { order.append(line) }
            whose[line, default: []].append(vehicle)
        }
        for (id, leaves) in mine.vehicles {
            let lines = known[id].map { compare(leaves, $0) }
            for line in lines ?? ["was not approved as a vehicle of it"] { note(line, id) }
        }
        for (id, _) in theirs.vehicles where present[id] == nil {
            note("was approved and is not in the plan", id)
        }
        let ofVehicles = order.map { line in
            let vehicles = whose[line] ?? []
            let more = vehicles.count > 1 ? " and \(vehicles.count - 1) more" : ""
            return "\(vehicles.first?.visible ?? "")\(more): \(line)"
        }
        let lines = ofVehicles + compare(mine.others, theirs.others)
        return lines.isEmpty ? ["its parts were approved in another order"] : lines
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
    struct Leaf {
        let path: String
        let value: String
    }

    private(set) var vehicles: [(String, [Leaf])] = []
    private(set) var others: [Leaf] = []

    init(_ plan: JSONValue) {
        let steps = plan["steps"]?.array ?? []
        var images: [String: [Leaf]] = [:]
        for image in plan["images"]?.array ?? [] {
            let name = image["name"]?.string ?? ""
            images[name] = Self.leaves(image, "image \(name)")
        }
        var devices: [String: JSONValue] = [:]
        for device in plan["devices"]?.array ?? [] {
            guard let pair = device.array, pair.count == 2, let id = pair[0].string else {
                continue
            }
            devices[id] = pair[1]
        }
        for row in plan["vehicles"]?.array ?? [] {
            guard let row = row.array, row.count >= 5, let id = row[0].string else { continue }
            let index = row[4].integer.flatMap { Int(exactly: $0) } ?? -1
            let own = steps.indices.contains(index) ? steps[index] : .null
            let parts = [
                ("serial", row[1]), ("family", row[2]), ("profile", row[3]),
                ("label", row.count > 5 ? row[5] : .null), ("device", devices[id] ?? .null),
                ("step", own),
            ]
            let names = (own.array ?? []).flatMap { step in
                [step["update"]].compactMap(\.self) + (step["via"]?.array ?? [])
            }.compactMap(\.string)
            let leaves =
                parts.flatMap { Self.leaves($0.1, $0.0) }
                + Set(names).sorted().flatMap { images[$0] ?? [] }
            vehicles.append((id, leaves))
        }
        for member in plan.members ?? []
        where !["vehicles", "steps", "images", "devices"].contains(member.name) {
            others += Self.leaves(member.value, member.name)
        }
    }

    private static func leaves(_ value: JSONValue, _ path: String) -> [Leaf] {
        switch value {
        case .null: []
        case .object(let members):
            members.flatMap { leaves($0.value, "\(path): \($0.name)") }
        case .array(let elements):
            elements.enumerated().flatMap { leaves($0.element, "\(path) \($0.offset + 1)") }
        case .string(let text): [Leaf(path: path, value: text.isEmpty ? "''" : text)]
        // Lengths of time are kept in nanoseconds.
        case .integer(let number) where number >= 1_000_000_000 && !path.hasSuffix("size"):
            [Leaf(path: path, value: exact(.nanoseconds(number)))]
        case .bool, .integer, .number: [Leaf(path: path, value: value.text)]
        }
    }

    /// As people write it, where that says it exactly.
    private static func exact(_ time: Duration) -> String {
        if Duration(text: time.brief) == time { return time.brief }
        return time.nanoseconds % 1_000_000_000 == 0
            ? "\(time.nanoseconds / 1_000_000_000)s" : "\(time.nanoseconds)ns"
    }
}
