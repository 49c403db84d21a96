package import Domain

/// Reaching the module, losing it, and what time brings.
extension UpdateSession {
    /// Begins without a link.
    package mutating func begin(at now: Moment) -> Action {
        guard state == .idle else { return pending }
        return seek(.inspect, at: now)
    }

    /// Begins on an open link to what was found in this role.
    package mutating func begin(linkedTo role: ModuleRole, at now: Moment) -> Action {
        guard state == .idle else { return pending }
        return arrive(.inspect, role, at: now)
    }

    package mutating func sighted(_ role: ModuleRole, at now: Moment) -> Action {
        switch state {
        case .seeking(let errand):
            search = nil
            return sighted(role, for: errand, at: now)
        case .settling:
            stallsAt = nil
            guard role == .application else { return lingers(at: now) }
            bootloaderSince = nil
            memory.inBootloader = false
            stallsAt = now.advanced(by: limits.connect)
            return .connect
        case .idle, .connecting, .inspecting, .preparing, .probing, .transferring, .leaving,
            .pausing, .activating, .checking, .confirming, .rollingBack, .ended:
            return pending
        }
    }

    /// A bootloader waits for another part before it starts what it has got.
    private mutating func lingers(at now: Moment) -> Action {
        let since = bootloaderSince ?? now
        bootloaderSince = since
        memory.inBootloader = true
        guard since.duration(to: now) >= limits.continuation else {
            return .pause(until: now.advanced(by: .seconds(2)))
        }
        bootloaderSince = nil
        return backInBootloader(at: now)
    }

    private mutating func sighted(
        _ role: ModuleRole,
        for errand: Errand,
        at now: Moment
    ) -> Action {
        if role == .application, errand != .receive { memory.inBootloader = false }
        switch (errand, role) {
        case (.receive, .application) where goal.usesBootloader:
            // It may still be heard in the moment before it restarts.
            lingering += 1
            guard lingering <= 3 else {
                memory.inBootloader = false
                return fail(.transient, "the module runs its application, not its bootloader")
            }
            return go(
                to: .pausing(errand),
                .pause(until: now.advanced(by: .seconds(2))),
                within: .seconds(2),
                at: now
            )
        case (.rollBack, .bootloader):
            return backInBootloader(at: now)
        case (.inspect, _), (.receive, _), (.rollBack, .application):
            return connect(errand, role, at: now)
        }
    }

    /// Nothing was heard by `nextDeadline`.
    package mutating func missed(at now: Moment) -> Action {
        switch state {
        case .seeking(let errand):
            if hasWaitedOut, errand == .inspect, memory.inBootloader {
                // It neither returned to its application nor is it heard.
                return fail(.unreachable, "its bootloader fell silent")
            }
            search?.missed += 1
            if let search, search.missed < limits.searches { return seek(errand, at: now) }
            let time = search?.began.duration(to: now) ?? limits.seek
            search = nil
            return fail(
                .unreachable,
                errand == .receive && goal.usesBootloader
                    ? "its bootloader was not heard within \(time.brief)"
                    : "not heard within \(time.brief)"
            )
        case .settling(var machine):
            stallsAt = nil
            return settle(machine.tick(at: now), machine, at: now)
        case .idle, .connecting, .inspecting, .preparing, .probing, .transferring, .leaving,
            .pausing, .activating, .checking, .confirming, .rollingBack, .ended:
            return pending
        }
    }

    package mutating func linked(at now: Moment) -> Action {
        switch state {
        case .connecting(let errand, let role):
            return arrive(errand, role, at: now)
        case .settling(var machine):
            stallsAt = nil
            // Not told to restart, it would be waited for in vain.
            if isActivationInDoubt { return exchange(.probing, .probe, at: now) }
            return settle(machine.connected(at: now), machine, at: now)
        case .idle, .seeking, .inspecting, .preparing, .probing, .transferring, .leaving,
            .pausing, .activating, .checking, .confirming, .rollingBack, .ended:
            return pending
        }
    }

    private mutating func arrive(
        _ errand: Errand,
        _ role: ModuleRole,
        at now: Moment
    ) -> Action {
        if role == .bootloader {
            memory.inBootloader = true
            return exchange(.probing, .probe, at: now)
        }
        switch errand {
        case .inspect: return exchange(.inspecting, .inspect, at: now)
        case .receive: return exchange(.probing, .probe, at: now)
        case .rollBack: return exchange(.rollingBack, .rollBack, at: now)
        }
    }

    package mutating func disconnected(at now: Moment) -> Action {
        switch state {
        case .leaving(let errand, let pause):
            guard pause > .zero else { return seek(errand, at: now) }
            return go(
                to: .pausing(errand),
                .pause(until: now.advanced(by: pause)),
                within: pause,
                at: now
            )
        case .settling(var machine):
            return settle(machine.disconnected(at: now), machine, at: now)
        case .idle, .seeking, .connecting, .inspecting, .preparing, .probing, .transferring,
            .pausing, .activating, .checking, .confirming, .rollingBack, .ended:
            return pending
        }
    }

    /// What was asked for came to nothing.
    package mutating func failed(_ fault: UpdateFault, at now: Moment) -> Action {
        switch state {
        case .seeking, .inspecting:
            return end(.failed(fault))
        case .connecting(let errand, _):
            return errand == .inspect ? end(.failed(fault)) : again(errand, after: fault, at: now)
        case .preparing:
            switch fault.kind {
            case .linkLost, .unanswered: break
            // It said that it goes on with its application, or was not asked to leave it.
            case .plain, .tooFast, .alreadyThere: memory.inBootloader = false
            }
            return end(.failed(fault))
        case .probing where isActivationInDoubt:
            return activationBroke(by: fault, at: now)
        case .probing, .transferring:
            return interrupted(by: fault, at: now)
        case .activating:
            guard fault.kind == .linkLost else { return again(.receive, after: fault, at: now) }
            return activationBroke(by: fault, at: now)
        case .settling(var machine):
            stallsAt = nil
            guard fault.failure == .transient || fault.failure == .device else {
                return end(.failed(fault))
            }
            if machine.isLinked {
                let action =
                    fault.kind == .linkLost
                    ? machine.disconnected(at: now)
                    : machine.observed(Observation(ongoing: false, version: nil), at: now)
                return settle(action, machine, at: now)
            }
            return settle(machine.tick(at: now), machine, at: now)
        case .checking, .confirming:
            return proveAnew(after: fault, at: now)
        case .rollingBack:
            // A module that restarts takes its link with it.
            return fault.kind == .linkLost
                ? beginSettling(at: now) : again(.rollBack, after: fault, at: now)
        case .idle, .leaving, .pausing, .ended:
            return pending
        }
    }

    /// Another link for the same errand, as long as that is not fruitless.
    mutating func again(_ errand: Errand, after fault: UpdateFault, at now: Moment) -> Action {
        guard fault.failure == .transient || fault.failure == .device else {
            return end(.failed(fault))
        }
        fruitless += 1
        lastCause = fault
        guard fruitless <= limits.fruitless else { return end(.failed(fault)) }
        return leave(for: errand, pause: .seconds(1), at: now)
    }

    /// A deadline or the no-progress timer is due; before that nothing changes.
    package mutating func tick(at now: Moment) -> Action {
        if case .settling(var machine) = state {
            if let stallsAt, now >= stallsAt { self.stallsAt = nil }
            return settle(machine.tick(at: now), machine, at: now)
        }
        guard let due = nextDeadline, now >= due else { return pending }
        switch state {
        case .seeking: return missed(at: now)
        case .pausing(let errand): return seek(errand, at: now)
        case .leaving(let errand, _): return seek(errand, at: now)
        case .transferring:
            let limit = stallsAt.map { $0 <= now } ?? false
            return failed(
                UpdateFault(
                    .transient,
                    .tooFast,
                    limit
                        ? "no byte more within \(limits.stall.brief)"
                        : "the transfer takes longer than any should"
                ),
                at: now
            )
        case .checking:
            stallsAt = nil
            // The last look counts, also when the time was over before it.
            return .check
        case .connecting, .inspecting, .preparing, .probing, .activating, .confirming,
            .rollingBack:
            return failed(
                UpdateFault(.transient, "\(deadlineLabel): no answer in time"),
                at: now
            )
        case .idle, .settling, .ended: return pending
        }
    }

    /// Ends at this safe point; what is begun stands in `memory` and in the module.
    package mutating func stopRequested() -> Action {
        if case .ended = state { return pending }
        return end(.stopped)
    }
}
