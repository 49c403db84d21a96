package import Base
import Families
package import Radio
package import Store

/// A module that is to be enrolled or taken out of service.
package struct EnrolTarget: Sendable {
    let vehicle: VehicleID
    let serial: Serial
    let profile: Profile
    let bond: BondPolicy

    package init(vehicle: VehicleID, serial: Serial, profile: Profile, bond: BondPolicy) {
        self.vehicle = vehicle
        self.serial = serial
        self.profile = profile
        self.bond = bond
    }
}

/// Enrols a module so that it is never locked out: every secret that the module could have is on
/// disk before the module could have it, and stays there until another one was proven on a new
/// link.
///
/// After an interruption at any point, it is continued with the facts in the files and in the
/// module; repeating it changes nothing.
package struct Enroller: Sendable {
    /// The number of links that may be lost before it gives up for now.
    private static let patience = 8
    /// A module may keep a new secret in memory first, and write it to flash some time later.
    private static let settling = Duration.seconds(5)

    private let target: EnrolTarget
    private let keeper: any EnrolmentKeeper
    private let central: any Central
    private let time: any Timekeeper
    private let search: Duration
    private let chance: @Sendable () -> UInt64
    private let isStopped: @Sendable () -> Bool

    package init(
        _ target: EnrolTarget,
        keeper: any EnrolmentKeeper,
        central: any Central,
        time: any Timekeeper,
        searchingFor search: Duration,
        chance: @escaping @Sendable () -> UInt64,
        unless isStopped: @escaping @Sendable () -> Bool
    ) {
        self.target = target
        self.keeper = keeper
        self.central = central
        self.time = time
        self.search = search
        self.chance = chance
        self.isStopped = isStopped
    }

    // MARK: Into service

    /// Returns the module's report at the end; a secret that was proven is changed only with
    /// `rotating`.
    package func enrol(rotating: Bool) async throws(EnrolFault) -> InventoryRecord {
        try await keeper.note(.begun)
        if let secrets = FamilyRegistry.secrets(of: target.profile.family) {
            try await settle(secrets, rotating: rotating)
            await time.sleep(for: Self.settling, "the module to keep its secret")
        }
        let record = try await check()
        try await keeper.list(true)
        try await keeper.note(.enrolled)
        return record
    }

    /// Works until the current secret is proven and is not the maker's.
    private func settle(
        _ secrets: any ModuleSecrets,
        rotating: Bool
    ) async throws(EnrolFault) {
        let vehicle = link()
        let count = target.profile.wrongAnswers.rotation
        var progress = Progress(
            mustRotate: rotating,
            interrogation: Interrogation(wrongAnswers: count)
        )
        var last: ModuleError?
        var silences = 0
        for _ in 0..<Self.patience {
            do throws(ModuleError) {
                if try await settles(vehicle, &progress, secrets) { return }
                last = nil
            } catch {
                last = error
                if error == .radio(.timedOut) { silences += 1 }
                guard mayPass(error), silences < 2 else { throw fault(error) }
            }
        }
        throw fault(last ?? .radio(.timedOut))
    }

    /// What this process knows of the change.
    private struct Progress {
        /// Whether the module is still to be given another secret.
        var mustRotate: Bool
        /// The right and wrong answers that are left before the module counts as itself.
        var interrogation: Interrogation
    }

    /// One step of the change, on one link; true when the current secret is settled.
    private func settles(
        _ vehicle: VehicleLink,
        _ progress: inout Progress,
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) -> Bool {
        let known = try await known()
        guard let opened = try await open(vehicle, known, secrets) else {
            throw ModuleError.value(
                known.isEmpty
                    ? "nothing says which secret it has"
                    : "it has none of the \(known.count) known secrets"
            )
        }
        let slot = opened.slot
        // A change that was begun is completed first.
        let isSettled = slot == .current && !progress.mustRotate && known[.pending] == nil
        if isSettled {
            await vehicle.leave()
            return true
        }
        // A new module is at hand; one in service may have been replaced.
        if !progress.interrogation.isOver, known[.current] != nil,
            let secret = slot.flatMap({ known[$0] })
        {
            await vehicle.leave()
            try await interrogate(vehicle, secret, &progress.interrogation, secrets)
            return false
        }
        if slot == .pending {
            await vehicle.leave()
            try await expectRefusal(of: known, vehicle, secrets)
            do throws(EnrolFault) { try await keeper.commit() } catch {
                throw ModuleError.value(error.sentence)
            }
            return true
        }
        do throws(ModuleError) {
            try await change(opened, known, isNew: progress.mustRotate, secrets)
        } catch {
            await vehicle.leave()
            throw error
        }
        await vehicle.leave()
        // The next round proves it.
        progress.mustRotate = false
        return false
    }

    private func change(
        _ opened: Opened,
        _ known: [SecretSlot: Secret],
        isNew: Bool,
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) {
        let slot = opened.slot
        // A pending secret is written again: the module may already have it.
        let fixed = known[.pending] ?? (slot == .current || isNew ? nil : known[.current])
        try await secrets.change(
            from: slot.flatMap { known[$0] },
            to: fixed,
            on: opened.link,
            target.profile,
            time,
            chance: chance
        ) { secret in
            do throws(EnrolFault) {
                try await keeper.keepPending(secret)
                return true
            } catch { return false }
        }
    }

    /// Finds out whether the other side has the secret, or accepts whatever it is told.
    private func interrogate(
        _ vehicle: VehicleLink,
        _ secret: Secret,
        _ interrogation: inout Interrogation,
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) {
        try await vehicle.interrogate(
            &interrogation,
            chance: chance,
            reach: { () async throws(ModuleError) in try await connect(vehicle) },
            right: { (link) async throws(ModuleError) in
                try await secrets.proves(secret, on: link, target.profile, time, chance: chance)
            },
            wrong: { (link) async throws(ModuleError) in
                try await secrets.answersWrongly(on: link, target.profile, time, chance: chance)
            }
        )
    }

    /// A new secret counts only when the module refuses the one before.
    private func expectRefusal(
        of known: [SecretSlot: Secret],
        _ vehicle: VehicleLink,
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) {
        guard target.profile.wrongAnswers.rotation > 0,
            let old = known[.current] ?? known[.maker], old != known[.pending]
        else { return }
        try await vehicle.expectsRefusal(
            reach: { () async throws(ModuleError) in try await connect(vehicle) },
            of: { (link) async throws(ModuleError) in
                try await secrets.proves(old, on: link, target.profile, time, chance: chance)
            }
        )
    }

    private func link() -> VehicleLink {
        VehicleLink(to: target.serial, central, time, bond: target.bond)
    }

    private func known() async throws(ModuleError) -> [SecretSlot: Secret] {
        do throws(EnrolFault) { return try await keeper.secrets() } catch {
            throw .value(error.sentence)
        }
    }

    private struct Opened {
        /// The link on which secrets are proven and changed.
        let link: any Link
        /// Nil when no secret is known and the module requires none.
        let slot: SecretSlot?
    }

    /// Makes a link on which one of the secrets is proven; the most likely secret is tried first.
    private func open(
        _ vehicle: VehicleLink,
        _ known: [SecretSlot: Secret],
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) -> Opened? {
        var tried: [Secret] = []
        for slot in SecretSlot.allCases {
            guard let secret = known[slot], !tried.contains(secret) else { continue }
            tried.append(secret)
            if let link = try await link(vehicle, provenBy: secret, secrets) {
                return Opened(link: link, slot: slot)
            }
        }
        guard !secrets.needsTheOld else { return nil }
        return Opened(link: try await connect(vehicle), slot: nil)
    }

    /// Nil when the module does not accept the secret, as far as that can be known.
    private func link(
        _ vehicle: VehicleLink,
        provenBy secret: Secret,
        _ secrets: any ModuleSecrets
    ) async throws(ModuleError) -> (any Link)? {
        var suspicion = SecretSuspicion()
        while true {
            let link = try await connect(vehicle)
            do throws(ModuleError) {
                try await secrets.proves(
                    secret,
                    on: link,
                    target.profile,
                    time,
                    chance: chance
                )
                return link
            } catch {
                await vehicle.leave()
                guard error.secret != nil else { throw error }
                if suspicion.failed(error.secret) == .wrongKey { return nil }
            }
        }
    }

    private func connect(_ vehicle: VehicleLink) async throws(ModuleError) -> any Link {
        // Looks for the application only: the bootloader takes no secret.
        let recogniser = ModuleRecogniser(
            family: target.profile.family,
            form: target.profile.advertisement
        )
        return try await vehicle.reach(
            recogniser,
            before: time.now.advanced(by: search),
            unless: isStopped
        )
    }

    // MARK: Reading

    /// Reads the module with the secret that is in its file now, and with no other.
    private func check() async throws(EnrolFault) -> InventoryRecord {
        let secret = try await keeper.secrets()[.current]
        let opener: ModuleOpener
        do throws(ModuleSecretError) {
            opener = try FamilyRegistry.opener(of: target.profile.family, secret)
        } catch {
            throw EnrolFault(.failed, "\(target.vehicle): \(error)", hint: Self.again)
        }
        let survey = InventorySurvey(central: central, time: time, for: search)
        let look = InventoryTarget(
            serial: target.serial,
            profile: target.profile,
            vehicle: target.vehicle,
            driver: opener.driver(target.profile),
            bond: target.bond
        )
        let records: [InventoryRecord]
        do throws(RadioError) {
            records = try await survey.look(at: [look], unless: isStopped)
        } catch { throw fault(.radio(error)) }
        guard let record = records.first else {
            throw EnrolFault(
                .refused,
                "\(target.vehicle): its device connects to us and is not enrolled by radio",
                hint: "give it its token in the fleet list"
            )
        }
        guard let problem = record.problem else { return record }
        throw EnrolFault(
            problem == InventoryRecord.notHeard ? .notHeard : .failed,
            "\(target.vehicle): \(problem)",
            hint: Self.again
        )
    }

    // MARK: Out of service

    /// Gives the module its earlier secret back, or makes it forget all; removes the vehicle from
    /// the list.
    package func undo() async throws(EnrolFault) {
        try await keeper.note(.leaving)
        if let secrets = FamilyRegistry.secrets(of: target.profile.family) {
            try await giveBack(secrets)
            await time.sleep(for: Self.settling, "the module to keep its secret")
        }
        try await keeper.retire()
        // The last of the files: while the vehicle is listed, the same command continues.
        try await keeper.list(false)
        try await keeper.note(.undone)
    }

    private func giveBack(_ secrets: any ModuleSecrets) async throws(EnrolFault) {
        let vehicle = link()
        var last = ModuleError.radio(.timedOut)
        var silences = 0
        for _ in 0..<Self.patience {
            do throws(ModuleError) {
                let known = try await self.known()
                let first = known[.maker] ?? known[.before]
                if secrets.needsTheOld, first == nil {
                    throw ModuleError.value("nothing says which secret it had before")
                }
                // The module may already have its first secret.
                var order = known
                if let first { order = [.pending: first, .current: known[.current] ?? first] }
                guard let opened = try await open(vehicle, order, secrets) else {
                    throw ModuleError.value("it has none of the known secrets")
                }
                let isBack = first != nil && opened.slot == .pending
                let link = opened.link
                do throws(ModuleError) {
                    if try await secrets.reset(on: link, target.profile, time) {
                        await vehicle.leave()
                        return
                    }
                    guard !isBack else {
                        await vehicle.leave()
                        return
                    }
                    try await secrets.change(
                        from: known[.current],
                        to: first,
                        on: link,
                        target.profile,
                        time,
                        chance: chance
                    ) { _ in true }
                } catch {
                    await vehicle.leave()
                    throw error
                }
                await vehicle.leave()
            } catch {
                last = error
                if error == .radio(.timedOut) { silences += 1 }
                guard mayPass(error), silences < 2 else { throw fault(error) }
            }
        }
        throw fault(last)
    }

    // MARK: Faults

    /// Whether another link may help.
    private func mayPass(_ error: ModuleError) -> Bool {
        guard !isStopped(), error != .radio(.cancelled) else { return false }
        if error.isLinkLoss { return true }
        switch error.failureClass {
        case .transient, .unreachable, .inDoubt: return true
        case .rejected, .integrity, .device, .noReturn, .wrongVersion, .rolledBack, .internal:
            return false
        }
    }

    private static let again =
        "run the command again: it continues, and no secret was lost"

    private func fault(_ error: ModuleError) -> EnrolFault {
        if error == .radio(.timedOut) {
            return EnrolFault(
                .notHeard,
                "\(target.vehicle): \(target.serial) was not heard, or did not answer",
                hint: Self.again
            )
        }
        return EnrolFault(
            .failed,
            "\(target.vehicle): \(error.description)",
            hint: Self.again,
            failure: error.failureClass
        )
    }
}
