package import Base

/// A car-share message from us to the vehicle, as the body of a frame.
package enum CarShareMessage {
    /// Requests permission to send a command; the vehicle answers with a challenge.
    package static let request: [UInt8] = [0x00, 0x01, 0x00]

    /// A signed command.
    package static func secure(_ message: [UInt8]) -> [UInt8] { [0x80] + message }
}

/// Random bytes that we must sign, which proves to the vehicle that the command is new.
package struct CarShareChallenge: Equatable, Sendable {
    package static let length = 32

    /// Why bytes are not a challenge.
    package enum Fault: Error, Hashable, Sendable {
        case length(Int)
        case type(UInt8)
        case version(UInt16)
    }

    /// Thirty-two bytes.
    package let bytes: [UInt8]

    /// Reads a complete message: type 1, version 1, and the challenge.
    package init(message: [UInt8]) throws(Fault) {
        guard message.count == 3 + Self.length else { throw .length(message.count) }
        guard message[0] == 0x01 else { throw .type(message[0]) }
        let version = UInt16(message[1]) | UInt16(message[2]) << 8
        guard version == 1 else { throw .version(version) }
        bytes = Array(message[3...])
    }

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    package var message: [UInt8] { [0x01, 0x01, 0x00] + bytes }
}

/// The vehicle's answer to a signed command: accepted or refused.
package enum CarShareAcknowledgement: Equatable, Sendable {
    case accepted
    case refused(CarShareRefusal)

    /// Why bytes are not an acknowledgement.
    package enum Fault: Error, Hashable, Sendable {
        case length(Int)
        case type(UInt8)
    }

    package init(message: [UInt8]) throws(Fault) {
        guard message.count == 2 else { throw .length(message.count) }
        guard message[0] == 0x81 else { throw .type(message[0]) }
        self = message[1] == 0 ? .accepted : .refused(CarShareRefusal(rawValue: message[1]))
    }

    package var message: [UInt8] {
        switch self {
        case .accepted: [0x81, 0]
        case .refused(let refusal): [0x81, refusal.rawValue]
        }
    }
}

/// Why a vehicle refused a signed command; the manufacturer has published no list of these codes.
package struct CarShareRefusal: RawRepresentable, Error, Hashable, CustomStringConvertible {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let checksum = Self(rawValue: 1)
    package static let unknownKey = Self(rawValue: 2)
    package static let reservationSignature = Self(rawValue: 3)
    package static let commandSignature = Self(rawValue: 4)
    package static let shape = Self(rawValue: 5)
    package static let noChallenge = Self(rawValue: 6)
    package static let busy = Self(rawValue: 7)
    package static let otherVehicle = Self(rawValue: 8)
    package static let outsideReservation = Self(rawValue: 9)

    package var description: String {
        switch self {
        case .checksum: "the signed command arrived damaged"
        case .unknownKey: "the vehicle does not know the key that the token is signed with"
        case .reservationSignature: "the token's own signature is wrong"
        case .commandSignature: "the command's signature is wrong"
        case .shape: "the vehicle cannot read the signed command"
        case .noChallenge: "the vehicle's challenge is not open any more"
        case .busy: "the vehicle is busy with another command"
        case .otherVehicle: "the token is for another vehicle"
        case .outsideReservation:
            "the token's reservation does not hold now, by the vehicle's clock"
        default: "the vehicle refused the signed command with code \(rawValue)"
        }
    }
}

/// The vehicle's report on how a command ended.
package struct CarShareReport: Equatable, Sendable {
    package let isSuccess: Bool
    package let statuses: [CarShareStatus]

    package init(isSuccess: Bool, statuses: [CarShareStatus] = []) {
        self.isSuccess = isSuccess
        self.statuses = statuses
    }

    /// Reads a device message; a message without a result is a failure without a reason.
    package init(message: [UInt8]) throws(ProtobufError) {
        guard let result = try ProtobufFields(message).bytes(1) else {
            self.init(isSuccess: false)
            return
        }
        let fields = try ProtobufFields(result)
        var statuses: [CarShareStatus] = []
        for field in fields.fields where field.number == 2 {
            guard case .bytes(let record) = field.value else { continue }
            statuses.append(CarShareStatus(try ProtobufFields(record)))
        }
        self.init(isSuccess: fields.varint(1).map { $0 != 0 } ?? false, statuses: statuses)
    }

    package var message: [UInt8] {
        var result = ProtobufFields()
        if isSuccess { result.add(1, 1) }
        for status in statuses { result.add(2, status.fields.serialized) }
        var message = ProtobufFields()
        message.add(1, result.serialized)
        return message.serialized
    }
}
