extension Connection {
    /// Adds an interface of this program to the bus, without a signal until `announce`.
    ///
    /// The handler is called on the loop's thread, and may answer later.
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

    /// Makes the object a manager, which lists all objects below it.
    package func exportManager(at path: ObjectPath) { tree.makeManager(path) }

    package func withdrawManager(at path: ObjectPath) { tree.removeManager(path) }

    /// Sends a signal through the manager above the object that the object exists with all its
    /// interfaces.
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

    /// Removes the object with all its interfaces from the bus, and sends a signal about it.
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

    /// Sets and removes properties of one of our interfaces, and sends one signal about it.
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

    /// The current properties of one of our interfaces.
    package func exported(
        _ interface: String,
        at path: ObjectPath
    ) -> [String: DBusValue]? {
        tree.properties(of: interface, at: path)
    }

    package var exportedCount: Int { tree.count }

    /// Sends a signal to all connections that have a matching rule, or to one connection.
    package func emit(_ signal: Signal, to destination: String? = nil) throws(BusError) {
        do throws(ValueError) {
            let message = try RawMessage.signal(signal, to: destination)
            do throws(BusError) { _ = try post(message) } catch {
                // On a lost connection there are no receivers.
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

    /// Answers a call: immediately on the loop's thread, from other threads as soon as the loop
    /// gets to it.
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
            // On a lost connection no caller waits for the answer.
            do throws(BusError) { _ = try post(message) } catch {}
        } catch {
            // An answer that cannot be sent is a bug of this program, but the caller must still get
            // an answer.
            if case .failure = result { return }
            postAnswer(serial, of: caller, .failure(.failed("\(error)")))
        }
    }
}
