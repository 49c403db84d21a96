package import Base

/// What a plan has otherwise than the one that was approved, field by field.
package struct PlanDifference {
    /// One line for each, those of vehicles first.
    package let lines: [String]

    /// Both are texts that people sign (`approvalText`).
    package init(_ now: JSONValue, approved: JSONValue) {
        guard now != approved else {
            lines = []
            return
        }
        var comparison = Comparison()
        comparison.vehicles(now, approved)
        let special = ["vehicles", "steps", "images", "devices"]
        comparison.compare(
            .object((now.members ?? []).filter { !special.contains($0.name) }),
            .object((approved.members ?? []).filter { !special.contains($0.name) }),
            at: []
        )
        lines = comparison.lines
    }

    /// A vehicle of a plan, with its steps.
    private struct Vehicle {
        let id: String
        let value: JSONValue

        init?(_ row: JSONValue, _ steps: [JSONValue], _ devices: [String: JSONValue]) {
            guard let row = row.array, row.count >= 5, let id = row[0].string,
                let index = row[4].integer.flatMap({ Int(exactly: $0) }),
                steps.indices.contains(index)
            else { return nil }
            self.id = id
            value = .object([
                "serial": row[1], "family": row[2], "profile": row[3],
                "label": row.count > 5 ? row[5] : .object([]), "step": steps[index],
                "device": devices[id] ?? .object([]),
            ])
        }

        /// Whether a step installs this image.
        func uses(_ image: String) -> Bool {
            (value["step"]?.array ?? []).contains { step in
                step["update"]?.string == image
                    || step["via"]?.array?.contains(.string(image)) == true
            }
        }
    }

    private struct Comparison {
        private(set) var lines: [String] = []

        mutating func vehicles(_ now: JSONValue, _ approved: JSONValue) {
            let (mine, theirs) = (Self.list(now), Self.list(approved))
            let known = Dictionary(theirs.map { ($0.id, $0) }) { first, _ in first }
            let images = Self.images(now, approved)
            // One line for all vehicles with the same difference.
            var order: [String] = []
            var whose: [String: [String]] = [:]
            func note(_ line: String, _ vehicle: String) {
                if whose[line] == nil { order.append(line) }
                whose[line, default: []].append(vehicle)
            }
            var told: Set<String> = []
            for vehicle in mine {
                guard let other = known[vehicle.id] else {
                    note("was not approved as a vehicle of it", vehicle.id)
                    continue
                }
                var own = Comparison()
                own.compare(vehicle.value, other.value, at: [])
                for line in own.lines { note(line, vehicle.id) }
                for (image, lines) in images where vehicle.uses(image) {
                    told.insert(image)
                    for line in lines { note(line, vehicle.id) }
                }
            }
            let present = Set(mine.map(\.id))
            for vehicle in theirs where !present.contains(vehicle.id) {
                note("was approved and is not in the plan", vehicle.id)
            }
            lines += order.map { line in
                let vehicles = whose[line] ?? []
                let more = vehicles.count > 1 ? " and \(vehicles.count - 1) more" : ""
                return "\(vehicles.first?.visible ?? "")\(more): \(line)"
            }
            for (image, words) in images where !told.contains(image) { lines += words }
            if lines.isEmpty, mine.map(\.id) != theirs.map(\.id) {
                lines.append("the vehicles were approved in another order")
            }
        }

        private static func list(_ plan: JSONValue) -> [Vehicle] {
            let steps = plan["steps"]?.array ?? []
            var devices: [String: JSONValue] = [:]
            for device in plan["devices"]?.array ?? [] {
                guard let pair = device.array, pair.count == 2, let id = pair[0].string else {
                    continue
                }
                devices[id] = pair[1]
            }
            return (plan["vehicles"]?.array ?? []).compactMap { Vehicle($0, steps, devices) }
        }

        /// The differences of each image, by its name.
        private static func images(
            _ now: JSONValue,
            _ approved: JSONValue
        ) -> [(name: String, lines: [String])] {
            func list(_ plan: JSONValue) -> [(name: String, value: JSONValue)] {
                (plan["images"]?.array ?? []).map { ($0["name"]?.string ?? "", $0) }
            }
            let (mine, theirs) = (list(now), list(approved))
            let names =
                mine.map(\.name)
                + theirs.map(\.name).filter { name in
                    !mine.contains { $0.name == name }
                }
            return names.map { name in
                var own = Comparison()
                own.compare(
                    mine.first { $0.name == name }?.value,
                    theirs.first { $0.name == name }?.value,
                    at: ["image \(name)"]
                )
                return (name, own.lines)
            }
        }

        mutating func compare(_ now: JSONValue?, _ approved: JSONValue?, at path: [String]) {
            guard now != approved else { return }
            if let mine = now?.members, let theirs = approved?.members {
                let names =
                    mine.map(\.name)
                    + theirs.map(\.name).filter { name in
                        !mine.contains { $0.name == name }
                    }
                for name in names { compare(now?[name], approved?[name], at: path + [name]) }
                return
            }
            if let mine = now?.array, let theirs = approved?.array, mine.count == theirs.count {
                for (index, pair) in zip(mine, theirs).enumerated() {
                    let name = (path.last ?? "") + " \(index + 1)"
                    compare(pair.0, pair.1, at: path.dropLast() + [name])
                }
                return
            }
            let key = path.last ?? ""
            var (mine, theirs) = (Self.words(now, of: key), Self.words(approved, of: key))
            if mine == theirs { (mine, theirs) = (now?.text ?? "", approved?.text ?? "") }
            let place = path.dropLast().map { "\($0.visible): " }.joined()
            lines.append("\(place)\(key.visible) \(mine.visible) was approved as \(theirs.visible)")
        }

        private static let longest = 160

        /// Lengths of time are kept in nanoseconds.
        private static func words(_ value: JSONValue?, of key: String) -> String {
            switch value {
            case nil: return "(none)"
            case .string(let text)?: return text.isEmpty ? "''" : text
            case .integer(let number)? where number >= 1_000_000_000 && key != "size":
                return Duration.nanoseconds(number).brief
            case let value?:
                let text = value.text
                return text.count > longest ? text.prefix(longest) + "…" : text
            }
        }
    }
}
