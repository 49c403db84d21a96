package import Domain
package import Radio

/// A vehicle's GO device that a token opens: we advertise its service, and it connects to us.
package struct CarShareVehicle: Sendable {
    private let peripheral: any Peripheral
    private let credentials: CarShareCredentials
    private let bond: BondPolicy
    private let time: any Timekeeper
    private let limits: CarShareLimits
    private let notes: @Sendable (CarShareNote) -> Void

    /// `notes` hears of what was passed over.
    package init(
        peripheral: any Peripheral,
        credentials: CarShareCredentials,
        bond: BondPolicy = .unbonded,
        time: any Timekeeper,
        limits: CarShareLimits = CarShareLimits(),
        notes: @escaping @Sendable (CarShareNote) -> Void = { _ in }
    ) {
        self.peripheral = peripheral
        self.credentials = credentials
        self.bond = bond
        self.time = time
        self.limits = limits
        self.notes = notes
    }

    /// Sends commands in one request on a link of their own.
    package func send(
        _ commands: CarShareCommands,
        before deadline: Moment? = nil
    ) async throws(CarShareError) -> CarShareReport {
        let result = try await withLink(before: deadline) {
            link -> Result<CarShareReport, CarShareError> in
            do throws(CarShareError) {
                return .success(try await link.send(commands, before: deadline))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Waits for the vehicle, shakes hands and lends the link for as long as `body` runs.
    ///
    /// The service is on the air only while this runs. `deadline` is for the vehicle to come and
    /// shake hands; what `body` does has limits of its own.
    package func withLink<R: Sendable>(
        before deadline: Moment? = nil,
        _ body: (CarShareLink) async -> R
    ) async throws(CarShareError) -> R {
        if let fault = credentials.token.faults(at: time.wallTime).first {
            throw CarShareError(.notSent, .token(fault))
        }
        var socket = CarShareSocket(limits: limits)
        var action = socket.open(at: time.now, until: deadline)
        while true {
            switch action {
            case .publish, .publishAgain:
                let round: Round<R>
                do throws(RadioError) {
                    round = try await self.round(&socket, before: deadline, body)
                } catch {
                    if error == .cancelled { throw CarShareError(.notSent, .radio(error)) }
                    action = socket.radioFailed(error.socketFault)
                    continue
                }
                switch round {
                case .visited(let result): return try result.get()
                case .next(let next): action = next
                }
            case .closed(let error):
                throw CarShareError(
                    .notSent,
                    error.map { .socket($0) } ?? .session(.closed)
                )
            case .wait, .advertise, .opened:
                throw CarShareError(.notSent, .session(.notConnected))
            }
        }
    }

    /// What one time on the air came to.
    private enum Round<R: Sendable>: Sendable {
        case visited(Result<R, CarShareError>)
        case next(CarShareSocket.Action)
    }

    private var description: ServiceDescription {
        ServiceDescription(
            uuid: credentials.service,
            notify: credentials.notify,
            write: credentials.write,
            bond: bond
        )
    }

    private func round<R: Sendable>(
        _ socket: inout CarShareSocket,
        before deadline: Moment?,
        _ body: (CarShareLink) async -> R
    ) async throws(RadioError) -> Round<R> {
        try await peripheral.withService(description) {
            (service) async throws(RadioError) -> Round<R> in
            guard case .advertise(let until) = socket.published(at: time.now) else {
                return .next(socket.close())
            }
            let central: any CentralLink
            do throws(RadioError) {
                central = try await service.nextCentral(before: until)
            } catch {
                guard error == .timedOut else { throw error }
                return .next(socket.nobodyCame(at: max(time.now, until)))
            }
            let result: Result<R, CarShareError>
            switch socket.subscribed(maximumLength: central.maximumLength) {
            case .opened:
                result = await visit(central, before: deadline, body)
            case .closed(let error):
                result = .failure(CarShareError(.notSent, .socket(error ?? .lost)))
            case .publish, .advertise, .publishAgain, .wait:
                result = .failure(CarShareError(.notSent, .session(.notConnected)))
            }
            await central.disconnect()
            return .visited(result)
        }
    }

    private func visit<R: Sendable>(
        _ central: any CentralLink,
        before deadline: Moment?,
        _ body: (CarShareLink) async -> R
    ) async -> Result<R, CarShareError> {
        let link = CarShareLink(
            link: central,
            credentials: credentials,
            time: time,
            limits: limits,
            notes: notes
        )
        do throws(CarShareError) {
            let last = time.now.advanced(by: limits.handshake + limits.piece)
            try await link.open(before: deadline.map { min($0, last) } ?? last)
        } catch {
            return .failure(error)
        }
        let value = await body(link)
        return .success(value)
    }
}
