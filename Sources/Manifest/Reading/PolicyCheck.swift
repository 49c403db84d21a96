import Base

/// Finds rules that can never apply to the selected vehicles, so that somebody would rely on them
/// in vain.
///
/// `validate` and `plan` show them as remarks. They are not errors of reading, since one manifest
/// can serve depots of any size.
struct PolicyCheck {
    private let diagnostics = Diagnostics()

    /// `node` is the value of `rollout`.
    init(_ policy: RolloutPolicy, for vehicles: [PlannedVehicle], _ node: SourceNode) {
        guard !vehicles.isEmpty else { return }
        waves(policy, vehicles.count, node)
        gate(policy, vehicles.count, node)
        spread(policy, vehicles, node)
        if let vehicle = policy.airtime.vehicle, let total = policy.airtime.total, vehicle > total {
            warn(
                node,
                ["airtime", "vehicle"],
                "one vehicle may use \(vehicle.brief) of the adapters, and the whole run only "
                    + total.brief,
                "make `total` longer than `vehicle`"
            )
        }
        if let window = policy.window { self.window(window, vehicles, node) }
    }

    /// The warnings, each at the place of its key.
    var remarks: [Diagnostic] { diagnostics.list }

    private func warn(_ node: SourceNode, _ path: [String], _ message: String, _ hint: String) {
        diagnostics.warning(node.place(of: path) ?? node.place, message, hint: hint)
    }

    private func window(_ window: Window, _ vehicles: [PlannedVehicle], _ node: SourceNode) {
        let isWhole = window.openings.contains { $0.days.isEmpty && $0.length >= .seconds(86_400) }
        if isWhole, window.freezes.isEmpty, window.own == nil {
            let key = node.node(at: ["window", "for"]) == nil ? "open" : "for"
            warn(
                node,
                ["window", key],
                "the window is open all day and has no effect",
                key == "for"
                    ? "write how long it is open each day, such as `for: 4h`, or remove `window`"
                    : "write when it is open, such as `22:00-05:00`, or remove `window`"
            )
        }
        let closed = Set(vehicles.map(window.openings(of:))).filter(window.neverOpens)
        if let vehicle = vehicles.first(where: { closed.contains(window.openings(of: $0)) }) {
            warn(
                node,
                ["window"],
                "the window never opens for vehicle \(vehicle.id): `not` has each of its days",
                "remove a rule from `not`, or open it on another day"
            )
        }
        guard let own = window.own,
            case .map(let entries)? = node.node(at: ["window", "own"])?.value
        else { return }
        let known = Set(vehicles.map { $0.value(of: own.label) }.filter { !$0.isEmpty })
        for entry in entries where own.openings[entry.key] != nil && !known.contains(entry.key) {
            diagnostics.warning(
                entry.keyPlace,
                "no vehicle here has \(own.label) \(quoted(entry.key))",
                hint: Nearest.hint(entry.key, among: known)
            )
        }
    }

    /// Warns about waves without vehicles, and about rules between waves when there is only one
    /// wave.
    private func waves(_ policy: RolloutPolicy, _ total: Int, _ node: SourceNode) {
        let sizes = FrozenPlan.sizes(of: policy.waves, total: total)
        if let number = policy.waves.indices.first(where: { $0 >= sizes.count }),
            policy.waves.count > 1, policy.waves[number] != .rest,
            case .list(let items)? = node.node(at: ["waves"])?.value, items.indices.contains(number)
        {
            let taken = total == 1 ? "the vehicle is" : "all \(total) vehicles are"
            diagnostics.warning(
                items[number].place,
                "no vehicle is left for wave \(number + 1), `\(policy.waves[number])`: \(taken) in the "
                    + "waves before it",
                hint: "make the waves before it smaller, or remove it"
            )
        }
        guard sizes.count == 1 else { return }
        for key in ["go-on-when", "between-waves"] where node.node(at: [key]) != nil {
            diagnostics.warning(
                node.node(at: ["waves"])?.place ?? node.keyPlace(of: key) ?? node.place,
                "`\(key)` never applies: all \(total) vehicles are in one wave",
                hint: "cut them into waves, as in `waves: [1, 10%, rest]`, or remove `\(key)`"
            )
        }
    }

    /// Warns about a gate that no number of failures can trip.
    private func gate(_ policy: RolloutPolicy, _ total: Int, _ node: SourceNode) {
        guard let pause = policy.pause, !pause.trips(failed: total, attempted: total) else {
            return
        }
        switch pause.failed {
        case .count(let limit):
            warn(
                node,
                ["pause-when", "failed"],
                "the gate never trips: it lets \(limit) vehicles fail, and there are \(total)",
                "write a smaller number, or a share such as 5%"
            )
        case .percent where pause.atLeast > total:
            warn(
                node,
                ["pause-when", "at-least"],
                "the gate never trips: it waits for \(pause.atLeast) attempts, and there are "
                    + "\(total) vehicles",
                "make `at-least` \(max(1, total / 3)) or less"
            )
        case .percent(let percent):
            warn(
                node,
                ["pause-when", "failed"],
                "the gate never trips: no more than 100% can fail, and it lets \(percent) fail",
                "write a smaller share"
            )
        }
    }

    private func spread(_ policy: RolloutPolicy, _ vehicles: [PlannedVehicle], _ node: SourceNode) {
        let known = Set(vehicles.flatMap { $0.labels.map(\.name) })
            .union(["id", "serial", "family", "profile"])
        guard case .list(let items)? = node.node(at: ["spread"])?.value else { return }
        for (label, item) in zip(policy.spread, items) where !known.contains(label) {
            diagnostics.warning(
                item.place,
                "no vehicle here has the label \(quoted(label))",
                hint: Nearest.hint(label, among: known)
            )
        }
    }
}

extension SourceNode {
    /// The value at these nested keys.
    func node(at path: [String]) -> SourceNode? {
        var node = self
        for key in path {
            guard case .map(let entries) = node.value,
                let entry = entries.first(where: { $0.key == key })
            else { return nil }
            node = entry.value
        }
        return node
    }

    func place(of path: [String]) -> Place? { node(at: path)?.place }

    /// The place of the key itself.
    func keyPlace(of key: String) -> Place? {
        guard case .map(let entries) = value else { return nil }
        return entries.first { $0.key == key }?.keyPlace
    }
}
