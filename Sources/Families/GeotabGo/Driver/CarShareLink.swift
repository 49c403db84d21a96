package import Base
import Radio

/// A link to a vehicle that has completed the handshake: commands can be sent one at a time.
package final class CarShareLink {
    private let link: any CentralLink
    private let credentials: CarShareCredentials
    private let time: any Timekeeper
    private let limits: CarShareLimits
    private let notes: @Sendable (CarShareNote) -> Void
    private let phases: @Sendable (CarSharePhase) -> Void
    private var reported: CarSharePhase?
    private var session: CarShareSession
    /// The error of the radio when the link ended.
    private var radioError: RadioError?
    private var isSending = false

    init(
        link: any CentralLink,
        credentials: CarShareCredentials,
        isProven: Bool,
        time: any Timekeeper,
        limits: CarShareLimits,
        notes: @escaping @Sendable (CarShareNote) -> Void,
        phases: @escaping @Sendable (CarSharePhase) -> Void
    ) {
        self.link = link
        self.credentials = credentials
        self.time = time
        self.limits = limits
        self.notes = notes
        self.phases = phases
        session = CarShareSession(
            serial: Serial(credentials.token.reservation.serial),
            isProven: isProven,
            limits: limits,
            success: credentials.success,
            sign: credentials.message
        )
    }

    /// The result of driving the session.
    private enum End {
        case opened
        case finished(Result<CarShareReport, CarShareFailure>)
        case closed(AddOnTransportError?)
    }

    /// Does the handshake.
    func open(before deadline: Moment) async throws(CarShareError) {
        let actions = session.socketOpened(
            maximumLength: link.maximumLength,
            at: time.now
        )
        switch await drive(actions, before: deadline) {
        case .opened: return
        case .closed(let error): throw closed(error)
        case .finished: throw CarShareError(.notSent, .session(.outOfTime))
        }
    }

    /// Sends commands in one request; returns the vehicle's report after it has carried them out.
    ///
    /// Each call ends in one way: with the report, or with an error that states whether the
    /// commands may have been carried out. After an error whose answers may still arrive, the link
    /// takes no further command. With `other` credentials, they sign these commands: they must be for
    /// the same vehicle, and valid now.
    package func send(
        _ commands: CarShareCommands,
        by other: CarShareCredentials? = nil,
        before deadline: Moment? = nil
    ) async throws(CarShareError) -> CarShareReport {
        guard !isSending else { throw CarShareError(.notSent, .session(.busy)) }
        if let fault = other?.token.faults(at: time.wallTime).first {
            throw CarShareError(.notSent, .token(fault))
        }
        isSending = true
        defer { isSending = false }
        if case .closed(let error)? = await drain() { throw closed(error) }
        let sign = (other ?? credentials).message
        let actions = session.begin(commands, at: time.now, by: sign)
        switch await drive(actions, before: deadline) {
        case .finished(.success(let report)): return report
        case .finished(.failure(let failure)):
            if let radioError, case .link = failure.reason {
                throw CarShareError(failure.fate, .radio(radioError))
            }
            throw CarShareError(failure)
        case .closed(let error): throw closed(error)
        case .opened: throw CarShareError(.notSent, .session(.notConnected))
        }
    }

    /// Handles writes of the vehicle while no command is under way; returns the error when the link
    /// is over.
    package func attend(before deadline: Moment) async -> CarShareError? {
        guard !isSending else { return nil }
        let actions: [CarShareSession.Action]
        do throws(RadioError) {
            actions = session.received(try await link.nextWrite(before: deadline), at: time.now)
        } catch {
            actions = error == .timedOut ? session.timeout(at: time.now) : lost(error)
        }
        if case .closed(let error)? = await perform(actions) { return closed(error) }
        // A command that was cut off may have closed the session earlier: then the link fails at once,
        // and the session has nothing to say to it.
        if case .closed(let error) = session.transport.state { return closed(error) }
        return nil
    }

    private func closed(_ error: AddOnTransportError?) -> CarShareError {
        if let radioError { return CarShareError(.notSent, .radio(radioError)) }
        return CarShareError(.notSent, .session(error.map { .handshake($0) } ?? .closed))
    }

    func disconnect() async {
        _ = session.close(at: time.now)
        await link.disconnect()
    }

    // MARK: Driving the session

    /// A link keeps at most this many writes, so no more are taken between two commands.
    private static let mostDrained = 256

    /// Handles the writes that arrived between commands, so that none is taken for an answer.
    private func drain() async -> End? {
        for _ in 0..<Self.mostDrained {
            let actions: [CarShareSession.Action]
            do throws(RadioError) {
                actions = session.received(try await link.nextWrite(before: time.now), at: time.now)
            } catch {
                guard error != .timedOut else { break }
                actions = lost(error)
            }
            if let end = await perform(actions) { return end }
        }
        // No further write is waiting: deadlines that have passed meanwhile count now.
        return await perform(session.timeout(at: time.now))
    }

    /// Performs the session's actions until it opens, ends a command or closes.
    private func drive(_ first: [CarShareSession.Action], before limit: Moment?) async -> End {
        var actions = first
        while true {
            tell()
            let end = await perform(actions)
            tell()
            if let end { return end }
            if case .closed(let error) = session.transport.state { return .closed(error) }
            actions = await wait(before: limit)
        }
    }

    private func tell() {
        let phase = session.phase
        guard phase != reported else { return }
        reported = phase
        phases(phase)
    }

    private func perform(_ actions: [CarShareSession.Action]) async -> End? {
        var waiting = actions[...]
        var end: End?
        while let action = waiting.popFirst() {
            switch action {
            case .notify(let bytes): waiting += await notify(bytes)
            case .note(let note): notes(note)
            case .opened: end = end ?? .opened
            case .finished(let result): end = end ?? .finished(result)
            case .closed(let error): end = end ?? .closed(error)
            }
        }
        return end
    }

    /// Waits for the vehicle's next write or for the deadline; returns the session's actions.
    private func wait(before limit: Moment?) async -> [CarShareSession.Action] {
        // Without a deadline the session waits for nothing.
        let deadline = [session.deadline, limit].compactMap { $0 }.min() ?? time.now
        do throws(RadioError) {
            let bytes = try await link.nextWrite(before: deadline)
            return session.received(bytes, at: time.now)
        } catch {
            guard error == .timedOut else { return lost(error) }
            // The clock may be slightly behind the alarm: count the deadline as reached, so that
            // this does not loop.
            let now = max(time.now, deadline)
            if let limit, now >= limit { return session.outOfTime(at: now) }
            return session.timeout(at: now)
        }
    }

    /// Passes one piece to the radio; when the vehicle takes it too late, the link counts as lost.
    private func notify(_ bytes: [UInt8]) async -> [CarShareSession.Action] {
        let deadline = time.now.advanced(by: limits.piece)
        let (link, time) = (link, time)
        let result = await withTaskGroup(of: Result<Void, RadioError>.self) { group in
            group.addTask {
                do throws(RadioError) {
                    return .success(try await link.notify(bytes))
                } catch { return .failure(error) }
            }
            group.addTask {
                await time.sleep(until: deadline, for: "a vehicle to take a piece")
                return .failure(Task.isCancelled ? .cancelled : .timedOut)
            }
            let first = await group.next() ?? .failure(.cancelled)
            group.cancelAll()
            return first
        }
        switch result {
        case .success: return session.pieceSent(at: time.now)
        case .failure(let error): return lost(error)
        }
    }

    private func lost(_ error: RadioError) -> [CarShareSession.Action] {
        radioError = radioError ?? error
        return session.linkFailed(error.linkFailure, at: time.now)
    }
}
