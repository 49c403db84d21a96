import Base

/// The choice of an image for a vehicle by a value of its row.
struct ImageChoice: Sendable, Hashable {
    /// An image, and the place where it is named.
    struct Option: Sendable, Hashable {
        let image: String
        let place: Place
    }

    /// `family`, `model`, or the name of a column.
    let column: String
    /// The images, by the vehicle's value.
    let options: [String: Option]

    var images: Set<String> { Set(options.values.map(\.image)) }
}

extension FleetReader.Vehicle {
    /// The value that decides about its image; nil where its row has no such column.
    fileprivate func value(of column: String) -> String? {
        switch column {
        case "family": family.rawValue
        case "model": profile
        default: labels.first { $0.name == column }?.value
        }
    }
}

/// Gives each vehicle its steps with the images chosen for it.
struct ImageChooser {
    private struct Gap {
        let column: String
        let value: String?
        var vehicles = 0
        let first: VehicleID
    }

    /// The manifest's steps, created once for all vehicles with the same values.
    private var made: [[String?]: [Step]] = [:]
    private var gaps: [Place: [String: Gap]] = [:]
    private var order: [Place] = []

    /// `areShared` is true when the steps are the manifest's, and not the vehicle's own.
    mutating func steps(
        _ steps: [Step],
        for vehicle: FleetReader.Vehicle,
        areShared: Bool
    ) -> [Step] {
        let choices = steps.compactMap { $0.update?.choice }
        guard !choices.isEmpty else { return steps }
        let values = choices.map { vehicle.value(of: $0.column) }
        if areShared, let known = made[values] { return known }
        var isWhole = true
        let chosen = steps.map { step -> Step in
            guard let choice = step.update?.choice else { return step }
            let value = vehicle.value(of: choice.column)
            guard let option = value.flatMap({ choice.options[$0] }) else {
                isWhole = false
                note(vehicle.id, choice.column, value, at: step.place)
                return step
            }
            return step.updating(to: option)
        }
        if areShared, isWhole { made[values] = chosen }
        return chosen
    }

    private mutating func note(
        _ vehicle: VehicleID,
        _ column: String,
        _ value: String?,
        at place: Place
    ) {
        if gaps[place] == nil { order.append(place) }
        let gap = Gap(column: column, value: value, first: vehicle)
        gaps[place, default: [:]][value ?? "", default: gap].vehicles += 1
    }

    /// Reports the vehicles for which no image is named.
    func report(_ diagnostics: Diagnostics) {
        for place in order {
            for (_, gap) in (gaps[place] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let who =
                    gap.vehicles == 1
                    ? "\(gap.first)" : "\(gap.vehicles) vehicles, \(gap.first) the first of them,"
                let has = gap.vehicles == 1 ? "has" : "have"
                guard let value = gap.value else {
                    diagnostics.error(
                        place,
                        "\(who) \(has) no `\(gap.column)`, which chooses the image",
                        hint: "add the column to the fleet list, or choose by `family` or `model`"
                    )
                    continue
                }
                diagnostics.error(
                    place,
                    "no image is named for \(gap.column) \(quoted(value)), which \(who) \(has)",
                    hint: "add it under `to`, or give them steps of their own"
                )
            }
        }
    }
}

extension Step {
    fileprivate func updating(to option: ImageChoice.Option) -> Step {
        guard let update else { return self }
        return Step(.update(update.with(image: option.image)), at: option.place, names: places)
    }
}
