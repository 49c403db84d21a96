import Domain
import Journal
import Modules
import Sessions

/// Updates as steps: which of a path's images are due, and what their sessions came to.
extension Execution {
    /// Brings the module to the job's image, over the versions it must have run before.
    func perform(
        _ update: UpdateJob,
        step: Int,
        from sighting: ModuleSighting? = nil
    ) async throws(Halt) {
        var stages = update.stages[...]
        if let begun = stages.firstIndex(where: { $0.digest == record.image }),
            record.stage != "none"
        {
            stages = stages[begun...]
        } else if sighting != nil {
            // In a bootloader that says nothing of a path: the aim is what it should have.
            stages = stages.suffix(1)
        }
        var sighting = sighting
        for stage in stages {
            if sighting == nil, application == nil { _ = try await present() }
            let run = UpdateRun(
                stage,
                step: step,
                isWaypoint: stage.digest != update.digest,
                of: self,
                from: sighting
            )
            sighting = nil
            try conclude(try await run.ending(), stage)
        }
    }

    /// Goes on to the next step, or ends the attempt.
    private func conclude(_ ending: UpdateEnding, _ update: UpdateJob) throws(Halt) {
        switch ending {
        case .alreadyCurrent(let version):
            record.versionAfter = version ?? record.versionAfter
        case .passed(let version):
            record.versionAfter = version
        case .settled(.confirmed(let version)):
            record.versionAfter = version
            provenUpdates += 1
        case .settled(let verdict):
            throw .verdict(verdict.outcome, verdict.failureClass, verdict.description)
        case .rejected(let reason):
            throw .verdict(.rejected, .rejected, reason.description)
        case .unhealthy(let sentence, let version, let hasReverted):
            record.versionAfter = version ?? record.versionAfter
            let runs = version.map { "; it runs \($0)" } ?? ""
            throw hasReverted
                ? .verdict(
                    .rolledBack,
                    .rolledBack,
                    "not well, so it went back: \(sentence)\(runs)"
                )
                : .verdict(.failed, .device, "not well, and cannot go back: \(sentence)\(runs)")
        case .stopped:
            throw .stopped
        case .failed(let fault):
            switch fault.failure {
            case .integrity: throw .verdict(.failed, .integrity, fault.description)
            case .rejected: throw .verdict(.rejected, .rejected, fault.description)
            case .transient, .unreachable, .device, .noReturn, .wrongVersion, .rolledBack,
                .inDoubt, .internal:
                throw .failure(fault.failure, fault.description)
            }
        }
    }

    /// Puts the intent on disk, unless this very transfer is in doubt already: then the module
    /// says how far it is.
    func intend(_ update: UpdateJob, step: Int) async throws(JournalError) {
        let open = try await depot.journal.openIntents(rollout: depot.rollout, vehicle: vehicle)
        guard !open.contains(where: { $0.intent.image == update.digest }) else { return }
        _ = try await depot.journal.intend(
            Intent(
                rollout: depot.rollout,
                vehicle: vehicle,
                step: step,
                effect: .transfer,
                description: "update to \(update.name) \(update.version)",
                image: update.digest,
                begun: time.wallTime
            )
        )
    }

    /// Settles what was intended for this vehicle and image.
    func settleIntents(
        _ image: SHA256Digest,
        as outcome: String
    ) async throws(JournalError) {
        let open = try await depot.journal.openIntents(rollout: depot.rollout, vehicle: vehicle)
        for record in open where record.intent.image == image {
            try await depot.journal.settle(record.id, outcome: outcome, at: time.wallTime)
        }
    }
}

extension UpdateMemory {
    /// What an earlier run knew of the update of this image.
    init(_ record: ExecutionRecord, of image: SHA256Digest) {
        self.init()
        interruptions = record.interruptions
        guard record.image == image else { return }
        stage = Stage(rawValue: record.stage) ?? .none
        part = record.part
        acknowledged = record.acknowledged?.bytes ?? 0
        restarts = record.restarts
        settleDeadline = record.settleDeadline
        targetSeen = record.targetSeen
        inBootloader = record.inBootloader
    }
}

extension ExecutionRecord {
    mutating func keep(_ memory: UpdateMemory) {
        stage = memory.stage.rawValue
        part = memory.part
        acknowledged = ByteCount(bytes: memory.acknowledged)
        interruptions = memory.interruptions
        restarts = memory.restarts
        settleDeadline = memory.settleDeadline
        targetSeen = memory.targetSeen
        inBootloader = memory.inBootloader
    }
}
