package import Domain

/// What comes after the bytes: coming to rest, being well, being kept.
extension UpdateSession {
    /// Whether the module is as it should be.
    package enum Health: Equatable, Sendable {
        case well
        /// Not yet, and why: it is looked at again until the time is over.
        case notYet(String)
        case failure(String)
    }

    /// Waits for the module to come to rest; a deadline that stands goes on.
    mutating func beginSettling(linked: Bool = false, at now: Moment) -> Action {
        let deadline = memory.settleDeadline ?? limits.settle.deadline(from: wallTime(at: now))
        memory.settleDeadline = deadline
        switch memory.stage {
        case .activating where isActivationInDoubt: break
        case .none, .preparing, .transferring, .activating, .settling: memory.stage = .settling
        case .checking, .confirming, .rollingBack: break
        }
        memory.inBootloader = false
        var machine = SettleMachine(
            target: goal.image.version,
            rules: limits.settle,
            deadline: deadline,
            now: now,
            wallTime: wallTime(at: now),
            restarts: memory.restarts,
            targetSeen: memory.targetSeen
        )
        (self.deadline, stallsAt) = (nil, nil)
        let action = linked ? machine.connected(at: now) : machine.begin(at: now)
        return settle(action, machine, at: now)
    }

    /// The link went while the module was told to run the image: only the module knows whether it
    /// heard that, and it may be away for as long as any restart takes.
    mutating func activationBroke(by fault: UpdateFault, at now: Moment) -> Action {
        fruitless += 1
        lastCause = fault
        guard fruitless <= limits.fruitless else { return end(.failed(fault)) }
        isActivationInDoubt = !goal.usesBootloader
        return beginSettling(linked: fault.kind != .linkLost, at: now)
    }

    /// What broke off may have been a restart, which ends a trial: nothing that was seen before
    /// counts any more.
    mutating func proveAnew(after fault: UpdateFault, at now: Moment) -> Action {
        switch fault.failure {
        case .transient, .device, .rolledBack: break
        case .unreachable, .rejected, .integrity, .noReturn, .wrongVersion, .inDoubt, .internal:
            return end(.failed(fault))
        }
        fruitless += 1
        lastCause = fault
        guard fruitless <= limits.fruitless else { return end(.failed(fault)) }
        return beginSettling(linked: fault.kind != .linkLost, at: now)
    }

    package mutating func observed(_ observation: Observation, at now: Moment) -> Action {
        guard case .settling(var machine) = state else { return pending }
        stallsAt = nil
        if let confirmed = observation.isConfirmed { isOnTrial = !confirmed }
        return settle(machine.observed(observation, at: now), machine, at: now)
    }

    mutating func settle(
        _ action: SettleMachine.Action,
        _ machine: SettleMachine,
        at now: Moment
    ) -> Action {
        state = .settling(machine)
        memory.restarts = machine.restarts
        memory.targetSeen = machine.targetSeen
        switch action {
        case .seek(let from):
            stallsAt = max(from, now).advanced(by: limits.seek)
            return .seek(from: from)
        case .observe(let moment): return .observe(at: moment)
        case .disconnectAndWait: return .disconnect
        case .wait: return .pause(until: machine.nextDeadline ?? now)
        case .finished(let verdict): return settled(verdict, at: now)
        }
    }

    private mutating func settled(_ verdict: SettleVerdict, at now: Moment) -> Action {
        if memory.stage == .rollingBack { return wentBack(verdict, at: now) }
        if case .refused = verdict, hasResumed, !sendsAnew, !goal.usesBootloader {
            return refusedAfterResuming(at: now)
        }
        guard case .confirmed(let version) = verdict else { return end(.settled(verdict)) }
        if isHeldToHealth { return beginCheck(at: now) }
        if isOnTrial { return beginConfirming(at: now) }
        return end(hasActed || isKnown ? .settled(verdict) : .alreadyCurrent(version))
    }

    /// Some devices resume into what they have erased, and then have no beginning.
    private mutating func refusedAfterResuming(at now: Moment) -> Action {
        sendsAnew = true
        best = -1
        memory.stage = .transferring
        memory.acknowledged = 0
        memory.interruptions += 1
        lastCause = UpdateFault(
            .transient,
            "the module refused what it had been sent in pieces, so it gets the whole image again"
        )
        return exchange(.probing, .probe, at: now)
    }

    /// In the bootloader again, where it should run the image.
    mutating func backInBootloader(at now: Moment) -> Action {
        memory.inBootloader = true
        memory.stage = .transferring
        memory.acknowledged = 0
        startsOver += 1
        guard startsOver <= limits.startsOver else {
            return fail(
                .device,
                "the module took the whole image \(startsOver) times and went back into its "
                    + "bootloader"
            )
        }
        memory.interruptions += 1
        lastCause = UpdateFault(.transient, "the module is in its bootloader again")
        return connect(.receive, .bootloader, at: now)
    }

    // MARK: Health

    mutating func beginCheck(at now: Moment) -> Action {
        if memory.stage != .checking {
            memory.stage = .checking
            healthDeadline = now.advanced(by: limits.health)
        }
        let until = healthDeadline ?? now.advanced(by: limits.health)
        healthDeadline = until
        state = .checking
        (deadline, stallsAt) = (until, nil)
        return .check
    }

    package mutating func checked(_ health: Health, at now: Moment) -> Action {
        guard state == .checking else { return pending }
        switch health {
        case .well:
            if isOnTrial { return beginConfirming(at: now) }
            return end(.settled(.confirmed(goal.image.version)))
        case .notYet(let sentence):
            complaint = sentence
            guard let deadline, now < deadline else { return unwell(at: now) }
            let next = min(deadline, now.advanced(by: limits.settle.poll))
            stallsAt = next
            return .pause(until: next)
        case .failure(let sentence):
            complaint = complaint ?? sentence
            return unwell(at: now)
        }
    }

    private mutating func unwell(at now: Moment) -> Action {
        guard isOnTrial else {
            return end(
                .unhealthy(complaint ?? "", runs: goal.image.version, revertible: false)
            )
        }
        memory.stage = .rollingBack
        return exchange(.rollingBack, .rollBack, at: now)
    }

    package mutating func rolledBack(at now: Moment) -> Action {
        guard state == .rollingBack else { return pending }
        memory.settleDeadline = limits.settle.deadline(from: wallTime(at: now))
        return beginSettling(at: now)
    }

    private mutating func wentBack(_ verdict: SettleVerdict, at now: Moment) -> Action {
        let sentence = complaint ?? "it did not meet its health conditions"
        switch verdict {
        case .wrongVersion(let version), .otherBuild(let version), .refused(let version),
            .rolledBack(let version):
            return end(.unhealthy(sentence, runs: version, revertible: true))
        case .confirmed where isOnTrial && fruitless < limits.fruitless:
            // It has not heard that it should.
            fruitless += 1
            return exchange(.rollingBack, .rollBack, at: now)
        case .confirmed(let version):
            return end(.unhealthy(sentence, runs: version, revertible: false))
        case .noReturn, .stillOngoing:
            return end(.settled(verdict))
        }
    }

    // MARK: Keeping it

    private mutating func beginConfirming(at now: Moment) -> Action {
        hasActed = true
        memory.stage = .confirming
        return exchange(.confirming, .confirm, at: now)
    }

    /// The module says that it keeps the image.
    package mutating func confirmed(at now: Moment) -> Action {
        guard state == .confirming else { return pending }
        isOnTrial = false
        return end(.settled(.confirmed(goal.image.version)))
    }
}
