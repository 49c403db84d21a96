import Base
import Radio
import Store

/// Settling an update that was begun on the module earlier: nothing else is done with the module
/// before that.
extension Execution {
    /// Settles the module, with the image of the update that was begun if it is available, and
    /// under the conditions of that update.
    func pay(_ debt: Debt) async throws(Halt) {
        let sighting = try await search()
        if depot.denied.contains(debt.image) {
            let why = "the manifest denies its image \(debt.title)"
            return try await watch(debt, under: UpdateTerms(), .refusing(why), from: sighting)
        }
        let own = job.steps.update(of: debt.image)
        if let (place, update) = own {
            let terms = job.steps.terms(of: update, at: place)
            // The person who edits a rollout decides about what it has begun.
            let isOurs = debt.rollout == depot.rollout || debt.terms == nil
            if isOurs || debt.terms == terms.digest {
                try await check(terms, beforeTheRestOf: debt, from: sighting)
                return try await settle(debt, by: update, at: place, isOurs: true, from: sighting)
            }
        }
        guard let terms = debt.terms == nil ? UpdateTerms() : await depot.terms(debt) else {
            return try await watch(
                debt,
                under: UpdateTerms(),
                .leaving(unasked(debt)),
                from: sighting
            )
        }
        let found = if let own { own.update } else { await depot.image(debt) }
        guard let update = found?.under(terms) else {
            return try await watch(debt, under: terms, .asking, from: sighting)
        }
        try await check(terms, beforeTheRestOf: debt, from: sighting)
        try await settle(
            debt,
            by: update,
            at: own?.place ?? 0,
            under: terms,
            isOurs: own != nil,
            from: sighting
        )
    }

    private func unasked(_ debt: Debt) -> String {
        "its update to \(debt.title) was begun under conditions that only the rollout "
            + "\(debt.rollout) knows: run that one, which asks them"
    }

    /// Sends nothing of the image that was begun: the module is watched until it settles; one that
    /// waits in its bootloader gets the image of the own update.
    private func watch(
        _ debt: Debt,
        under terms: UpdateTerms,
        _ keeping: UpdateRun.Keeping,
        from sighting: ModuleSighting
    ) async throws(Halt) {
        if sighting.role == .application {
            self.debt?.stage = UpdateMemory.Stage.settling.rawValue
            // Some modules show only by the image whether they run it on trial.
            let known = keeping == .asking ? nil : await depot.image(debt)
            return try await settle(
                debt,
                by: (known ?? debt.watch(by: driver)).under(terms),
                at: 0,
                under: terms,
                keeping,
                isOurs: false,
                from: sighting
            )
        }
        guard job.hasUpdates else {
            let why =
                switch keeping {
                case .asking:
                    "the image is not here; run the rollout \(debt.rollout) that began it"
                case .leaving(let sentence): sentence
                case .refusing(let sentence):
                    "\(sentence); run a rollout with another image for it"
                }
            throw .verdict(.failed, .device, "waits in its bootloader, and \(why)")
        }
        try await leaveBootloader(sighting)
    }

    private func settle(
        _ debt: Debt,
        by update: UpdateJob,
        at place: Int,
        under terms: UpdateTerms? = nil,
        _ keeping: UpdateRun.Keeping = .asking,
        isOurs: Bool,
        from sighting: ModuleSighting
    ) async throws(Halt) {
        // A condition may have been asked over a link, which is open still.
        var sighting: ModuleSighting? = link.application == nil ? sighting : nil
        while true {
            let ending = try await ending(
                of: update,
                step: place,
                under: terms,
                keeping,
                from: sighting
            )
            switch ending {
            case .alreadyCurrent, .passed, .rejected:
                // This was decided by one read, which proves nothing: now the module is watched
                // until it has settled.
                guard self.debt?.stage != UpdateMemory.Stage.settling.rawValue else {
                    return try conclude(ending, update)
                }
                self.debt?.stage = UpdateMemory.Stage.settling.rawValue
                sighting = link.application == nil ? try await search() : nil
                continue
            case .settled(.confirmed):
                if isOurs { try conclude(ending, update) } else { tell(ending, of: debt) }
            case .settled(.noReturn), .settled(.stillOngoing), .stopped, .failed:
                try conclude(ending, update)
            case .settled, .unhealthy:
                guard debt.execution != record.number else {
                    return try conclude(ending, update)
                }
                tell(ending, of: debt)
            }
            return
        }
    }

    /// Reports how another rollout's update ended: it gives this execution no verdict.
    package func tell(_ ending: UpdateEnding, of debt: Debt) {
        let fate =
            switch ending {
            case .settled(let verdict): verdict.description
            case .unhealthy(let sentence, _, _): "not well: \(sentence)"
            case .alreadyCurrent, .passed, .rejected, .stopped, .failed: "settled"
            }
        depot.events.emit(
            .warning(
                "\(vehicle): settled the update to \(debt.title) that run \(debt.run) of "
                    + "\(debt.rollout) began: \(fate)"
            )
        )
    }
}

extension Debt {
    /// An update that sends nothing: it only watches which version the module settles with.
    fileprivate func watch(by driver: any UpdateDriver) -> UpdateJob {
        UpdateJob(
            name: name,
            digest: image,
            version: version ?? FirmwareVersion(0, 0, 0),
            family: driver.family,
            target: ModulePart(rawValue: target) ?? .secondary,
            type: nil,
            variant: nil,
            allowsDowngrade: true,
            parts: []
        )
    }
}
