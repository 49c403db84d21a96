package import Base

/// One record of a vehicle's report: an id and its value.
package struct CarShareStatus: Hashable, Sendable {
    package let id: UInt32
    package let value: UInt32
    /// The time of the vehicle's clock, when the record contains it.
    package let time: WallTime?

    package init(id: UInt32, value: UInt32, time: WallTime? = nil) {
        self.id = id
        self.value = value
        self.time = time
    }

    /// Missing numbers count as zero; of longer numbers the low 32 bits are used.
    init(_ fields: ProtobufFields) {
        id = UInt32(truncatingIfNeeded: fields.varint(1) ?? 0)
        value = UInt32(truncatingIfNeeded: fields.varint(2) ?? 0)
        time = fields.varint(3).flatMap { Int64(exactly: $0) }.map { WallTime(milliseconds: $0) }
    }

    var fields: ProtobufFields {
        var fields = ProtobufFields()
        if id != 0 { fields.add(1, UInt64(id)) }
        if value != 0 { fields.add(2, UInt64(value)) }
        if let time, time.milliseconds > 0 { fields.add(3, UInt64(time.milliseconds)) }
        return fields
    }

    /// The meaning of the status for the command.
    package enum Standing: Sendable, Hashable {
        /// Not done, and it cannot be done while nothing changes.
        case refused
        /// Not done, because the vehicle is busy with another operation.
        case busy
        /// Tried without success.
        case failed
        /// Tried, and the vehicle does not know the result.
        case unclear
    }

    package var standing: Standing {
        switch known {
        case .noPermission, .checkIn, .checkOutConditions, .endOfBooking, .ignitionIsOn,
            .reservationUnderWay:
            .refused
        case .underWay, .inhibitNotQueued: .busy
        case .timeout: .unclear
        case .inhibitFailed, .checkOutUnknown, .vehicleError, .keyfob, .inhibitFeedback,
            .enableFailed, .unknown:
            .failed
        }
    }
}

extension CarShareStatus {
    /// The known records, by their meaning.
    package enum Known: Hashable, Sendable {
        case inhibitFailed, inhibitNotQueued
        case noPermission
        case checkIn(CheckIn)
        case checkOutConditions, checkOutUnknown
        case underWay(Operation)
        case vehicleError(Operation)
        case timeout(Operation)
        case keyfob(Operation)
        case reservationUnderWay
        case inhibitFeedback, ignitionIsOn
        case enableFailed
        case endOfBooking(EndOfBooking)
        /// The id or the value is not in our tables.
        case unknown
    }

    /// The operations of doors and finder.
    package enum Operation: UInt32, CaseIterable, Hashable, Sendable {
        case lock = 3_348
        case unlockDriver = 3_349
        case unlockAll = 3_350
        case locate = 3_351
    }

    /// Why a booking cannot begin.
    package enum CheckIn: UInt32, CaseIterable, Hashable, Sendable {
        case notAuthenticated = 1
        case noTime, badTimes, otherDevice, otherSerial, noKeys, alreadyUnderWay, expired
    }

    /// Why a booking cannot end.
    package enum EndOfBooking: UInt32, CaseIterable, Hashable, Sendable {
        case noPosition = 1
        case wrongPlace, noFuelReading, lowFuel, ignitionOn
    }

    package var known: Known {
        switch (id, value) {
        case (3_334, 0): .inhibitFailed
        case (3_334, 1): .inhibitNotQueued
        case (3_344, _): .noPermission
        case (3_346, _): CheckIn(rawValue: value).map { .checkIn($0) } ?? .unknown
        case (3_347, 1): .checkOutConditions
        case (3_347, 2): .checkOutUnknown
        case (3_348...3_350, _):
            Operation(rawValue: id).map { Self.door($0, value) } ?? .unknown
        case (3_351, 1): .underWay(.locate)
        case (3_351, 2): .vehicleError(.locate)
        case (3_351, 3): .keyfob(.locate)
        case (3_351, 4): .reservationUnderWay
        case (3_352, 1): .inhibitFeedback
        case (3_352, 2): .ignitionIsOn
        case (3_353, _): .enableFailed
        case (3_355, _): EndOfBooking(rawValue: value).map { .endOfBooking($0) } ?? .unknown
        default: .unknown
        }
    }

    private static func door(_ operation: Operation, _ value: UInt32) -> Known {
        switch value {
        case 1: .underWay(operation)
        case 2: .vehicleError(operation)
        case 3: .timeout(operation)
        case 4: .keyfob(operation)
        default: .unknown
        }
    }
}

extension CarShareStatus: CustomStringConvertible {
    /// One sentence for people, without a full stop at its end.
    package var description: String {
        switch known {
        case .inhibitFailed: "the vehicle tried to inhibit the ignition and failed"
        case .inhibitNotQueued: "the vehicle could not take on inhibiting the ignition"
        case .noPermission: "the token does not permit this"
        case .checkIn(let reason): "\(CarShareCommand.checkIn.rawValue): \(reason.sentence)"
        case .checkOutConditions: "check-out: the conditions for ending the booking are not met"
        case .checkOutUnknown: "check-out: the vehicle failed and does not say why"
        case .underWay(let operation):
            "\(operation.words): the vehicle is still busy with another operation"
        case .vehicleError(let operation): "\(operation.words): the vehicle reports an error"
        case .timeout(let operation):
            "\(operation.words): the vehicle gave up waiting, so it may have happened"
        case .keyfob(let operation): "\(operation.words): the vehicle's built-in key failed"
        case .reservationUnderWay: "\(CarShareCommand.locate.rawValue): a reservation is under way"
        case .inhibitFeedback: "inhibiting the ignition: the vehicle reports an error"
        case .ignitionIsOn: "inhibiting the ignition: the ignition is on"
        case .enableFailed: "enabling the ignition failed (value \(value))"
        case .endOfBooking(let reason): "end of booking: \(reason.sentence)"
        case .unknown: "the vehicle reports an unknown status: number \(id), value \(value)"
        }
    }
}

extension CarShareStatus.Operation {
    fileprivate var command: CarShareCommand {
        switch self {
        case .lock: .lock
        case .unlockDriver: .unlockDriver
        case .unlockAll: .unlockAll
        case .locate: .locate
        }
    }

    fileprivate var words: String { command.rawValue }
}

extension CarShareStatus.CheckIn {
    fileprivate var sentence: String {
        switch self {
        case .notAuthenticated: "the vehicle could not authenticate the token"
        case .noTime: "the vehicle's clock is not set"
        case .badTimes: "the token's start and end make no sense to the vehicle"
        case .otherDevice: "the token is for another device"
        case .otherSerial: "the token is for a device with another serial number"
        case .noKeys: "the vehicle holds no keys to check tokens with"
        case .alreadyUnderWay: "a reservation is already under way"
        case .expired: "the reservation has expired, by the vehicle's clock"
        }
    }
}

extension CarShareStatus.EndOfBooking {
    fileprivate var sentence: String {
        switch self {
        case .noPosition: "the vehicle does not know where it is"
        case .wrongPlace: "the vehicle is not where the booking must end"
        case .noFuelReading: "the vehicle does not know how much fuel it has"
        case .lowFuel: "there is too little fuel"
        case .ignitionOn: "the ignition is on"
        }
    }
}
