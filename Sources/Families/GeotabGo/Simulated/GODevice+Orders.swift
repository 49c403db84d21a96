import Base
import Simulation

/// A signed command that a GO device has verified.
struct GOOrder {
    let bits: UInt32
    let reservation: CarShareReservation
}

/// Handling of a signed command: verify it, then carry it out.
extension GODevice {
    private static let signatureLength = 256

    /// Verifies a command without accepting it, to measure the cost.
    package func rehearse(_ bytes: [UInt8], _ challenge: CarShareChallenge) {
        _ = judge(bytes, challenge.bytes)
    }

    func judge(_ bytes: [UInt8], _ challenge: [UInt8]?) -> Result<GOOrder, CarShareRefusal> {
        let message: CarShareDeviceMessage
        do throws(CarShareDeviceMessage.Fault) {
            message = try CarShareDeviceMessage(bytes, signatureLength: Self.signatureLength)
        } catch {
            return .failure(error == .checksum ? .checksum : .shape)
        }
        guard let reservation = try? CarShareReservation(message.reservation),
            let bits = try? CarShareCommands.bits(of: message.command)
        else { return .failure(.shape) }
        let order = GOOrder(bits: bits, reservation: reservation)
        let isCheckIn = bits & CarShareCommand.checkIn.bit != 0
        // Without keys nothing can be verified. A check-in is answered nevertheless, with a status
        // of its own in the result.
        if !hasKeys, isCheckIn { return .success(order) }
        guard let tenant = tenant(hash: message.tenantHash) else { return .failure(.unknownKey) }
        guard tenant.verifies(message.reservationSignature, of: message.reservation) else {
            return .failure(.reservationSignature)
        }
        guard let key = RSAPublicKey(modulus: reservation.modulus),
            SHA256.digest(of: key.modulus).bytes.starts(with: message.reservationHash)
        else { return .failure(.unknownKey) }
        guard let challenge else { return .failure(.noChallenge) }
        guard key.verifies(message.commandSignature, of: message.command + challenge) else {
            return .failure(.commandSignature)
        }
        // For a check-in, the result states what is wrong with the booking.
        if isCheckIn { return .success(order) }
        guard reservation.hardwareID == UInt64(plan.hardwareID), isOwnSerial(reservation) else {
            return .failure(.otherVehicle)
        }
        guard holds(reservation) else { return .failure(.outsideReservation) }
        return .success(order)
    }

    private func isOwnSerial(_ reservation: CarShareReservation) -> Bool {
        reservation.serial.isEmpty || reservation.serial.lowercased() == plan.serial.text
    }

    /// Whether the reservation covers the present time, including its grace period.
    private func holds(_ reservation: CarShareReservation) -> Bool {
        guard let now = clock, let start = CarShareTime(reservation.start),
            let end = CarShareTime(reservation.end)
        else { return false }
        let grace = Duration.seconds(Int64(reservation.graceSeconds))
        let last = end.wallTime.advanced(by: grace)
        let expiry = CarShareTime(reservation.keyExpiry)?.wallTime ?? last
        return start.wallTime <= now && now <= min(last, expiry)
    }

    // MARK: Carrying out

    func execute(_ order: GOOrder) -> CarShareReport {
        let known = CarShareCommand.allCases.reduce(0) { $0 | $1.bit }
        guard order.bits & ~order.reservation.permissions == 0 else {
            return failure(3_344, order.bits & ~order.reservation.permissions)
        }
        guard
            let commands = CarShareCommands(
                CarShareCommand.allCases.filter { order.bits & $0.bit != 0 }
            ), order.bits & ~known == 0
        else {
            return CarShareReport(isSuccess: false)
        }
        var statuses: [CarShareStatus] = []
        var isSuccess = true
        // A check-in comes before the other commands of a request, and the end of a booking after
        // them.
        let sent =
            commands.list.filter { $0 == .checkIn }
            + commands.list.filter { $0 != .checkIn && $0 != .checkOut }
            + commands.list.filter { $0 == .checkOut }
        for command in sent {
            let found = perform(command, order.reservation)
            isSuccess = isSuccess && found == nil
            statuses += found ?? []
        }
        if isSuccess {
            executed.append(commands)
            world.note("\(plan.serial) \(commands)")
        }
        return CarShareReport(isSuccess: isSuccess, statuses: statuses)
    }

    private func failure(_ id: UInt32, _ value: UInt32) -> CarShareReport {
        CarShareReport(isSuccess: false, statuses: [status(id, value)])
    }

    private func status(_ id: UInt32, _ value: UInt32) -> CarShareStatus {
        CarShareStatus(id: id, value: value, time: clock)
    }

    /// Performs a command; nil when done, otherwise the reasons, of which there may be none.
    private func perform(
        _ command: CarShareCommand,
        _ reservation: CarShareReservation
    ) -> [CarShareStatus]? {
        switch command {
        case .lock: vehicle.isLocked = true
        case .unlockDriver, .unlockAll: vehicle.isLocked = false
        case .openTrunk: vehicle.isTrunkOpen = true
        case .closeTrunk: vehicle.isTrunkOpen = false
        case .locate: break
        case .ignitionInhibit:
            if vehicle.isIgnitionOn { return [status(3_352, 2)] }
            vehicle.isInhibited = true
        case .ignitionEnable: vehicle.isInhibited = false
        case .checkIn:
            if let reason = obstacle(to: reservation) { return [status(3_346, reason)] }
            vehicle.reservation = reservation.reservationID
        case .checkOut:
            guard vehicle.reservation != nil else { return [status(3_347, 2)] }
            let open = openConditions(of: reservation)
            guard open.isEmpty else {
                return [status(3_347, 1)] + open.map { status(3_355, $0.rawValue) }
            }
            vehicle.reservation = nil
        case .secureConditionsCheck:
            let wanted = reservation.endOfBooking?.secureConditions ?? 0
            let ignition = CarShareReservation.EndOfBooking.SecureCondition.ignitionOff.rawValue
            if wanted & ignition != 0, vehicle.isIgnitionOn {
                return [status(3_355, CarShareStatus.EndOfBooking.ignitionOn.rawValue)]
            }
            // The manufacturer defines no status for the other commands.
            if wanted & ~vehicle.secureConditions != 0 { return [] }
        }
        return nil
    }

    /// The number of the reason why a booking cannot begin; nil when it can.
    private func obstacle(to reservation: CarShareReservation) -> UInt32? {
        typealias Reason = CarShareStatus.CheckIn
        let reason: Reason? =
            if !hasKeys {
                .noKeys
            } else if reservation.hardwareID != UInt64(plan.hardwareID) {
                .otherDevice
            } else if !isOwnSerial(reservation) {
                .otherSerial
            } else if let now = clock {
                timeObstacle(to: reservation, at: now)
            } else {
                .noTime
            }
        if let reason { return reason.rawValue }
        let mayOverride = reservation.privileges & 2 != 0
        return vehicle.reservation != nil && !mayOverride ? Reason.alreadyUnderWay.rawValue : nil
    }

    private func timeObstacle(
        to reservation: CarShareReservation,
        at now: WallTime
    ) -> CarShareStatus.CheckIn? {
        guard let start = CarShareTime(reservation.start),
            let end = CarShareTime(reservation.end), start.wallTime <= end.wallTime,
            start.wallTime <= now
        else { return .badTimes }
        return holds(reservation) ? nil : .expired
    }

    /// The conditions that must still be met before the booking can end.
    private func openConditions(
        of reservation: CarShareReservation
    ) -> [CarShareStatus.EndOfBooking] {
        guard let wanted = reservation.endOfBooking else { return [] }
        typealias Condition = CarShareReservation.EndOfBooking.Condition
        var open: [CarShareStatus.EndOfBooking] = []
        if wanted.conditions & Condition.home.rawValue != 0, let latitude = wanted.latitude,
            let longitude = wanted.longitude
        {
            let home = GOPlan.Position(latitude: latitude, longitude: longitude)
            if let position = vehicle.position {
                if position.metres(to: home) > Double(wanted.homeRadius) {
                    open.append(.wrongPlace)
                }
            } else {
                open.append(.noPosition)
            }
        }
        if wanted.conditions & Condition.fuel.rawValue != 0 {
            if let fuel = vehicle.fuel {
                if fuel <= wanted.leastFuel { open.append(.lowFuel) }
            } else {
                open.append(.noFuelReading)
            }
        }
        if wanted.conditions & Condition.ignitionOff.rawValue != 0, vehicle.isIgnitionOn {
            open.append(.ignitionOn)
        }
        return open
    }
}

extension GOPlan.Position {
    /// The distance on a flat map, which is exact enough for a car park.
    ///
    /// The length of a degree of longitude away from the equator is a series that is exact to one
    /// percent.
    fileprivate func metres(to other: Self) -> Double {
        let metresPerDegree = 111_195.0
        let phi = Double(latitude) * 0.017_453_292_519_943_295
        let shrinking = 1 - phi * phi / 2 + phi * phi * phi * phi / 24
        let north = (Double(latitude) - Double(other.latitude)) * metresPerDegree
        let east = (Double(longitude) - Double(other.longitude)) * metresPerDegree * shrinking
        return (north * north + east * east).squareRoot()
    }
}
