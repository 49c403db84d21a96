extension Connection {
    /// Calls a method and returns the values of its answer.
    ///
    /// A cancelled call or one whose time is over is forgotten here; the other process still
    /// carries it out.
    package func call(_ call: MethodCall) async throws(BusError) -> [DBusValue] {
        guard isOpen else { throw .disconnected }
        let id = calls.newID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<[DBusValue], BusError>, Never>) in
                guard !Task.isCancelled else {
                    return continuation.resume(returning: .failure(.cancelled))
                }
                start(call, id) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            loop.perform { self.assumeIsolated { $0.finish(id, .failure(.cancelled)) } }
        }
        return try result.get()
    }

    /// Like `call`, for an answer that must have exactly these types, such as `a{sv}` and `q`.
    package func call(
        _ call: MethodCall,
        answering types: String
    ) async throws(BusError) -> [DBusValue] {
        let values = try await self.call(call)
        let found = values.map(\.signature.text).joined()
        guard found == types else { throw .malformed(.body(expected: types, found: found)) }
        return values
    }

    /// Calls a method without requesting an answer.
    package func send(_ call: MethodCall) throws(BusError) {
        do throws(ValueError) {
            let message = try RawMessage.call(call, expectsReply: false)
            do throws(BusError) { _ = try post(message) } catch { return }
        } catch { throw .unsendable(error) }
    }

    /// Calls a method; `completion` is called once with the answer, on the loop's thread.
    ///
    /// For calls that must continue even if the task that requested them is cancelled.
    package func start(
        _ call: MethodCall,
        completion: @escaping @Sendable (Result<[DBusValue], BusError>) -> Void
    ) {
        guard isOpen else { return completion(.failure(.disconnected)) }
        start(call, calls.newID(), completion)
    }

    private func start(
        _ call: MethodCall,
        _ id: UInt64,
        _ completion: @escaping CallTable.Completion
    ) {
        let timer = loop.schedule(after: call.patience) { [weak self] in
            self?.assumeIsolated { $0.finish(id, .failure(.timedOut)) }
        }
        calls.add(.init(completion: completion, timer: timer, call: call), id: id)
        sendWaiting()
    }

    private func sendWaiting() {
        while let (id, call) = calls.takeSendable() {
            do throws(ValueError) {
                let message = try RawMessage.call(call, expectsReply: true)
                do throws(BusError) {
                    calls.sent(id, as: try post(message))
                } catch {
                    finish(id, .failure(error))
                }
            } catch {
                finish(id, .failure(.unsendable(error)))
            }
        }
    }

    private func finish(_ id: UInt64, _ result: Result<[DBusValue], BusError>) {
        if let entry = calls.take(id) { finish(entry, result) }
    }

    private func finish(_ entry: CallTable.Entry, _ result: Result<[DBusValue], BusError>) {
        loop.cancel(entry.timer)
        entry.completion(result)
        sendWaiting()
    }

    /// An answer has arrived; it is dropped if no task waits for it.
    func finishCall(_ serial: UInt32, _ raw: borrowing RawMessage, isError: Bool) {
        guard let entry = calls.take(serial: serial) else { return }
        let body: [DBusValue]
        do throws(ValueError) {
            body = try raw.body()
        } catch {
            return finish(entry, .failure(.malformed(error)))
        }
        guard isError else { return finish(entry, .success(body)) }
        let reply = ErrorReply(raw.errorName ?? "", body.first?.asString ?? "")
        finish(entry, .failure(.refused(reply)))
    }

    func failAllCalls() {
        for entry in calls.takeAll() {
            loop.cancel(entry.timer)
            entry.completion(.failure(.disconnected))
        }
    }
}

// MARK: Standard methods of buses and objects

extension Connection {
    /// Requests a well-known name; true when this connection now owns it.
    package func requestName(_ name: String) async throws(BusError) -> Bool {
        // 4: do not queue for it.
        let values = try await call(
            MethodCall(
                "RequestName",
                of: Bus.name,
                at: Bus.path,
                on: Bus.name,
                [.string(name), .uint32(4)]
            ),
            answering: "u"
        )
        return values[0] == .uint32(1) || values[0] == .uint32(4)
    }

    package func releaseName(_ name: String) async throws(BusError) {
        _ = try await call(
            MethodCall("ReleaseName", of: Bus.name, at: Bus.path, on: Bus.name, [.string(name)])
        )
    }

    /// The unique name of the name's owner; nil when it has none.
    package func owner(of name: String) async throws(BusError) -> String? {
        do throws(BusError) {
            return try Self.owner(.success(try await call(Self.ownerCall(name))))
        } catch {
            return try Self.owner(.failure(error))
        }
    }

    static func ownerCall(_ name: String) -> MethodCall {
        MethodCall(
            "GetNameOwner",
            of: Bus.name,
            at: Bus.path,
            on: Bus.name,
            [.string(name)]
        )
    }

    /// The owner according to the answer to that call.
    static func owner(_ answer: Result<[DBusValue], BusError>) throws(BusError) -> String? {
        switch answer {
        case .success(let values):
            let found = values.map(\.signature.text).joined()
            guard found == "s" else { throw .malformed(.body(expected: "s", found: found)) }
            return values[0].asString
        case .failure(.refused(let reply)) where reply.isServiceGone: return nil
        case .failure(let error): throw error
        }
    }
}
