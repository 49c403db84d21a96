package import Base
package import Commands
package import Manifest

/// The set from which vehicles are selected: those of a plan with their labels, those that only the
/// journal knows, and each one's last ending.
package struct VehicleGround: Sendable {
    /// Its name in messages; nil when no rollout is selected.
    var rollout: String?
    package var planned: [PlannedVehicle]
    /// Known vehicles that are not in the plan.
    package var others: Set<VehicleID>
    /// Nil when nothing has run.
    var groups: [VehicleSelection.Group: Set<VehicleID>]?

    package init(
        rollout: String?,
        planned: [PlannedVehicle],
        others: Set<VehicleID> = [],
        groups: [VehicleSelection.Group: Set<VehicleID>]? = nil
    ) {
        self.rollout = rollout
        self.planned = planned
        self.others = others
        self.groups = groups
    }

    private var ids: Set<VehicleID> { others.union(planned.map(\.id)) }

    /// The vehicles that people call so: by id, serial or a label's value, else by a word of one,
    /// such as the number on a plate.
    package static func vehicles(
        called name: String,
        in planned: [PlannedVehicle]
    ) -> [VehicleID] {
        let name = name.lowercased()
        func found(_ isNamed: (String) -> Bool) -> [VehicleID] {
            planned.filter { vehicle in
                isNamed(vehicle.id.text.lowercased()) || isNamed(vehicle.serial.text.lowercased())
                    || vehicle.labels.contains { isNamed($0.value.lowercased()) }
            }.map(\.id)
        }
        let exact = found { $0 == name }
        return exact.isEmpty ? found { $0.split(separator: " ").contains(name[...]) } : exact
    }

    /// The selected vehicles; empty when a pattern matches none, or the group is empty.
    package func vehicles(
        _ selection: VehicleSelection
    ) throws(CommandError) -> Set<VehicleID> {
        switch selection.form {
        case .pattern(let pattern): return Set(ids.filter(pattern.matches))
        case .group(let group):
            guard let groups else {
                throw CommandError(
                    .usage,
                    "\(selection.text.visible) means how vehicles ended, and nothing has run "
                        + (rollout.map { "of the rollout \($0.visible)" } ?? "here"),
                    hint: "give ids, patterns or LABEL=VALUE"
                )
            }
            return groups[group, default: []].intersection(ids)
        case .label(let name, let value):
            // An id may contain such a character.
            let named = VehiclePattern(selection.text).map { Set(ids.filter($0.matches)) } ?? []
            guard named.isEmpty else { return named }
            return try labelled(name, value)
        }
    }

    private func labelled(
        _ name: String,
        _ pattern: VehiclePattern
    ) throws(CommandError) -> Set<VehicleID> {
        var values: Set<String> = []
        var found: Set<VehicleID> = []
        for vehicle in planned {
            guard let value = vehicle.value(of: name) else { continue }
            values.insert(value)
            if pattern.matches(value) { found.insert(vehicle.id) }
        }
        guard values.isEmpty || found.isEmpty else { return found }
        let whose = rollout.map { " of the rollout \($0.visible)" } ?? ""
        guard !planned.isEmpty else {
            throw CommandError(
                .usage,
                "no labels are known here, so '\(name.visible)=\(pattern.text.visible)' selects no vehicle",
                hint: "labels are in a fleet list: name its manifest with --manifest, or a rollout"
            )
        }
        guard !values.isEmpty else {
            let labels = Set(planned.flatMap { $0.labels.map(\.name) })
                .union(["id", "serial", "family", "profile"])
            throw CommandError(
                .usage,
                "no vehicle\(whose) has the label \(quoted(name))",
                hint: Nearest.hint(name, among: labels)
            )
        }
        throw CommandError(
            .usage,
            "no vehicle\(whose) has \(quoted(name)) \(quoted(pattern.text))",
            hint: Nearest.hint(pattern.text, among: values)
        )
    }
}
