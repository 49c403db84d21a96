package import Domain

/// From what the module says to what is to be done, and the transfer itself.
extension UpdateSession {
    package mutating func inspected(_ found: Inspection, at now: Moment) -> Action {
        guard state == .inspecting else { return pending }
        memory.inBootloader = false
        isOnTrial = !found.isConfirmed
        let decision = UpdateDecision.decide(
            current: found.firmware,
            image: goal.image,
            policy: goal.policy
        )
        switch memory.stage {
        case .settling, .checking, .confirming, .rollingBack:
            if decision == .alreadyCurrent, found.isConfirmed, memory.stage == .confirming,
                let version = found.firmware.version
            {
                return end(.settled(.confirmed(version)))
            }
            return beginSettling(linked: true, at: now)
        case .activating, .transferring, .preparing:
            // It went from its bootloader into the image by itself: only the proof is missing.
            if decision == .alreadyCurrent { return beginSettling(linked: true, at: now) }
            if memory.stage == .activating, !goal.usesBootloader {
                return exchange(.probing, .probe, at: now)
            }
        case .none:
            break
        }
        switch decision {
        case .rejected(let reason):
            return end(.rejected(reason))
        case .passed(let version):
            return end(.passed(version))
        case .alreadyCurrent:
            guard found.isConfirmed, !found.isOngoing else {
                return beginSettling(linked: true, at: now)
            }
            return end(.alreadyCurrent(found.firmware.version))
        case .update:
            return prepare(at: now)
        }
    }

    /// The point from which the module is changed.
    private mutating func prepare(at now: Moment) -> Action {
        hasActed = true
        if memory.stage == .none { memory = fresh() }
        memory.stage = .preparing
        memory.inBootloader = goal.usesBootloader
        return exchange(.preparing, .prepare, at: now)
    }

    private func fresh() -> UpdateMemory {
        var fresh = UpdateMemory()
        fresh.interruptions = memory.interruptions
        return fresh
    }

    package mutating func prepared(at now: Moment) -> Action {
        guard state == .preparing else { return pending }
        memory.stage = .transferring
        lingering = 0
        return goal.usesBootloader
            ? leave(for: .receive, pause: .zero, at: now)
            : exchange(.probing, .probe, at: now)
    }

    package mutating func probed(_ probe: UpdateProbe, at now: Moment) -> Action {
        guard state == .probing else { return pending }
        guard probe.holdings.count == goal.sizes.count else {
            return fail(.internal, "the probe has another number of parts than the image")
        }
        if memory.inBootloader, !isKnown, !hasActed, !probe.isOurs, !hasWaitedOut {
            // Nobody knows why it is there, nor what it is: it goes back by itself before long,
            // and then says what it may have.
            hasWaitedOut = true
            lastCause = UpdateFault(
                .transient,
                "waits in its bootloader for somebody else's image; it is left alone until it "
                    + "goes back"
            )
            return leave(for: .inspect, pause: limits.bootloaderPatience, at: now)
        }
        hasActed = true
        if memory.stage == .none { memory = fresh() }
        memory.inBootloader = goal.usesBootloader
        isActivationInDoubt = false
        guard let missing = probe.firstMissing else {
            if probe.holdings.allSatisfy({ $0 == .running }) {
                return beginSettling(linked: true, at: now)
            }
            return activate(at: now)
        }
        // An image that did not start is sent again, under a deadline of its own.
        memory.settleDeadline = nil
        // A part that the bootloader has installed leaves no trace in it.
        let part = probe.isOurs ? missing : max(missing, min(memory.part, goal.sizes.count - 1))
        var there = goal.size(before: part)
        if case .some(let count) = probe.holdings[part] { there += count }
        memory.acknowledged = there
        return send(part, at: now)
    }

    private mutating func send(_ part: Int, at now: Moment) -> Action {
        memory.stage = .transferring
        memory.part = part
        let least = Duration.seconds(goal.total / max(1, limits.slowest))
        let action = go(
            to: .transferring(part: part),
            .transfer(part: part, pace: pace),
            within: max(.seconds(600), least),
            at: now
        )
        stallsAt = now.advanced(by: goal.usesBootloader ? limits.stall : limits.opening)
        return action
    }

    /// The module has so many bytes of the part; moves the no-progress timer.
    package mutating func progressed(
        to offset: Int,
        resumedFrom resumed: Int = 0,
        at now: Moment
    ) {
        guard case .transferring(let part) = state else { return }
        if resumed > 0 { hasResumed = true }
        let position = goal.size(before: part) + offset
        if position > memory.acknowledged { stallsAt = now.advanced(by: limits.stall) }
        memory.acknowledged = position
    }

    /// The module has taken the whole part; `linkHolds` says whether more can be sent at once.
    package mutating func transferred(linkHolds: Bool, at now: Moment) -> Action {
        guard case .transferring(let part) = state else { return pending }
        memory.acknowledged = goal.size(before: part + 1)
        fruitless = 0
        guard part + 1 < goal.sizes.count else {
            guard goal.usesBootloader else { return activate(at: now) }
            return beginSettling(at: now)
        }
        memory.part = part + 1
        guard linkHolds else { return leave(for: .receive, pause: .seconds(1), at: now) }
        return send(part + 1, at: now)
    }

    mutating func interrupted(by fault: UpdateFault, at now: Moment) -> Action {
        if fault.kind == .alreadyThere, case .transferring(let part) = state,
            part + 1 < goal.sizes.count
        {
            // The module has this part or a newer one, so the next part is what it lacks.
            return send(part + 1, at: now)
        }
        guard fault.failure == .transient else { return end(.failed(fault)) }
        if fault.kind == .tooFast { pace += 1 }
        fruitless = memory.acknowledged > best ? 0 : fruitless + 1
        best = max(best, memory.acknowledged)
        memory.interruptions += 1
        lastCause = fault
        guard fruitless < limits.fruitless else {
            return fail(
                .transient,
                "the transfer broke \(fruitless + 1) times without a byte more: \(fault)"
            )
        }
        lingering = 0
        return leave(for: .receive, pause: .zero, at: now)
    }

    private mutating func activate(at now: Moment) -> Action {
        hasActed = true
        memory.stage = .activating
        memory.acknowledged = goal.total
        // The module may restart before its answer arrives: the deadline is there before that.
        memory.settleDeadline = limits.settle.deadline(from: wallTime(at: now))
        return exchange(.activating, .activate, at: now)
    }

    package mutating func activated(at now: Moment) -> Action {
        guard state == .activating else { return pending }
        return beginSettling(at: now)
    }
}
