package import Base
package import Radio

/// The transport and the commands of one link to a vehicle, as one machine.
package struct CarShareSession: Sendable {
    package enum Action: Equatable, Sendable {
        /// Send one piece to the vehicle; `pieceSent` or `linkFailed` follows.
        case notify([UInt8])
        /// The session is ready for commands.
        case opened
        /// The result of a command; each command has one.
        case finished(Result<CarShareReport, CarShareFailure>)
        case note(CarShareNote)
        /// Close the link; nil when the caller asked for it.
        case closed(AddOnTransportError?)
    }

    package private(set) var transport: AddOnTransport
    package private(set) var exchange: CarShareExchange

    /// The serial of the vehicle that the token is for; nil when it names none.
    private let serial: Serial?
    /// Until when the vehicle may say which one it is; nil when that is not waited for.
    private var identifying: Moment?
    private let limits: CarShareLimits

    /// `isProven` when the link has a bond by passkey: only then the peer certainly is the vehicle.
    package init(
        serial: Serial? = nil,
        isProven: Bool = false,
        limits: CarShareLimits = CarShareLimits(),
        sums: AddOnSums = .trusting,
        success: CommandSuccess = .result,
        sign: @escaping CarShareExchange.Sign
    ) {
        self.serial = serial
        transport = AddOnTransport(limits: limits, sums: sums)
        self.limits = limits
        exchange = CarShareExchange(
            isProven: isProven,
            limits: limits,
            success: success,
            sign: sign
        )
    }

    /// The time at which `timeout` is due.
    package var deadline: Moment? {
        [transport.deadline, exchange.deadline, identifying].compactMap { $0 }.min()
    }

    /// A vehicle subscribed.
    package mutating func socketOpened(maximumLength: Int, at now: Moment) -> [Action] {
        let actions = transport.open()
        return route(
            actions + transport.socketOpened(maximumLength: maximumLength, at: now),
            at: now
        )
    }

    package mutating func begin(
        _ commands: CarShareCommands,
        at now: Moment,
        by other: CarShareExchange.Sign? = nil
    ) -> [Action] {
        guard exchange.isUnderWay || transport.state == .connected && identifying == nil else {
            return [.finished(.failure(CarShareFailure(.notSent, .notConnected)))]
        }
        return route(exchange.begin(commands, at: now, by: other), at: now)
    }

    package mutating func pieceSent(at now: Moment) -> [Action] {
        route(transport.pieceSent(), at: now)
    }

    package mutating func received(_ bytes: [UInt8], at now: Moment) -> [Action] {
        route(transport.received(bytes, at: now), at: now)
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> [Action] {
        route(transport.linkFailed(failure), at: now)
    }

    package mutating func timeout(at now: Moment) -> [Action] {
        let actions = route(transport.timeout(at: now), at: now)
        if let limit = identifying, now >= limit {
            identifying = nil
            return actions + [.note(.unidentified), .opened]
        }
        return actions + route(exchange.timeout(at: now), at: now)
    }

    /// The time limit of the whole command is over.
    package mutating func outOfTime(at now: Moment) -> [Action] {
        route(exchange.abort(.outOfTime), at: now) + close(at: now)
    }

    package mutating func close(at now: Moment) -> [Action] {
        route(transport.close(), at: now)
    }

    // MARK: Between the two

    private mutating func route(_ actions: [AddOnTransport.Action], at now: Moment) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .notify(let bytes): return [.notify(bytes)]
            case .opened:
                guard serial != nil else { return [.opened] }
                identifying = now.advanced(by: limits.identification)
                return route(transport.askForVehicleData(), at: now)
            case .messageLeaves:
                exchange.messageLeaves()
                return []
            case .accepted: return route(exchange.accepted(at: now), at: now)
            case .rejected: return route(exchange.rejected(), at: now)
            case .received(let message): return route(exchange.received(message, at: now), at: now)
            case .damaged(let error): return route(exchange.damaged(error), at: now)
            case .note(let note): return [.note(note)]
            case .vehicleData(let body):
                let isAwaited = identifying != nil
                identifying = nil
                guard let serial, let own = AddOnNumbers.serial(inVehicleData: body),
                    own != serial
                else { return isAwaited ? [.opened] : [.note(.frame(.vehicleData))] }
                return route(transport.leave(vehicle: own), at: now)
            case .closed(let error):
                identifying = nil
                let reason: CarShareFailure.Reason =
                    switch error {
                    case .link(let failure)?: .link(failure)
                    case .some(let error): .handshake(error)
                    case nil: .closed
                    }
                return route(exchange.abort(reason), at: now) + [.closed(error)]
            }
        }
    }

    private mutating func route(_ actions: [CarShareExchange.Action], at now: Moment) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .send(let body):
                // The command goes on: the acceptance of the previous message does not matter any
                // more and must not block this one.
                transport.forgetMessage()
                do throws(AddOnTransport.Refusal) {
                    return route(try transport.send(body), at: now)
                } catch {
                    return route(exchange.notTaken(error), at: now)
                }
            case .finished(let result):
                transport.forgetMessage()
                return [.finished(result)]
            case .note(let note): return [.note(note)]
            }
        }
    }
}
