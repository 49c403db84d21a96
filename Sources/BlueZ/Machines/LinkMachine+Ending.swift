package import Domain
package import Radio

/// From whatever there is of a link to nothing.
extension LinkMachine {
    /// There is no turn for it.
    package mutating func refused(_ error: RadioError) -> [Action] {
        state == .idle ? giveUp(.radio(error)) : []
    }

    /// Anyone who wanted the link does not wait any more.
    package mutating func cancelled(_ facts: LinkFacts, at now: Moment) -> [Action] {
        switch state {
        case .idle, .hearing:
            state = .over
            return [.over]
        case .clearing, .connecting, .awaiting, .resolving, .fencing, .measuring, .reading:
            return end(nil, facts, at: now)
        case .ending(_, let isAnswered, let until):
            state = .ending(nil, answered: isAnswered, until: until)
            return []
        case .standing, .leaving, .over: return []
        }
    }

    /// Anyone who has the link is done with it: what was sent last still goes out.
    package mutating func release(at now: Moment) -> [Action] {
        guard state == .standing else { return [] }
        state = .leaving(Drain(at: now), until: now.advanced(by: rules.leaving))
        return [.look]
    }

    package mutating func drained(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard case .leaving = state else { return [] }
        return lost(facts, at: now)
    }

    package mutating func notDrained(at now: Moment) -> [Action] {
        guard case .leaving(var drain, let until) = state else { return [] }
        drain.again(at: now)
        state = .leaving(drain, until: until)
        return []
    }

    /// A socket of the link is gone, or a call says so: the first sign of a loss ends it.
    package mutating func signOfLoss(_ facts: LinkFacts, at now: Moment) -> [Action] {
        switch state {
        case .standing, .leaving: lost(facts, at: now)
        case .idle, .hearing, .clearing, .connecting, .awaiting, .resolving, .fencing,
            .measuring, .reading, .ending, .over:
            []
        }
    }

    /// What stood is over; services that are being found again are other services.
    mutating func lost(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard facts.isConnected else {
            state = .over
            return [.void, .forget, .over]
        }
        return [.void] + end(nil, facts, at: now)
    }

    /// Nothing was begun that would have to be taken down.
    mutating func giveUp(_ failure: Failure) -> [Action] {
        state = .over
        return [.failed(failure), .over]
    }

    /// Also where there is no link yet: the call cancels one that is in the making.
    mutating func end(_ failure: Failure?, _ facts: LinkFacts, at now: Moment) -> [Action] {
        state = .ending(failure, answered: false, until: now.advanced(by: rules.ending))
        guard facts.hostFault == nil, facts.device != nil else { return finish(facts) }
        // Anyone who uses the link as well would lose it.
        if isShared, facts.isInUse { return finish(facts) }
        return [.call(.disconnect)]
    }

    mutating func disconnectAnswered(_ facts: LinkFacts) -> [Action] {
        guard case .ending(let failure, _, let until) = state else { return [] }
        state = .ending(failure, answered: true, until: until)
        return endingChanged(facts)
    }

    mutating func endingChanged(_ facts: LinkFacts) -> [Action] {
        guard case .ending(_, let isAnswered, _) = state else { return [] }
        if facts.hostFault != nil || facts.device == nil { return finish(facts) }
        return isAnswered && !facts.isConnected ? finish(facts) : []
    }

    mutating func finish(_ facts: LinkFacts) -> [Action] {
        guard case .ending(let failure, _, _) = state else { return [] }
        state = .over
        // What still stands is for the next run to know, unless it is another's by now.
        let isOurs = facts.isConnected && !(isShared && facts.isInUse)
        return (isOurs ? [] : [.forget]) + (failure.map { [.failed($0)] } ?? []) + [.over]
    }
}
