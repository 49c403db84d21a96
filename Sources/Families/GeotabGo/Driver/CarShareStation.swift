package import Base
package import Radio

/// Advertises a service for one vehicle's device, waits for the device, and lends the link to it.
package struct CarShareStation: Sendable {
    private let peripheral: any Peripheral
    private let description: ServiceDescription
    private let time: any Timekeeper
    private let limits: CarShareLimits
    private let states: @Sendable (CarShareSocket.State) -> Void

    /// `states` is called with each state of the socket, including the last one.
    package init(
        peripheral: any Peripheral,
        description: ServiceDescription,
        time: any Timekeeper,
        limits: CarShareLimits = CarShareLimits(),
        states: @escaping @Sendable (CarShareSocket.State) -> Void = { _ in }
    ) {
        self.peripheral = peripheral
        self.description = description
        self.time = time
        self.limits = limits
        self.states = states
    }

    /// Lends the link while `body` runs, and ends it afterwards.
    ///
    /// The service is advertised only while this runs. `deadline` is the time by which the vehicle
    /// must have subscribed.
    package func withCentral<R: Sendable>(
        before deadline: Moment? = nil,
        _ body: (any CentralLink) async -> R
    ) async throws(CarShareError) -> R {
        var socket = CarShareSocket(limits: limits)
        var action = socket.open(at: time.now, until: deadline)
        while true {
            switch action {
            case .publish, .publishAgain:
                states(socket.state)
                let round: Round<R>
                do throws(RadioError) {
                    round = try await self.round(&socket, body)
                } catch {
                    if error == .cancelled {
                        _ = socket.close()
                        states(socket.state)
                        throw CarShareError(.notSent, .radio(error))
                    }
                    action = socket.radioFailed(error.socketFault)
                    continue
                }
                switch round {
                case .visited(let result):
                    _ = socket.close()
                    states(socket.state)
                    return try result.get()
                case .next(let next): action = next
                }
            case .closed(let error):
                states(socket.state)
                throw CarShareError(
                    .notSent,
                    error.map { .socket($0) } ?? .session(.closed)
                )
            case .wait, .advertise, .opened:
                throw CarShareError(.notSent, .session(.notConnected))
            }
        }
    }

    /// The result of one round of advertising.
    private enum Round<R: Sendable>: Sendable {
        case visited(Result<R, CarShareError>)
        case next(CarShareSocket.Action)
    }

    private func round<R: Sendable>(
        _ socket: inout CarShareSocket,
        _ body: (any CentralLink) async -> R
    ) async throws(RadioError) -> Round<R> {
        try await peripheral.withService(description) {
            (service) async throws(RadioError) -> Round<R> in
            guard case .advertise(let until) = socket.published(at: time.now) else {
                return .next(socket.close())
            }
            states(socket.state)
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
                states(socket.state)
                result = .success(await body(central))
            case .closed(let error):
                result = .failure(CarShareError(.notSent, .socket(error ?? .lost)))
            case .publish, .advertise, .publishAgain, .wait:
                result = .failure(CarShareError(.notSent, .session(.notConnected)))
            }
            await central.disconnect()
            return .visited(result)
        }
    }
}
