import Base
import Families
package import Manifest
package import Radio
package import Store

/// Turns the steps of a plan into steps that are ready to be done on one vehicle.
///
/// Names and values are checked against the vehicle's profile here, long before any radio work.
package struct StepBuilder: Sendable {
    private let profiles: ProfileLibrary

    package init(_ profiles: ProfileLibrary = .shipped) { self.profiles = profiles }

    /// The profile of a vehicle, or what is wrong with its name.
    package func profile(of vehicle: PlannedVehicle) throws(StepMistake) -> Profile {
        if let profile = profiles.profile(vehicle.profile, of: vehicle.family) { return profile }
        let known = profiles.names(of: vehicle.family)
        throw StepMistake(
            "family `\(vehicle.family.rawValue)` has no profile \(quoted(vehicle.profile))",
            hint: Nearest.hint(vehicle.profile, among: known)
        )
    }

    /// The step for a vehicle; `update` makes the job of an update.
    package func job(
        _ step: Step,
        for vehicle: PlannedVehicle,
        update: (Manifest.UpdateStep, Profile) throws(StepMistake) -> UpdateJob
    ) throws(StepMistake) -> JobStep {
        let profile = try profile(of: vehicle)
        switch step.action {
        case .require(let conditions, let otherwise):
            return .require(
                try preconditions(conditions, vehicle, profile),
                otherwise: otherwise
            )
        case .expect(let conditions, let within):
            return .expect(try tests(conditions, profile), within: within)
        case .read(let names):
            do throws(PropertyMistake) {
                for name in names { try profile.checkReadable(name) }
            } catch { throw StepMistake(error) }
            return .read(names)
        case .set(let assignments):
            var orders: [PropertyOrder] = []
            do throws(PropertyMistake) {
                for assignment in assignments {
                    let (name, text) = (assignment.name, assignment.value.text)
                    orders.append(PropertyOrder(name, try profile.value(of: text, for: name)))
                }
            } catch { throw StepMistake(error) }
            return .set(orders)
        case .feature(let assignments):
            var orders: [FeatureOrder] = []
            for assignment in assignments { orders.append(try feature(assignment, profile)) }
            return .feature(orders)
        case .command(let words): return .command(try commands(words, vehicle))
        case .wait(let duration): return .wait(duration)
        case .rotate:
            try checkSecret(of: vehicle)
            return .rotate
        case .update(let step): return .update(try update(step, profile))
        }
    }

    private func commands(
        _ words: [CarShareCommand],
        _ vehicle: PlannedVehicle
    ) throws(StepMistake) -> CarShareCommands {
        let isIssued = vehicle.issuer != nil && vehicle.goSerial != nil
        guard FamilyRegistry.takesToken(vehicle.family) || vehicle.token != nil || isIssued else {
            throw StepMistake(
                "vehicle \(vehicle.id), and perhaps others, has no GO device to take commands",
                hint: "give it a `token`, or leave the step to vehicles that have one"
            )
        }
        if let all = CarShareCommands(words) { return all }
        throw StepMistake("the step names no command", hint: "name one, such as `lock`")
    }

    /// Checks that the secret of the vehicle's module can be changed.
    private func checkSecret(of vehicle: PlannedVehicle) throws(StepMistake) {
        guard FamilyRegistry.secrets(of: vehicle.family) != nil else {
            throw StepMistake(
                "modules of family `\(vehicle.family.rawValue)` have no secret that can be changed",
                hint: "leave the step to vehicles whose modules have one"
            )
        }
        guard vehicle.keepsSecretInFile else {
            throw StepMistake(
                "the secret of vehicle \(vehicle.id), and perhaps of others, is not kept in a file",
                hint: "a new one is written beside the old one: write it as in file:keys/ID.key"
            )
        }
    }

    /// Builds preconditions; a name is first looked up as a property of the profile, then as a word
    /// that every vehicle has.
    private func preconditions(
        _ conditions: [PropertyCondition],
        _ vehicle: PlannedVehicle,
        _ profile: Profile
    ) throws(StepMistake) -> [Precondition] {
        var list: [Precondition] = []
        for entry in conditions {
            let name = entry.property
            if profile.property(name) == nil, name.hasPrefix(Step.labelMark) {
                let label = String(name.dropFirst(Step.labelMark.utf8.count))
                list.append(.label(label, value: vehicle.value(of: label), entry.condition))
            } else if profile.property(name) == nil, name == Precondition.signalName {
                list.append(.signal(try signal(entry.condition, vehicle)))
            } else {
                list += try tests([entry], profile).map(Precondition.property)
            }
        }
        // Stable: preconditions of equal cost keep their order.
        return list.enumerated().sorted {
            ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
        }.map(\.element)
    }

    /// The first problem that is known before any radio work, and what follows from it.
    package func problemAhead(
        of vehicle: PlannedVehicle
    ) -> (problem: Problem, otherwise: Otherwise)? {
        guard vehicle.steps.contains(where: \.namesLabels),
            let profile = try? profile(of: vehicle)
        else { return nil }
        var steps: [JobStep] = []
        for step in vehicle.steps {
            guard case .require(let conditions, let otherwise) = step.action,
                let list = try? preconditions(conditions, vehicle, profile)
            else { break }
            steps.append(.require(list, otherwise: otherwise))
        }
        return steps.problemAhead
    }

    private func signal(
        _ condition: Condition,
        _ vehicle: PlannedVehicle
    ) throws(StepMistake) -> Condition {
        guard !FamilyRegistry.takesToken(vehicle.family) else {
            throw StepMistake(
                "vehicle \(vehicle.id), and perhaps others, comes to us and is never listened for",
                hint: "leave `signal` to vehicles that have another module"
            )
        }
        guard let number = condition.operand.number, (-127...20).contains(number) else {
            throw StepMistake(
                "\(quoted(condition.operand.text)) is no signal",
                hint: "write dBm without the unit, such as \">= -82\"",
                concernsValue: true
            )
        }
        return condition
    }

    package func tests(
        _ conditions: [PropertyCondition],
        _ profile: Profile
    ) throws(StepMistake) -> [PropertyTest] {
        var tests: [PropertyTest] = []
        for condition in conditions {
            guard let comparison = Comparison(rawValue: condition.condition.comparison.rawValue)
            else { continue }
            do throws(PropertyMistake) {
                tests.append(
                    try profile.test(
                        condition.property,
                        comparison,
                        condition.condition.operand.text
                    )
                )
            } catch { throw StepMistake(error) }
        }
        return tests
    }

    private func feature(
        _ assignment: Assignment,
        _ profile: Profile
    ) throws(StepMistake) -> FeatureOrder {
        guard let spec = profile.feature(assignment.name) else {
            let known = profile.features.map(\.name)
            throw StepMistake(
                "the profile \(profile.family.rawValue)/\(profile.name) has no feature "
                    + quoted(assignment.name),
                hint: known.isEmpty
                    ? "its modules have none" : Nearest.hint(assignment.name, among: known)
            )
        }
        do throws(PropertyMistake) {
            return try FeatureOrder(spec, assignment.value.text)
        } catch { throw StepMistake(error) }
    }
}

/// Why a step makes no sense on a vehicle.
package struct StepMistake: Error, Sendable, Hashable {
    package let message: String
    package let hint: String
    /// Whether the name is right and its value is wrong.
    let concernsValue: Bool

    package init(_ message: String, hint: String, concernsValue: Bool = false) {
        self.message = message
        self.hint = hint
        self.concernsValue = concernsValue
    }

    init(_ mistake: PropertyMistake) {
        self.init(mistake.message, hint: mistake.hint, concernsValue: mistake.concernsValue)
    }
}
