package import Base
package import Families

/// One action on a vehicle, with the place where it was written.
package struct Step: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// Continues only when all conditions hold.
        case require([PropertyCondition], otherwise: Otherwise)
        case update(UpdateStep)
        /// Property writes, by name.
        case set([Assignment])
        case read([String])
        /// Fails unless all conditions come true in time.
        case expect([PropertyCondition], within: Duration)
        /// Car-share commands in their order.
        case command([CarShareCommand])
        /// Features of the profile, by name.
        case feature([Assignment])
        case wait(Duration)
        /// Gives its module another secret.
        case rotate
    }

    /// The place of a name in the step, and of its value.
    package struct NamePlace: Sendable {
        package let name: Place
        package let value: Place
    }

    package let action: Action
    package let place: Place
    /// The places of the properties and features that it names.
    let places: [String: NamePlace]

    init(_ action: Action, at place: Place) {
        self.init(action, at: place, names: [:])
    }

    init(_ action: Action, at place: Place, names: [String: NamePlace]) {
        self.action = action
        self.place = place
        places = names
    }

    package static func == (left: Step, right: Step) -> Bool {
        left.action == right.action && left.place == right.place
    }
}

extension Step {
    /// A step for one of the names in a step that has several.
    package struct Part: Sendable {
        package let step: Step
        /// The places of its name and of the value.
        package let place: NamePlace
    }

    /// One step for each name in this one, so that each can be checked alone.
    package var parts: [Part] {
        switch action {
        case .require(let conditions, let otherwise):
            return conditions.map { part(.require([$0], otherwise: otherwise), $0.property) }
        case .expect(let conditions, let within):
            return conditions.map { part(.expect([$0], within: within), $0.property) }
        case .set(let assignments): return assignments.map { part(.set([$0]), $0.name) }
        case .feature(let assignments): return assignments.map { part(.feature([$0]), $0.name) }
        case .read(let names): return names.map { part(.read([$0]), $0) }
        case .update(let update):
            return [part(.update(update.with(healthy: [])), nil)]
                + update.healthy.map { part(.update(update.with(healthy: [$0])), $0.property) }
        case .command, .wait, .rotate: return [part(action, nil)]
        }
    }

    private func part(_ action: Action, _ name: String?) -> Part {
        let own = NamePlace(name: place, value: place)
        return Part(step: Step(action, at: place), place: name.flatMap { places[$0] } ?? own)
    }
}

extension UpdateStep {
    /// The same update with this image, without a choice.
    func with(image: String) -> UpdateStep { with(image: image, choice: nil, healthy: healthy) }

    fileprivate func with(healthy: [PropertyCondition]) -> UpdateStep {
        with(image: image, choice: choice, healthy: healthy)
    }

    private func with(
        image: String,
        choice: ImageChoice?,
        healthy: [PropertyCondition]
    ) -> UpdateStep {
        UpdateStep(
            image: image,
            choice: choice,
            part: part,
            via: via,
            allowsDowngrade: allowsDowngrade,
            allowsConfirmed: allowsConfirmed,
            healthy: healthy,
            judge: judge,
            within: within
        )
    }
}

extension Step {
    /// The prefix of a label's name among the required properties.
    package static let labelMark = "label."

    /// Whether it requires values of the fleet list.
    package var namesLabels: Bool { !requiredLabels.isEmpty }

    /// The labels that its preconditions name.
    var requiredLabels: [String] {
        guard case .require(let conditions, _) = action else { return [] }
        return conditions.compactMap { condition in
            guard condition.property.hasPrefix(Self.labelMark) else { return nil }
            return Label.name(condition.property.dropFirst(Self.labelMark.utf8.count))
        }
    }
}

/// What happens to a vehicle whose precondition does not hold.
package enum Otherwise: String, CaseIterable, Sendable, Hashable {
    case `defer`, skip, fail, warn
}

/// A condition on one property.
package struct PropertyCondition: Sendable, Hashable {
    package let property: String
    package let condition: Condition

    package init(_ property: String, _ condition: Condition) {
        self.property = property
        self.condition = condition
    }
}

/// A name and its new value.
package struct Assignment: Sendable, Hashable {
    package let name: String
    package let value: Literal

    package init(_ name: String, _ value: Literal) {
        self.name = name
        self.value = value
    }
}

/// An update of a module to an image.
package struct UpdateStep: Sendable, Hashable {
    /// A name in the plan's images; the first of several until one is chosen.
    package let image: String
    /// The rule that chooses the image; nil once it is chosen.
    let choice: ImageChoice?
    /// The part of the module that it replaces.
    package let part: ModulePart
    /// Images that an older module has to run first, in this order.
    package let via: [String]
    package let allowsDowngrade: Bool
    /// Whether an image may be sent that is marked as confirmed, and so would run permanently
    /// without a trial.
    package let allowsConfirmed: Bool
    /// The conditions before the new image is confirmed; may be empty.
    package let healthy: [PropertyCondition]
    /// A program and its arguments that must agree before the new image is confirmed; may be empty.
    package let judge: [String]
    /// How long `healthy` and `judge` may take to come true.
    package let within: Duration

    /// All images that may be sent, in their order.
    package var images: [String] { via + (choice.map { $0.images.sorted() } ?? [image]) }

    package init(
        image: String,
        part: ModulePart = .secondary,
        via: [String] = [],
        allowsDowngrade: Bool,
        allowsConfirmed: Bool = false,
        healthy: [PropertyCondition],
        judge: [String] = [],
        within: Duration
    ) {
        self.init(
            image: image,
            choice: nil,
            part: part,
            via: via,
            allowsDowngrade: allowsDowngrade,
            allowsConfirmed: allowsConfirmed,
            healthy: healthy,
            judge: judge,
            within: within
        )
    }

    init(
        image: String,
        choice: ImageChoice?,
        part: ModulePart,
        via: [String],
        allowsDowngrade: Bool,
        allowsConfirmed: Bool,
        healthy: [PropertyCondition],
        judge: [String],
        within: Duration
    ) {
        self.image = image
        self.choice = choice
        self.part = part
        self.via = via
        self.allowsDowngrade = allowsDowngrade
        self.allowsConfirmed = allowsConfirmed
        self.healthy = healthy
        self.judge = judge
        self.within = within
    }
}
