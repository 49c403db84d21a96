package import Base
import Families
package import Manifest
package import Radio
package import Store

/// Turns a frozen plan into jobs, with images and secrets in place of their names.
package struct JobBuilder: Sendable {
    private let plan: FrozenPlan
    private let steps: StepBuilder

    package init(_ plan: FrozenPlan, profiles: ProfileLibrary = .shipped) {
        self.plan = plan
        steps = StepBuilder(profiles)
    }

    /// Mistakes of the plan that only show with the vehicles' profiles: unknown properties,
    /// impossible values, commands for vehicles that take none.
    package var mistakes: [Diagnostic] {
        struct Seen: Hashable {
            let place: Place
            let hint: String
        }
        var list: [Diagnostic] = []
        var seen: Set<Seen> = []
        func note(_ place: Place, _ mistake: StepMistake) {
            // The same mistake may concern hundreds of vehicles: it is reported once.
            guard seen.insert(Seen(place: place, hint: mistake.hint)).inserted else { return }
            list.append(Diagnostic(.error, place, mistake.message, hint: mistake.hint))
        }
        for vehicle in plan.vehicles {
            do throws(StepMistake) {
                let profile = try steps.profile(of: vehicle)
                try checkBond(of: vehicle, profile)
                try checkTimes(of: profile)
                if let mistake = mistake(inSerialOf: vehicle, profile) {
                    note(vehicle.serialPlace, mistake)
                }
            } catch {
                note(vehicle.place, error)
                continue
            }
            for part in (vehicle.steps + plan.always).flatMap(\.parts) {
                do throws(StepMistake) {
                    _ = try steps.job(part.step, for: vehicle) {
                        (update, profile) throws(StepMistake) -> UpdateJob in
                        try self.update(update, profile, [:])
                    }
                } catch { note(error.concernsValue ? part.place.value : part.place.name, error) }
            }
        }
        return list.inOrder(main: plan.place.file)
    }

    /// The mistake in a serial that no module of the profile can have; nil when it is possible.
    private func mistake(inSerialOf vehicle: PlannedVehicle, _ profile: Profile) -> StepMistake? {
        let serial = vehicle.serial
        guard let form = profile.advertisement, !form.canBe(serial),
            let digits = form.serialDigits
        else { return nil }
        let count = serial.text.utf8.count
        // Only a number has lost its zeros, and only in a list beside the manifest.
        if count < digits, SpreadsheetNumber.isDigits(serial.text.utf8),
            vehicle.serialPlace.file != plan.place.file
        {
            return StepMistake(SpreadsheetNumber.sentence, hint: SpreadsheetNumber.remedy)
        }
        // A serial that is too long is not shown: it may be a key in the wrong column.
        let shown = count > digits ? "" : " \(quoted(serial.text))"
        return StepMistake(
            "the serial\(shown) is not one of the profile \(profile.family.rawValue)/"
                + profile.name,
            hint: "its serials have \(digits) hex digits; here stand \(count) characters"
        )
    }

    /// The plan's limits and times for a run; nil when they allow no update to settle.
    package var rules: RolloutRules? {
        let settle = SettleRules(
            quiet: plan.settle.quiet,
            confirmGap: plan.settle.confirmGap,
            total: plan.settle.deadline
        )
        return settle.map { settle in
            var rules = RolloutRules(settle: settle)
            rules.transientRetries = plan.rollout.retry.transient
            rules.deviceRetries = plan.rollout.retry.device
            rules.retryPause = plan.rollout.retry.pause
            rules.longestRetryPause = plan.rollout.retry.longestPause
            rules.retryBudget = RetryBudget(plan.rollout.retry.budget)
            rules.fruitlessTransfers = plan.rollout.retry.fruitless
            rules.seekTimeout = plan.connect.timeout
            rules.seekAttempts = plan.connect.attempts
            return rules
        }
    }

    /// The jobs; `images` has every image of the plan by name, `access` what opens each vehicle.
    package func jobs(
        images: [String: [FirmwarePart]],
        access: [VehicleID: VehicleAccess]
    ) -> [VehicleJob] {
        plan.vehicles.compactMap { vehicle in
            guard let access = access[vehicle.id],
                let profile = try? steps.profile(of: vehicle)
            else { return nil }
            var made = VehicleJob(
                vehicle: vehicle.id,
                serial: vehicle.serial,
                driver: access.module.driver(profile),
                carShare: access.carShare?.speaking(by: profile),
                secret: access.secrets.map { ModuleSecretChange($0, profile) },
                challenge: vehicle.secret == nil && profile.defaultKey == nil
                    ? nil : ModuleChallenge(profile),
                bond: Self.bond(of: vehicle, profile, access.passkey),
                times: times(of: profile),
                steps: vehicle.steps.compactMap { job($0, vehicle, images) },
                always: plan.always.compactMap { job($0, vehicle, images) }
            )
            made.exchanged = vehicle.exchanged.map { Closing(.deferred, .rejected, $0) }
            return made
        }
    }

    // MARK: Times

    /// The profile's times, except those that the manifest changes from their usual values.
    private func times(of profile: Profile) -> ProfileTimes {
        var times = profile.times
        let usual = SettleSettings.usual
        if plan.settle.quiet != usual.quiet { times.quiet = nil }
        if plan.settle.confirmGap != usual.confirmGap { times.confirmGap = nil }
        if plan.settle.deadline != usual.deadline { times.deadline = nil }
        return times
    }

    private func checkTimes(of profile: Profile) throws(StepMistake) {
        guard let rules, times(of: profile).applied(to: rules.limits) == nil else { return }
        throw StepMistake(
            "an update can never settle by the times of the manifest and of the profile "
                + "\(profile.family.rawValue)/\(profile.name) together",
            hint: "make `deadline` longer than `quiet` and `confirm-gap` together"
        )
    }

    // MARK: Bonds

    private func checkBond(
        of vehicle: PlannedVehicle,
        _ profile: Profile
    ) throws(StepMistake) {
        guard vehicle.bond.pairing == nil, vehicle.bond.passkey == nil,
            profile.pairing == .passkey
        else { return }
        throw StepMistake(
            "modules of the profile \(profile.name) are paired with by passkey, and the vehicle "
                + "has none",
            hint: "name where its six digits are kept in its `passkey` column"
        )
    }

    /// How the program pairs with a vehicle's module, and whether it may renew the bond.
    package static func bond(
        of vehicle: PlannedVehicle,
        _ profile: Profile,
        _ passkey: Passkey?
    ) -> BondPolicy {
        // A vehicle with a passkey uses it, unless it names another kind of pairing.
        let kind = vehicle.bond.pairing ?? (passkey == nil ? profile.pairing : .passkey)
        let pairing: Pairing =
            switch kind {
            case .none: .none
            case .justWorks: .justWorks
            case .passkey: passkey.map { .passkey($0) } ?? .none
            }
        return BondPolicy(pairing, mayRenew: vehicle.bond.mayRenew)
    }

    /// The conditions of the update that a debt is of, when the plan has it under those.
    package func terms(of debt: Debt) -> UpdateTerms? {
        guard let vehicle = plan.vehicles.first(where: { $0.serial == debt.serial }) else {
            return nil
        }
        let steps = vehicle.steps.compactMap { job($0, vehicle, [:]) }
        guard let (place, update) = steps.update(of: debt.image) else { return nil }
        let terms = steps.terms(of: update, at: place)
        return terms.digest == debt.terms ? terms : nil
    }

    /// Parses a step in the syntax of orders, ready to be done on a vehicle of the plan.
    package func step(_ text: String, for vehicle: VehicleID) -> JobStep? {
        guard let planned = plan.vehicles.first(where: { $0.id == vehicle }),
            let steps = OrderText.steps(text, images: [], Diagnostics()), steps.count == 1
        else { return nil }
        return job(steps[0], planned, [:])
    }

    /// Nil for a step that `mistakes` has refused.
    private func job(
        _ step: Step,
        _ vehicle: PlannedVehicle,
        _ images: [String: [FirmwarePart]]
    ) -> JobStep? {
        try? steps.job(step, for: vehicle) {
            (update, profile) throws(StepMistake) -> UpdateJob in
            try self.update(update, profile, images)
        }
    }

    private func update(
        _ update: Manifest.UpdateStep,
        _ profile: Profile,
        _ images: [String: [FirmwarePart]]
    ) throws(StepMistake) -> UpdateJob {
        func named(_ name: String) throws(StepMistake) -> PlannedImage {
            guard let image = plan.image(named: name) else {
                throw StepMistake("no image is named \(name)", hint: "add it under `images`")
            }
            return image
        }
        let waypoints = try update.via.map { (name) throws(StepMistake) in
            UpdateJob(try named(name), for: update.part, parts: images[name] ?? [])
        }
        return UpdateJob(
            try named(update.image),
            for: update.part,
            allowsDowngrade: update.allowsDowngrade,
            parts: images[update.image] ?? [],
            healthy: try steps.tests(update.healthy, profile),
            judge: update.judge,
            healthyWithin: update.within,
            waypoints: waypoints
        )
    }
}

extension UpdateJob {
    fileprivate init(
        _ image: PlannedImage,
        for target: ModulePart,
        allowsDowngrade: Bool = false,
        parts: [FirmwarePart],
        healthy: [PropertyTest] = [],
        judge: [String] = [],
        healthyWithin: Duration = .seconds(120),
        waypoints: [UpdateJob] = []
    ) {
        self.init(
            name: image.name,
            digest: image.digest,
            version: image.version,
            family: image.fits.family,
            target: target,
            type: image.fits.type.map(Int.init),
            variant: image.fits.variant.map(Int.init),
            allowsDowngrade: allowsDowngrade,
            predecessor: image.predecessor,
            parts: parts,
            healthy: healthy,
            judge: judge,
            healthyWithin: healthyWithin,
            waypoints: waypoints
        )
    }
}
