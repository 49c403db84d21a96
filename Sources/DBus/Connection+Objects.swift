extension Connection {
    /// Puts an interface of ours on the bus; nobody hears of it until `announce`.
    ///
    /// The handler is called on the loop's thread and answers at its leisure.
    package func export(
        _ description: InterfaceDescription,
        at path: ObjectPath,
        properties: [String: DBusValue] = [:],
        _ handler: @escaping @Sendable (IncomingCall) -> Void = { _ in }
    ) {
        tree.add(
            .init(description: description, properties: properties, handler: handler),
            at: path
        )
    }

    /// Makes the object one that lists all below it.
    package func exportManager(at path: ObjectPath) { tree.makeManager(path) }

    package func withdrawManager(at path: ObjectPath) { tree.removeManager(path) }

    /// Tells, by the manager above it, that the object is there with all its interfaces.
    package func announce(_ path: ObjectPath) throws(BusError) {
        guard let manager = tree.manager(of: path) else { return }
        try emit(
            Signal(
                "InterfacesAdded",
                of: InterfaceDescription.objectManager.name,
                at: manager,
                [.objectPath(path), tree.interfaces(at: path)]
            )
        )
    }

    /// Takes the object from the bus with all its interfaces, and tells so.
    package func withdraw(_ path: ObjectPath) throws(BusError) {
        let names = tree.remove(path)
        guard !names.isEmpty, let manager = tree.manager(of: path) else { return }
        try emit(
            Signal(
                "InterfacesRemoved",
                of: InterfaceDescription.objectManager.name,
                at: manager,
                [.objectPath(path), .strings(names)]
            )
        )
    }

    /// Sets and removes properties of one of our interfaces and tells so in one signal.
    ///
    /// False when there is no such interface.
    @discardableResult
    package func update(
        _ changed: [String: DBusValue],
        removed: [String] = [],
        of interface: String,
        at path: ObjectPath
    ) throws(BusError) -> Bool {
        guard tree.update(changed, removed: removed, of: interface, at: path) else { return false }
        try emit(
            Signal(
                "PropertiesChanged",
                of: InterfaceDescription.properties.name,
                at: path,
                [.string(interface), .properties(changed), .strings(removed)]
            )
        )
        return true
    }

    /// The properties of one of our interfaces as they are now.
    package func exported(
        _ interface: String,
        at path: ObjectPath
    ) -> [String: DBusValue]? {
        tree.properties(of: interface, at: path)
    }

    package var exportedCount: Int { tree.count }

    /// Sends a signal to all who want it, or to one.
    package func emit(_ signal: Signal, to destination: String? = nil) throws(BusError) {
        do throws(ValueError) {
            let message = try RawMessage.signal(signal, to: destination)
            do throws(BusError) { _ = try post(message) } catch {
                // On a lost connection nobody listens.
                guard error != .disconnected else { return }
            }
        } catch { throw .unsendable(error) }
    }

    func takeCall(_ raw: borrowing RawMessage) {
        let message: Message
        do throws(ValueError) {
            message = try raw.message(.call)
        } catch {
            guard let head = raw.head else { return }
            return answer(
                head.serial,
                of: head.sender ?? "",
                .failure(.invalidArguments("\(error)"))
            )
        }
        guard let path = message.path, let member = message.member else { return }
        let answer = tree.answer(
            path: path,
            interface: message.interface,
            member: member,
            arguments: message.body
        )
        let result: Result<[DBusValue], ErrorReply>
        switch answer {
        case .ask(let handler):
            return handler(IncomingCall(message, interface: message.interface ?? "", on: self))
        case .values(let values): result = .success(values)
        case .error(let error): result = .failure(error)
        }
        guard message.expectsReply else { return }
        self.answer(message.serial, of: message.sender ?? "", result)
    }

    /// Answers a call; from the loop's thread at once, else as soon as it has its turn.
    nonisolated func answer(
        _ serial: UInt32,
        of caller: String,
        _ result: Result<[DBusValue], ErrorReply>
    ) {
        if loop.isIsolatingCurrentContext() == true {
            assumeIsolated { $0.postAnswer(serial, of: caller, result) }
        } else {
            loop.perform { self.assumeIsolated { $0.postAnswer(serial, of: caller, result) } }
        }
    }

    private func postAnswer(
        _ serial: UInt32,
        of caller: String,
        _ result: Result<[DBusValue], ErrorReply>
    ) {
        let destination = caller.isEmpty ? nil : caller
        do throws(ValueError) {
            let message: RawMessage
            switch result {
            case .success(let values):
                message = try .reply(to: serial, of: destination, values)
            case .failure(let error):
                message = try .error(to: serial, of: destination, error)
            }
            // On a lost connection nobody waits for it.
            do throws(BusError) { _ = try post(message) } catch {}
        } catch {
            // What cannot be sent is our own mistake, and still the caller must hear something.
            if case .failure = result { return }
            postAnswer(serial, of: caller, .failure(.failed("\(error)")))
        }
    }
}
