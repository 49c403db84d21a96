import Base

/// Selects part of a fleet: a vehicle must have one of the given values of every given label.
struct Selection {
    fileprivate struct Rule {
        let label: String
        let labelPlace: Place
        let values: [(text: String, place: Place)]

        /// Normalises a value: serials are compared without regard to case.
        func normal(_ text: String) -> String {
            label == "serial" ? Serial(text)?.text ?? text : text
        }
    }

    private let rules: [Rule]
    private let place: Place
    /// False after an error in the selection, whose result is then meaningless.
    private let isSound: Bool

    /// Reads `select: {label: value or list}`.
    init(_ node: SourceNode, _ diagnostics: Diagnostics) {
        place = node.place
        let errors = diagnostics.errorCount
        let entries = node.entries(diagnostics, of: "a map of labels to values") ?? []
        rules = entries.filter { !$0.key.hasPrefix("x-") }.map { entry in
            let nodes: [SourceNode]
            if case .list(let items) = entry.value.value {
                nodes = items
                if items.isEmpty {
                    diagnostics.error(
                        entry.value.place,
                        "the list is empty",
                        hint: "name at least one value, or remove the label"
                    )
                }
            } else {
                nodes = [entry.value]
            }
            let values = nodes.compactMap { node in
                node.text(diagnostics, "a label's value").map { (text: $0, place: node.place) }
            }
            return Rule(label: Label.name(entry.key), labelPlace: entry.keyPlace, values: values)
        }
        isSound = diagnostics.errorCount == errors
    }

    /// The selected vehicles; an unknown label, or an empty result, is an error.
    func apply(
        _ vehicles: [FleetReader.Vehicle],
        _ diagnostics: Diagnostics
    ) -> [FleetReader.Vehicle] {
        guard isSound else { return vehicles }
        let errors = diagnostics.errorCount
        for rule in rules { check(rule, vehicles, diagnostics) }
        let wanted = rules.map { rule in
            (label: rule.label, values: Set(rule.values.map { rule.normal($0.text) }))
        }
        let selected = vehicles.filter { vehicle in
            wanted.allSatisfy { rule in
                vehicle.value(of: rule.label).map(rule.values.contains) ?? false
            }
        }
        if selected.isEmpty, diagnostics.errorCount == errors {
            diagnostics.error(
                place,
                "no vehicle is selected: none has all of these labels",
                hint: "leave out one of the labels"
            )
        }
        return selected
    }

    private func check(
        _ rule: Rule,
        _ vehicles: [FleetReader.Vehicle],
        _ diagnostics: Diagnostics
    ) {
        let present = Set(vehicles.compactMap { $0.value(of: rule.label) })
        guard !present.isEmpty else {
            let labels = Set(vehicles.flatMap { $0.labels.map(\.name) })
                .union(["id", "serial", "family", "profile"])
            diagnostics.error(
                rule.labelPlace,
                "no vehicle has the label \(quoted(rule.label))",
                hint: Nearest.hint(rule.label, among: labels)
            )
            return
        }
        let unknown = rule.values.filter { value in
            !present.contains(rule.normal(value.text))
        }
        for value in unknown {
            let message = "no vehicle has \(quoted(rule.label)) \(quoted(value.text))"
            let near = Nearest.match(value.text, among: present)
            // A long list of ids is no help as a hint; a list of a few depots is.
            let hint =
                near == nil && present.count > 20
                ? "check its spelling" : Nearest.hint(value.text, among: present)
            // One wrong value among valid ones still selects vehicles; if all are wrong, nothing is
            // selected, which is an error.
            if unknown.count == rule.values.count {
                diagnostics.error(value.place, message, hint: hint)
            } else {
                diagnostics.warning(value.place, message, hint: hint)
            }
        }
    }
}

extension FleetReader.Vehicle {
    /// A label's value; the vehicle's own columns count as labels too.
    fileprivate func value(of label: String) -> String? {
        switch label {
        case "id": id.text
        case "serial": serial.text
        case "family": family.rawValue
        case "profile": profile
        default: labels.first { $0.name == label }?.value
        }
    }
}

extension PlannedVehicle {
    /// A label's value; the vehicle's own columns count as labels too.
    package func value(of label: String) -> String? {
        let label = Label.name(label)
        return switch label {
        case "id": id.text
        case "serial": serial.text
        case "family": family.rawValue
        case "profile": profile
        default: labels.first { $0.name == label }?.value
        }
    }
}
