import Domain
import Journal
import Modules
import Reports
import Sessions

/// Settling an update that was begun on the module earlier: nothing else is done with the module
/// before that.
extension Execution {
    /// Settles the module, with the image of the update that was begun if it is available.
    func pay(_ debt: Debt) async throws(Halt) {
        let own = job.update(of: debt.image)
        let sighting = try await search()
        if let (place, update) = own {
            return try await settle(debt, by: update, at: place, isOurs: true, from: sighting)
        }
        if let update = await depot.image(debt) {
            return try await settle(debt, by: update, at: 0, isOurs: false, from: sighting)
        }
        if sighting.role == .application {
            // Without the image nothing can be sent, but the module can be watched until it
            // settles.
            self.debt?.stage = UpdateMemory.Stage.settling.rawValue
            return try await settle(
                debt,
                by: debt.watch(by: driver),
                at: 0,
                isOurs: false,
                from: sighting
            )
        }
        guard job.hasUpdates else {
            throw .verdict(
                .failed,
                .device,
                "waits in its bootloader, and the image is not here; run the rollout "
                    + "\(debt.rollout) that began it"
            )
        }
        try await leaveBootloader(sighting)
    }

    private func settle(
        _ debt: Debt,
        by update: UpdateJob,
        at place: Int,
        isOurs: Bool,
        from sighting: ModuleSighting
    ) async throws(Halt) {
        var sighting: ModuleSighting? = sighting
        while true {
            let run = UpdateRun(update, step: place, isWaypoint: false, of: self, from: sighting)
            let ending = try await run.ending()
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
    private func tell(_ ending: UpdateEnding, of debt: Debt) {
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

extension VehicleJob {
    /// The update, or the stage of one, that brings this image, with the place of its step.
    func update(of image: SHA256Digest) -> (place: Int, update: UpdateJob)? {
        for (place, step) in steps.enumerated() {
            guard case .update(let update) = step else { continue }
            if let stage = update.stages.first(where: { $0.digest == image }) {
                return (place, stage)
            }
        }
        return nil
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
