import Base
import Families

/// Checks that need steps, images and vehicles together.
struct PlanCheck {
    let diagnostics: Diagnostics
    let images: [PlannedImage]

    static func imageNames(_ steps: some Sequence<Step>) -> Set<String> {
        Set(steps.flatMap { $0.update?.images ?? [] })
    }

    /// Warns about images that no step uses: they would not be downloaded.
    func images(used vehicles: [PlannedVehicle], common: [Step]?) {
        var used = Self.imageNames(common ?? [])
        for vehicle in vehicles { used.formUnion(Self.imageNames(vehicle.steps)) }
        for image in images where !used.contains(image.name) {
            diagnostics.warning(
                image.place,
                "no step uses the image \(quoted(image.name))",
                hint: "add `update: {to: \(image.name)}` to the steps, or remove the image"
            )
        }
    }

    /// Checks that the repositories which images name exist, and that each is used.
    func repositories(_ trust: TrustPolicy) {
        var needed: Set<String> = []
        for image in images {
            guard case .repository(let name, _) = image.trust else { continue }
            needed.insert(name)
            guard !trust.repositories.contains(where: { $0.name == name }) else { continue }
            diagnostics.error(
                image.place,
                "there is no repository \(quoted(name)) under `trust`",
                hint: "add it there, with its `root` and its `metadata`"
            )
        }
        for repository in trust.repositories where !needed.contains(repository.name) {
            diagnostics.warning(
                repository.place,
                "no image refers to the repository \(quoted(repository.name))",
                hint: "add `tuf: {repository: \(repository.name), target: …}` to an image"
            )
        }
    }

    /// Warns once about vehicles that are opened over links without a bond by passkey.
    ///
    /// Anybody nearby could connect in the place of such a vehicle, and pass the signed command on to it.
    func bonds(of vehicles: [PlannedVehicle], always: [Step]) {
        let open = vehicles.filter { $0.isOpenedUnproven(always) }
        guard let first = open.first else { return }
        let rest = open.count == 1 ? "" : " and \(open.count - 1) more are"
        let isAlone = FamilyRegistry.takesToken(first.family)
        diagnostics.warning(
            first.place,
            "the vehicle \(quoted(first.id.text))\(rest.isEmpty ? " is" : rest) opened over a link "
                + "without a bond: anybody nearby can pass the signed command on to it",
            hint: isAlone
                ? "give it `pairing: passkey` and its six digits, where its device can pair"
                : "a GO device can pair in a row of its own, with `pairing: passkey`"
        )
    }

    /// Reports labels that neither a column of the list nor a vehicle has.
    ///
    /// A vehicle that lacks a label fulfils `!= yes`: a misspelled one would let everything pass.
    func labels(of vehicles: [PlannedVehicle], known labels: Set<String>) {
        let known = labels.union(["id", "serial", "family", "profile"])
        var told: Set<Place> = []
        for step in vehicles.flatMap(\.steps) {
            for label in step.requiredLabels where !known.contains(label) {
                guard told.insert(step.place).inserted else { continue }
                diagnostics.error(
                    step.place,
                    "no vehicle here has the label \(quoted(label))",
                    hint: Nearest.hint(label, among: known)
                )
            }
        }
    }

    /// Reports an update whose image fits none of its vehicles as an error.
    ///
    /// If it fits some of them, the others will end as `rejected`, and there is only a warning.
    func families(_ vehicles: [PlannedVehicle], common: [Step]?) {
        var wrong: [Place: (step: Step, image: PlannedImage, misfits: Int, total: Int)] = [:]
        var order: [Place] = []
        let byName = Dictionary(
            images.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for vehicle in vehicles {
            for step in vehicle.steps {
                let names = step.update?.images ?? []
                let images = names.compactMap { byName[$0] }
                // An intermediate image that does not fit is as bad as a final one.
                guard
                    let image = images.first(where: { $0.fits.family != vehicle.family })
                        ?? images.last
                else { continue }
                if wrong[step.place] == nil { order.append(step.place) }
                let misfit = image.fits.family == vehicle.family ? 0 : 1
                wrong[step.place, default: (step, image, 0, 0)].misfits += misfit
                wrong[step.place]?.total += 1
            }
        }
        for place in order {
            guard let count = wrong[place], count.misfits > 0 else { continue }
            let name = quoted(count.image.name)
            let family = count.image.fits.family.rawValue
            if count.misfits == count.total {
                diagnostics.error(
                    place,
                    "the image \(name) fits \(family) modules and no vehicle here has one",
                    hint: "choose an image for their family, or change `fits`"
                )
            } else {
                diagnostics.warning(
                    place,
                    "\(count.misfits) of \(count.total) vehicles have no \(family) module "
                        + "and will reject the image \(name)",
                    hint: "select by `family`, or give them steps of their own"
                )
            }
        }
    }
}

extension PlannedVehicle {
    /// Whether it gets a command that opens it from a host that cannot know who takes it.
    func isOpenedUnproven(_ always: [Step]) -> Bool {
        let isBonded = bond.pairing == .passkey || bond.passkey != nil
        let isProven = isBonded && FamilyRegistry.takesToken(family)
        guard !isProven else { return false }
        return (steps + always).contains { step in
            if case .command(let commands) = step.action {
                commands.contains { $0.opens }
            } else {
                false
            }
        }
    }
}

extension Step {
    /// The update of this step; nil if it is another action.
    package var update: UpdateStep? {
        guard case .update(let update) = action else { return nil }
        return update
    }
}
