package import Base
import Radio

/// Making a link, from the request to its use.
extension LinkMachine {
    package mutating func begin(_ facts: LinkFacts, at now: Moment) -> [Action] {
        if let fault = facts.hostFault { return giveUp(.radio(fault)) }
        guard now < limit else { return giveUp(.radio(.timedOut)) }
        return approach(facts, at: now)
    }

    /// Takes the next step towards the device, whatever its state.
    private mutating func approach(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard let device = facts.device else {
            state = .hearing(until: soon(rules.hearing, after: now))
            return [.hear]
        }
        path = device.path
        guard device.isConnected else { return connect(device, at: now) }
        guard isLeftBehind, !facts.isInUse else {
            return [.note(.heldByAnother(adapter: adapter, address: address))]
                + giveUp(.radio(.heldByAnother))
        }
        state = .clearing(until: now.advanced(by: rules.ending))
        return [.note(.leftBehind(adapter: adapter, address: address)), .call(.disconnect)]
    }

    /// Starts the call that connects.
    ///
    /// Pairing also connects; some modules require it before anything can be read.
    private mutating func connect(_ device: DeviceRecord, at now: Moment) -> [Action] {
        guard now < limit else { return giveUp(.radio(.timedOut)) }
        if policy.pairing != .none, !device.isBonded {
            state = .connecting(.pair, until: soon(rules.pairing, after: now))
            return [.remember, .call(.pair)]
        }
        state = .connecting(.connect, until: soon(rules.connecting, after: now))
        return [.remember, .call(.connect)]
    }

    /// The current call has ended.
    package mutating func answered(
        _ call: Call,
        _ refusal: BlueZRefusal?,
        _ facts: LinkFacts,
        at now: Moment
    ) -> [Action] {
        switch (state, call) {
        case (.connecting(call, _), .connect): connectAnswered(refusal, facts, at: now)
        case (.connecting(call, _), .pair): pairAnswered(refusal, facts, at: now)
        case (.fencing, .fence): fenced(facts, at: now)
        case (.ending, .disconnect): disconnectAnswered(facts)
        case (.idle, _), (.hearing, _), (.clearing, _), (.connecting, _), (.awaiting, _),
            (.resolving, _), (.fencing, _), (.measuring, _), (.reading, _), (.standing, _),
            (.leaving, _), (.ending, _), (.over, _):
            []
        }
    }

    private mutating func connectAnswered(
        _ refusal: BlueZRefusal?,
        _ facts: LinkFacts,
        at now: Moment
    ) -> [Action] {
        switch refusal {
        case nil:
            // A positive answer does not prove a link: some versions return it for a failed
            // attempt.
            return expect(soon(rules.grace, after: now), facts, at: now)
        case .inProgress, .alreadyExists:
            // Another program is already connecting; its attempt serves this one too.
            isShared = true
            return expect(limit, facts, at: now)
        case .objectGone: return objectGone(facts, at: now)
        case .keyMissing: return end(.keys, facts, at: now)
        case .failed, .canceled:
            return end(breaksOnKeys(facts) ? .keys : .radio(.connectFailed), facts, at: now)
        case .notReady: return end(.radio(.adapterOff), facts, at: now)
        case .serviceGone: return end(.radio(.serviceUnavailable), facts, at: now)
        case .accessDenied: return end(.radio(.unauthorized), facts, at: now)
        case .tooManyLinks: return end(.radio(.noFreeLink), facts, at: now)
        case .acquired, .notConnected, .att, .notSupported, .notPermitted, .authentication:
            return end(.radio(.connectFailed), facts, at: now)
        }
    }

    private mutating func pairAnswered(
        _ refusal: BlueZRefusal?,
        _ facts: LinkFacts,
        at now: Moment
    ) -> [Action] {
        switch refusal {
        case nil:
            if case .passkey = policy.pairing, !hasGivenPasskey {
                // This passkey was not used, so any device could have bonded this way.
                return [.unbond] + end(.radio(.bond(.passkeyUnused)), facts, at: now)
            }
            return [.bonded] + expect(soon(rules.grace, after: now), facts, at: now)
        case .alreadyExists:
            // The bond exists, but there may be no link.
            state = .connecting(.connect, until: soon(rules.connecting, after: now))
            return [.call(.connect)]
        case .authentication(let what):
            return end(.radio(bondError(what)), facts, at: now)
        case .objectGone: return objectGone(facts, at: now)
        case .notReady: return end(.radio(.adapterOff), facts, at: now)
        case .serviceGone: return end(.radio(.serviceUnavailable), facts, at: now)
        case .accessDenied: return end(.radio(.unauthorized), facts, at: now)
        case .tooManyLinks: return end(.radio(.noFreeLink), facts, at: now)
        case .inProgress, .acquired, .notConnected, .att, .notSupported, .notPermitted, .failed,
            .canceled, .keyMissing:
            return end(.radio(.connectFailed), facts, at: now)
        }
    }

    package mutating func passkeyGiven() { hasGivenPasskey = true }

    private func bondError(_ what: BlueZRefusal.Authentication) -> RadioError {
        switch what {
        case .failed:
            // It refused before it asked for the passkey, so the passkey is not wrong.
            return .bond(hasGivenPasskey ? .wrongPasskey : .refused)
        case .timedOut: return .bond(.timedOut)
        // Another pairing is running, or the link was lost during this one.
        case .rejected, .canceled, .noLink: return .connectFailed
        }
    }

    /// BlueZ was refused a bond with the module.
    ///
    /// A module can want one without need.
    package mutating func bondRefused(at now: Moment) {
        guard policy.pairing == .none else { return }
        bondRefusal = now
    }

    /// The module has answered a request, so that it does not need the bond that it wanted.
    package mutating func bondUnneeded() { bondRefusal = nil }

    /// Until when a request that begins now may be unanswered before the refused bond is the reason.
    package func bondLimit(at now: Moment) -> Moment? {
        bondRefusal == nil ? nil : now.advanced(by: rules.unbonded)
    }

    /// Whether a link that is lost now indicates that the other device has lost the bond: with keys, its services
    /// are found first.
    private func breaksOnKeys(_ facts: LinkFacts) -> Bool {
        switch state {
        case .connecting, .awaiting, .resolving: facts.device?.isBonded == true && wasConnected
        case .idle, .hearing, .clearing, .fencing, .measuring, .reading, .standing, .leaving,
            .ending, .over:
            false
        }
    }

    private mutating func objectGone(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard case .connecting = state, !hasHeard else {
            return end(.radio(.connectFailed), facts, at: now)
        }
        path = nil
        state = .hearing(until: soon(rules.hearing, after: now))
        return [.forget, .hear]
    }

    private mutating func expect(
        _ until: Moment,
        _ facts: LinkFacts,
        at now: Moment
    ) -> [Action] {
        state = .awaiting(until: until)
        return changed(facts, at: now)
    }

    /// The facts may have changed.
    package mutating func changed(_ facts: LinkFacts, at now: Moment) -> [Action] {
        if facts.isConnected { wasConnected = true }
        switch state {
        case .idle, .over: return []
        case .hearing:
            if let fault = facts.hostFault { return giveUp(.radio(fault)) }
            guard facts.device != nil else { return [] }
            hasHeard = true
            return approach(facts, at: now)
        case .clearing:
            if let fault = facts.hostFault { return giveUp(.radio(fault)) }
            guard let device = facts.device else { return approach(facts, at: now) }
            return device.isConnected ? [] : connect(device, at: now)
        case .connecting:
            if let fault = facts.hostFault { return end(.radio(fault), facts, at: now) }
            return facts.device == nil ? objectGone(facts, at: now) : []
        case .awaiting:
            if let fault = facts.hostFault { return end(.radio(fault), facts, at: now) }
            guard facts.device != nil else { return end(.radio(.connectFailed), facts, at: now) }
            guard facts.isConnected else { return [] }
            state = .resolving(until: soon(rules.services, after: now))
            return changed(facts, at: now)
        case .resolving:
            if let failure = loss(facts, at: now) { return end(failure, facts, at: now) }
            guard facts.isResolved else { return [] }
            bondUnneeded()
            state = .fencing
            return [.call(.fence)]
        case .fencing, .measuring, .reading:
            return loss(facts, at: now).map { end($0, facts, at: now) } ?? []
        case .standing, .leaving: return facts.isResolved ? [] : lost(facts, at: now)
        case .ending: return endingChanged(facts)
        }
    }

    /// The link was lost before it could be used: the attempt failed.
    private func loss(_ facts: LinkFacts, at now: Moment) -> Failure? {
        if let fault = facts.hostFault { return .radio(fault) }
        guard !facts.isConnected else { return nil }
        if let bondRefusal, now <= bondRefusal.advanced(by: rules.unbonded) {
            return .radio(.bond(.notConfigured))
        }
        return breaksOnKeys(facts) ? .keys : .radio(.connectFailed)
    }

    /// The daemon may report that all services are resolved before it reports the last of them.
    ///
    /// It also reports this when the module has answered the search for services with an error; then
    /// it shows none.
    private mutating func fenced(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard facts.isResolved else { return [] }
        guard facts.hasServices else { return end(.services(isRefused: true), facts, at: now) }
        state = .measuring
        return [.measure]
    }

    /// The packet length that a socket reported; nil when no socket is available.
    package mutating func socketMeasured(_ length: Int?, at now: Moment) -> [Action] {
        guard state == .measuring else { return [] }
        guard let length else {
            state = .reading(next: now, tries: 0)
            return [.readMTU]
        }
        state = .standing
        return [.stands(maximumLength: length)]
    }

    /// The property contains 23 until the MTU exchange is done; nil where there is no property.
    package mutating func propertyRead(_ mtu: Int?, at now: Moment) -> [Action] {
        guard case .reading(_, let tries) = state else { return [] }
        if mtu == 23, tries < 3 {
            state = .reading(next: now.advanced(by: .milliseconds(200)), tries: tries + 1)
            return []
        }
        state = .standing
        // An attribute is never longer than 512.
        return [.stands(maximumLength: min(min(max(mtu ?? 23, 23), 517) - 3, 512))]
    }

    package mutating func tick(_ facts: LinkFacts, at now: Moment) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        if case .reading = state, now < limit { return [.readMTU] }
        if case .leaving(_, let until) = state, now < until { return [.look] }
        let isLate: RadioError = now < limit ? .connectFailed : .timedOut
        switch state {
        case .standing, .over: return []
        case .idle, .hearing: return giveUp(.radio(isLate))
        case .leaving: return lost(facts, at: now)
        case .clearing, .awaiting, .fencing, .measuring, .reading:
            return end(.radio(isLate), facts, at: now)
        case .connecting(.pair, _): return end(.radio(.bond(.timedOut)), facts, at: now)
        case .connecting: return end(.radio(isLate), facts, at: now)
        case .resolving where bondRefusal != nil:
            // BlueZ has read a value that needs the bond, and reads nothing after it.
            return end(.radio(.bond(.notConfigured)), facts, at: now)
        case .resolving:
            // If the caller's time is over, nothing is known about the services.
            guard now < limit else { return end(.radio(.timedOut), facts, at: now) }
            return end(.services(isRefused: false), facts, at: now)
        case .ending: return finish(facts)
        }
    }
}
