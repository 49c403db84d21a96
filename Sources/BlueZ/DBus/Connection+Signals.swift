extension Connection {
    /// Identifies an observer of signals; never reused on a connection.
    package struct ObserverID: Hashable, Sendable { fileprivate let number: UInt64 }

    /// Calls `handler` on the loop's thread for each matching signal, until `unobserve` or the end
    /// of the connection, for which `onEnd` is called.
    ///
    /// When this returns, the bus has the rule: no signal that is sent later is missed.
    package func observe(
        _ rule: SignalRule,
        onEnd: @escaping @Sendable () -> Void = {},
        _ handler: @escaping @Sendable (Message) -> Void
    ) async throws(BusError) -> ObserverID {
        guard let text = rule.text else { throw .unsendable(.wrongName(rule.sender ?? "")) }
        if let name = rule.nameToTrack { try await track(name) }
        guard isOpen else { throw .disconnected }
        let id = observers.add(.init(rule: rule, handler: handler, onEnd: onEnd))
        if observers.retain(rule: text) {
            do throws(BusError) {
                try await tellBus("AddMatch", text)
            } catch {
                _ = observers.remove(id)
                _ = observers.release(rule: text)
                throw error
            }
        }
        return ObserverID(number: id)
    }

    /// Like `observe`, without waiting: signals that are sent before the bus has the rule may be
    /// missed.
    ///
    /// Only for senders by their unique names; nil when the rule cannot be sent.
    package func observeSoon(
        _ rule: SignalRule,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverID? {
        guard isOpen, let text = rule.text, rule.nameToTrack == nil else { return nil }
        let id = observers.add(.init(rule: rule, handler: handler, onEnd: {}))
        if observers.retain(rule: text) {
            let call = MethodCall(
                "AddMatch",
                of: Bus.name,
                at: Bus.path,
                on: Bus.name,
                [.string(text)]
            )
            start(call) { _ in }
        }
        return ObserverID(number: id)
    }

    package func unobserve(_ id: ObserverID) {
        guard let observer = observers.remove(id.number), let text = observer.rule.text,
            observers.release(rule: text)
        else { return }
        // No answer is needed, and on a lost connection there is nothing to remove.
        try? send(
            MethodCall("RemoveMatch", of: Bus.name, at: Bus.path, on: Bus.name, [.string(text)])
        )
    }

    /// Lends a stream of the matching signals; up to `capacity` of them wait for the reader.
    package nonisolated func withSignals<R: Sendable>(
        _ rule: SignalRule,
        capacity: Int,
        _ body: (SignalStream) async throws(BusError) -> R
    ) async throws(BusError) -> R {
        let stream = SignalStream(capacity: capacity)
        let id = try await observe(rule, onEnd: { stream.end() }, { stream.add($0) })
        do throws(BusError) {
            let result = try await body(stream)
            await unobserve(id)
            return result
        } catch {
            await unobserve(id)
            throw error
        }
    }

    /// Calls `handler` with each new owner of the name, nil for none, until the end.
    ///
    /// Returns the current owner; all later changes are reported, in their order.
    package func observeOwner(
        of name: String,
        _ handler: @escaping @Sendable (String?) -> Void
    ) async throws(BusError) -> (observer: ObserverID, owner: String?) {
        let id = try await observe(Self.ownerRule(name)) { message in
            guard let owner = Self.newOwner(message) else { return }
            handler(owner.isEmpty ? nil : owner)
        }
        do throws(BusError) {
            return (id, try await owner(of: name))
        } catch {
            unobserve(id)
            throw error
        }
    }

    /// Tracks permanently who owns a name that rules contain.
    ///
    /// The owner in the answer is not older than the signals before it: both come from the bus, in
    /// order.
    ///
    /// This continues even if the first task is cancelled, because others rely on it.
    private func track(_ name: String) async throws(BusError) {
        guard !observers.isTracking(name) else { return }
        observers.setOwner(nil, of: name)
        let id = observeSoon(Self.ownerRule(name)) { [weak self] message in
            guard let owner = Self.newOwner(message) else { return }
            self?.assumeIsolated { $0.observers.setOwner(owner.isEmpty ? nil : owner, of: name) }
        }
        let answer = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[DBusValue], BusError>, Never>) in
            start(Self.ownerCall(name)) { continuation.resume(returning: $0) }
        }
        do throws(BusError) {
            observers.setOwner(try Self.owner(answer), of: name)
        } catch {
            if let id { unobserve(id) }
            observers.forgetOwner(of: name)
            throw error
        }
    }

    private static func ownerRule(_ name: String) -> SignalRule {
        SignalRule(
            from: Bus.name,
            interface: Bus.name,
            member: "NameOwnerChanged",
            path: Bus.path,
            firstArgument: name
        )
    }

    /// The new owner of the name, empty for none; nil when the signal is malformed.
    private static func newOwner(_ message: Message) -> String? {
        message.signature == "sss" ? message.body[2].asString : nil
    }

    private func tellBus(_ member: String, _ rule: String) async throws(BusError) {
        _ = try await call(
            MethodCall(member, of: Bus.name, at: Bus.path, on: Bus.name, [.string(rule)])
        )
    }

    func takeSignal(_ raw: borrowing RawMessage) {
        let candidates = observers.candidates(for: raw)
        guard !candidates.isEmpty else { return }
        // A malformed signal is ignored, since no one waits for it.
        guard let message = try? raw.message(.signal) else { return }
        for observer in candidates where observer.rule.matches(body: message.body) {
            observer.handler(message)
        }
    }

    /// The number of observers, and of rules at the bus.
    package var observerCounts: (observers: Int, rules: Int) {
        (observers.count, observers.ruleCount)
    }
}
