package import Base
package import Radio

/// A vehicle's GO device with its token: we advertise the device's service, and it connects to us.
package struct CarShareVehicle: Sendable {
    private let peripheral: any Peripheral
    private let credentials: CarShareCredentials
    private let bond: BondPolicy
    private let time: any Timekeeper
    private let limits: CarShareLimits
    private let notes: @Sendable (CarShareNote) -> Void
    private let states: @Sendable (CarShareSocket.State) -> Void
    private let phases: @Sendable (CarSharePhase) -> Void

    /// Without `limits`, the limits of the vehicle's profile are used.
    ///
    /// `notes` is called for everything that was skipped, `states` for each state of the device's
    /// connection, and `phases` for each phase of the link.
    package init(
        peripheral: any Peripheral,
        credentials: CarShareCredentials,
        bond: BondPolicy = .unbonded,
        time: any Timekeeper,
        limits: CarShareLimits? = nil,
        notes: @escaping @Sendable (CarShareNote) -> Void = { _ in },
        states: @escaping @Sendable (CarShareSocket.State) -> Void = { _ in },
        phases: @escaping @Sendable (CarSharePhase) -> Void = { _ in }
    ) {
        self.peripheral = peripheral
        self.credentials = credentials
        self.bond = bond
        self.time = time
        self.limits = limits ?? credentials.limits
        self.notes = notes
        self.states = states
        self.phases = phases
    }

    /// Sends commands in one request, on a link of their own.
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

    /// Waits for the vehicle, does the handshake and lends the link while `body` runs.
    ///
    /// The service is advertised only while this runs. `deadline` applies to the connection and the
    /// handshake of the vehicle; the operations of `body` have their own limits.
    package func withLink<R: Sendable>(
        before deadline: Moment? = nil,
        _ body: (CarShareLink) async -> R
    ) async throws(CarShareError) -> R {
        if let fault = credentials.token.faults(at: time.wallTime).first {
            throw CarShareError(.notSent, .token(fault))
        }
        let station = CarShareStation(
            peripheral: peripheral,
            description: ServiceDescription(
                uuid: credentials.service,
                notify: credentials.notify,
                write: credentials.write,
                bond: bond
            ),
            time: time,
            limits: limits,
            states: states
        )
        return try await station.withCentral(before: deadline) { central in
            await visit(central, before: deadline, body)
        }.get()
    }

    private func visit<R: Sendable>(
        _ central: any CentralLink,
        before deadline: Moment?,
        _ body: (CarShareLink) async -> R
    ) async -> Result<R, CarShareError> {
        let link = CarShareLink(
            link: central,
            credentials: credentials,
            isProven: bond.pairing.isAuthenticated,
            time: time,
            limits: limits,
            notes: notes,
            phases: phases
        )
        do throws(CarShareError) {
            let last = time.now.advanced(
                by: limits.handshake + limits.identification + limits.piece
            )
            try await link.open(before: deadline.map { min($0, last) } ?? last)
        } catch {
            return .failure(error)
        }
        let value = await body(link)
        return .success(value)
    }
}
