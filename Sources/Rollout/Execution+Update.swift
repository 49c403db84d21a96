package import Base
package import Radio
package import Store

/// Updates as steps: which images of a path are due, and the results of their sessions.
extension Execution {
    /// Updates the module to the job's image, through the versions that it must run before.
    func perform(
        _ update: UpdateJob,
        step: Int,
        from sighting: ModuleSighting? = nil
    ) async throws(Halt) {
        var stages = update.stages[...]
        if let begun = stages.firstIndex(where: { $0.digest == debt?.image }) {
            stages = stages[begun...]
        } else if sighting != nil {
            // A bootloader does not show how far on a path it is: it gets the goal's image.
            stages = stages.suffix(1)
        }
        var sighting = sighting
        for stage in stages {
            if sighting == nil, link.application == nil { _ = try await present() }
            let isWaypoint = stage.digest != update.digest
            let ending = try await ending(
                of: stage,
                step: step,
                isWaypoint: isWaypoint,
                isLast: !isWaypoint && step == job.steps.count - 1 && job.always.isEmpty,
                from: sighting
            )
            sighting = nil
            try conclude(ending, stage)
        }
    }

    /// How long each state of an update of this module may last.
    var limits: UpdateLimits { job.times.applied(to: depot.rules.limits) ?? depot.rules.limits }

    /// Carries out one update: from a sighting of the module, on the open link, or with a search.
    func ending(
        of update: UpdateJob,
        step: Int,
        isWaypoint: Bool = false,
        isLast: Bool = false,
        under terms: UpdateTerms? = nil,
        _ keeping: UpdateRun.Keeping = .asking,
        from sighting: ModuleSighting?
    ) async throws(Halt) -> UpdateEnding {
        let memory = UpdateMemory(debt, of: update.digest, interruptions: record.interruptions)
        var limits = limits
        limits.health = update.healthyWithin
        let session = UpdateSession(
            update.goal(
                by: driver,
                isWaypoint: isWaypoint,
                hasHealthCheck: !update.healthy.isEmpty || !update.judge.isEmpty
                    || keeping != .asking
            ),
            limits: limits,
            memory: memory,
            // It did not return to its application between two runs, either.
            hasWaitedOut: stoodInBootloader.map {
                $0.advanced(by: limits.bootloaderPatience) <= time.wallTime
            } ?? false,
            now: time.now,
            wallTime: time.wallTime
        )
        let run = UpdateRun(
            update,
            step: step,
            isLast: isLast,
            under: terms,
            keeping,
            from: memory,
            of: self
        )
        return try await UpdateEngine(
            update.order(for: job.serial),
            session,
            over: self,
            noting: run
        ).ending(from: sighting)
    }

    /// Continues with the next step, or ends the attempt.
    func conclude(_ ending: UpdateEnding, _ update: UpdateJob) throws(Halt) {
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
            if fault.kind == .linkLost, !hasShownLoss { _ = losesLink() }
            switch fault.failure {
            case .integrity: throw .verdict(.failed, .integrity, fault.description)
            case .rejected: throw .verdict(.rejected, .rejected, fault.description)
            case .transient, .unreachable, .device, .noReturn, .wrongVersion, .rolledBack,
                .inDoubt, .internal:
                throw .failure(fault.failure, fault.description)
            }
        }
    }

    /// The intent that must be on disk before anything is done, with the module's debt.
    ///
    /// When the debt for this same transfer exists already, the module reports how far it is; then
    /// there is an intent only if steps of `always` have been done since.
    func intent(
        _ update: UpdateJob,
        step: Int,
        _ memory: UpdateMemory
    ) async throws(Halt) -> Act? {
        if let debt, debt.image == update.digest {
            guard try await mustOweAgain(debt) else { return nil }
            return try await permit(
                Act(transfer(of: update, step), owing: newlyOwed),
                paying: true
            )
        }
        var debt = Debt(
            serial: job.serial,
            image: update.digest,
            name: update.name,
            version: update.version,
            target: update.target.rawValue,
            total: update.size,
            stage: memory.stage.rawValue,
            of: record,
            begun: time.wallTime
        )
        debt.keep(memory)
        // A module that waits in its bootloader for another image is where it was, and in the
        // vehicle that it has been moved to since.
        debt.bootloaderPlace = record.bootloaderPlace ?? self.debt?.bootloaderPlace
        debt.vehicle = self.debt?.vehicle ?? debt.vehicle
        debt.terms = job.steps.terms(of: update, at: step).digest
        // If this process ends now, only the fleet has the debt: the module's next holder takes it
        // over and pays it.
        let act = try await permit(
            Act(
                transfer(of: update, step),
                opening: debt,
                owing: newlyOwed,
                over: record.versionAfter
            ),
            paying: false
        )
        self.debt = debt
        return act
    }

    /// What an update makes the vehicle owe: nothing while it has other devices than the plan says.
    private var newlyOwed: [OwedStep] { job.exchanged == nil ? always : [] }

    private func transfer(of update: UpdateJob, _ step: Int) -> Intent {
        Intent(
            of: record,
            step: job.key(of: step),
            place: step,
            effect: .transfer,
            description: "update to \(update.name) \(update.version)",
            image: update.digest,
            begun: time.wallTime
        )
    }

    /// Whether this execution began the update and has done steps of `always` since then: what
    /// they brought about may be gone once the module restarts.
    private func mustOweAgain(_ debt: Debt) async throws(Halt) -> Bool {
        let steps = newlyOwed
        guard debt.execution == record.number, !steps.isEmpty else { return false }
        do throws(JournalError) {
            let owed = try await depot.journal.owed(by: vehicle)
                .filter { $0.execution == record.number }
            return !steps.allSatisfy { step in owed.contains { $0.step == step.step } }
        } catch { throw .journal(error) }
    }

    private func permit(_ act: Act, paying: Bool) async throws(Halt) -> Act {
        let permit: Permit
        do throws(JournalError) {
            permit = try await depot.coordinator.permit(
                act,
                on: job.serial,
                paying: paying,
                unless: depot.stop
            )
        } catch { throw .journal(error) }
        switch permit {
        case .granted, .done, .doubt: break
        case .inhibited(let inhibit): throw .verdict(.deferred, nil, inhibit.sentence)
        case .recalled(let recall): throw .verdict(.rejected, .rejected, recall.sentence)
        case .withdrawn(let sentence): throw .verdict(.skipped, nil, sentence)
        case .later(let reason): throw .verdict(.deferred, nil, reason)
        case .ended: throw .stopped
        }
        record.acted = true
        var act = act
        act.isFleets = depot.coordinator.isShared
        return act
    }

    /// What a permit changes here before the journal has it.
    var debtAndActs: (debt: Debt?, acted: Bool) {
        get { (debt, record.acted) }
        set { (debt, record.acted) = newValue }
    }

    /// The state of an update that the journal gets with the next record.
    func keep(_ memory: UpdateMemory, of update: UpdateJob) {
        if debt?.image == update.digest { debt?.keep(memory) }
        if memory.stage != .none {
            record.image = update.digest
            record.totalBytes = ByteCount(bytes: update.size)
        }
        if memory.stage != .none || record.image == update.digest {
            record.keep(memory)
        } else {
            record.inBootloader = memory.inBootloader
        }
    }

    func interrupted(by cause: UpdateFault, count: Int) async throws(JournalError) {
        if cause.kind == .linkLost { _ = losesLink() }
        depot.events.emit(.interrupted(vehicle, cause: cause.description, count: count))
        try await note(.interrupted, durably: false)
    }

    func progressed(_ progress: Progress) {
        record.acknowledged = progress.acknowledged
        _ = depot.air.shows(.confirmed(progress.acknowledged.bytes))
        depot.events.emit(.progress(vehicle, progress))
    }

    /// The verdict of the operator's program on the module with its new image.
    func judged(_ update: UpdateJob, before deadline: Moment?) async -> UpdateSession.Health {
        let left = deadline.map { time.now.duration(to: $0) }
        return await depot.judge(
            Judgement(
                program: update.judge,
                vehicle: vehicle,
                serial: job.serial,
                image: update.name,
                version: update.version,
                adapter: depot.central.adapter,
                limit: max(.seconds(1), left ?? update.healthyWithin)
            )
        ).health
    }

    /// The module was seen settled: pays the debt of the update.
    ///
    /// The payment is written immediately, or with the verdict when nothing is done in between
    /// (`isLast`).
    func settled(
        _ update: UpdateJob,
        as outcome: String,
        isProof: Bool,
        isLast: Bool
    ) async throws(JournalError) {
        record.stage = UpdateMemory.Stage.none.rawValue
        record.settleDeadline = nil
        record.targetSeen = false
        record.part = 0
        record.inBootloader = false
        guard let debt, debt.image == update.digest else { return }
        payment = Payment(
            of: debt,
            as: outcome,
            at: time.wallTime,
            isProof: isProof,
            telling: word(of: .paid(debt, isProof: isProof))
        )
        (self.debt, keptDebt) = (nil, nil)
        // Other gateways wait for the payment.
        guard !isLast || depot.coordinator.isShared else { return }
        try await save(durably: true, intending: nil)
        try await depot.coordinator.tell()
    }
}

extension UpdateMemory {
    /// The known state of the update of this image, from any run and rollout.
    package init(_ debt: Debt?, of image: SHA256Digest, interruptions: Int) {
        self.init()
        self.interruptions = interruptions
        guard let debt, debt.image == image else { return }
        stage = Stage(rawValue: debt.stage) ?? .settling
        part = debt.part
        acknowledged = debt.acknowledged
        restarts = debt.restarts
        settleDeadline = debt.settleDeadline
        targetSeen = debt.targetSeen
        inBootloader = debt.inBootloader
    }
}

extension Debt {
    /// Stores what the next run has to know.
    package mutating func keep(_ memory: UpdateMemory) {
        stage = memory.stage.rawValue
        part = memory.part
        acknowledged = memory.acknowledged
        interruptions = memory.interruptions
        restarts = memory.restarts
        settleDeadline = memory.settleDeadline
        targetSeen = memory.targetSeen
        inBootloader = memory.inBootloader
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
