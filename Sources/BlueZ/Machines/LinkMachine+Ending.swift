package import Base
package import Radio

/// Ending a link, from any state.
extension LinkMachine {
    /// The attempt gets no turn at the adapter.
    package mutating func refused(_ error: RadioError) -> [Action] {
        state == .idle ? giveUp(.radio(error)) : []
    }

    /// The task that requested the link no longer waits for it.
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

    /// The user of the link has finished with it; packets that were just sent still go out.
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

    /// A socket of the link was closed, or a call failed for this reason: the first sign of a loss
    /// ends the link.
    package mutating func signOfLoss(_ facts: LinkFacts, at now: Moment) -> [Action] {
        switch state {
        case .standing, .leaving: lost(facts, at: now)
        case .idle, .hearing, .clearing, .connecting, .awaiting, .resolving, .fencing,
            .measuring, .reading, .ending, .over:
            []
        }
    }

    /// The open link is over.
    ///
    /// If BlueZ resolves the services again, they are different services.
    mutating func lost(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard facts.isConnected else {
            state = .over
            return [.void] + remnant(facts) + [.over]
        }
        return [.void] + end(nil, facts, at: now)
    }

    /// Ends an attempt that has begun nothing that must be undone.
    mutating func giveUp(_ failure: Failure) -> [Action] {
        state = .over
        return [.failed(failure), .over]
    }

    /// Ends the link.
    ///
    /// The call also cancels an attempt that has no link yet.
    mutating func end(_ failure: Failure?, _ facts: LinkFacts, at now: Moment) -> [Action] {
        state = .ending(failure, answered: false, until: now.advanced(by: rules.ending))
        guard facts.hostFault == nil, facts.device != nil else { return finish(facts) }
        // Another program that uses the link would lose it.
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

    /// Nobody knows whether a link still exists when only the connection to BlueZ was lost: then it stays listed, and
    /// is ended when BlueZ is there again.
    private func remnant(_ facts: LinkFacts) -> [Action] {
        facts.isSameGeneration ? [.forget] : []
    }

    mutating func finish(_ facts: LinkFacts) -> [Action] {
        guard case .ending(let failure, _, _) = state else { return [] }
        state = .over
        // A link that still exists must be known to the next run, unless another program uses it by
        // now.
        let isOurs = facts.isConnected && !(isShared && facts.isInUse)
        return (isOurs ? [] : remnant(facts)) + (failure.map { [.failed($0)] } ?? []) + [.over]
    }
}
