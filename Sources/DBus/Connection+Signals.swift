extension Connection {
    /// Names one who observes signals; never used twice on a connection.
    package struct ObserverID: Hashable, Sendable { fileprivate let number: UInt64 }

    /// Calls `handler` on the loop's thread for each signal that fits, from now until `unobserve`
    /// or the end of the connection, which `onEnd` tells.
    ///
    /// When this returns the bus has the rule: no signal that is sent later is missed.
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

    /// As `observe`, for anyone who cannot wait: what is sent before the bus has the rule may be missed.
    ///
    /// Nil when the rule cannot be sent; for senders by their unique names.
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
        // Nobody waits for it, and on a lost connection there is nothing to take back.
        try? send(
            MethodCall("RemoveMatch", of: Bus.name, at: Bus.path, on: Bus.name, [.string(text)])
        )
    }

    /// Lends a stream of the signals that fit; `capacity` of them wait for the reader.
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

    /// Calls `handler` with who has the name from now on, nil for nobody, until the end.
    ///
    /// The present owner comes back; changes after that are all told, in their order.
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

    /// Keeps for good who has a name that rules speak of.
    ///
    /// The owner's word in the answer is not older than the signals before it: both come from the
    /// bus, in order.
    ///
    /// Seen through also when the task that came first is cancelled: the others rely on it.
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

    /// Who has the name from now on, empty for nobody; nil when the signal is not what it should be.
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
        // A signal that cannot be read is none: there is nobody to tell.
        guard let message = try? raw.message(.signal) else { return }
        for observer in candidates where observer.rule.matches(body: message.body) {
            observer.handler(message)
        }
    }

    /// How many observers and how many rules at the bus there are.
    package var observerCounts: (observers: Int, rules: Int) {
        (observers.count, observers.ruleCount)
    }
}
