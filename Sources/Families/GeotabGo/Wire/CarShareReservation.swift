package import Base

/// The part of a token that the vehicle reads: who may do what with which vehicle, and when.
package struct CarShareReservation: Equatable, Sendable {
    /// The modulus of the reservation's public key, with its leading zero.
    package var modulus: [UInt8] = []
    package var keyExpiry: UInt64 = 0
    package var reservationID = ""
    package var hardwareID: UInt64 = 0
    package var accountID = ""
    package var permissions: UInt32 = 0
    package var start: UInt64 = 0
    package var end: UInt64 = 0
    package var graceSeconds: UInt32 = 0
    package var secureSeconds: UInt32 = 0
    package var endOfBooking: EndOfBooking?
    package var privileges: UInt32 = 0
    package var serial = ""

    package init() {}

    /// The conditions for ending a booking.
    package struct EndOfBooking: Equatable, Sendable {
        /// Bits of `SecureCondition`: windows up, sunroof closed, and so on.
        package var secureConditions: UInt32 = 0
        package var latitude: Float?
        package var longitude: Float?
        package var homeRadius: UInt32 = 0
        package var leastFuel: Float = 0
        /// Bits of `Condition`.
        package var conditions: UInt32 = 0

        package init() {}
    }

    package init(_ bytes: [UInt8]) throws(ProtobufError) {
        let fields = try ProtobufFields(bytes)
        modulus = fields.bytes(1) ?? []
        keyExpiry = fields.varint(2) ?? 0
        reservationID = Self.name(fields, 3)
        hardwareID = fields.varint(4) ?? 0
        if let bytes = fields.bytes(5) {
            let account = try ProtobufFields(bytes)
            accountID = Self.name(account, 1)
            if let bytes = account.bytes(2) {
                permissions = try ProtobufFields(bytes).fixed32(1) ?? 0
            }
        }
        start = fields.varint(6) ?? 0
        end = fields.varint(7) ?? 0
        graceSeconds = UInt32(clamping: fields.varint(8) ?? 0)
        secureSeconds = UInt32(clamping: fields.varint(9) ?? 0)
        if let bytes = fields.bytes(10) { endOfBooking = try EndOfBooking(bytes) }
        if let bytes = fields.bytes(12) {
            privileges = try ProtobufFields(bytes).fixed32(1) ?? 0
        }
        serial = Self.name(fields, 13)
    }

    /// Reads a text; older tokens contain raw bytes or a number instead.
    private static func name(_ fields: ProtobufFields, _ number: UInt32) -> String {
        if let bytes = fields.bytes(number) {
            let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            return isText
                ? String(validating: bytes, as: UTF8.self) ?? Hex.text(bytes)
                : Hex.text(bytes)
        }
        return fields.varint(number).map { String($0) } ?? ""
    }

    package var serialized: [UInt8] {
        func nested(_ value: UInt32) -> [UInt8] {
            var fields = ProtobufFields()
            if value != 0 { fields.add(1, fixed: value) }
            return fields.serialized
        }
        var account = ProtobufFields()
        if !accountID.isEmpty { account.add(1, Array(accountID.utf8)) }
        account.add(2, nested(permissions))
        var fields = ProtobufFields()
        fields.add(1, modulus)
        fields.add(2, keyExpiry)
        fields.add(3, Array(reservationID.utf8))
        fields.add(4, hardwareID)
        fields.add(5, account.serialized)
        fields.add(6, start)
        fields.add(7, end)
        if graceSeconds != 0 { fields.add(8, UInt64(graceSeconds)) }
        if secureSeconds != 0 { fields.add(9, UInt64(secureSeconds)) }
        if let endOfBooking { fields.add(10, endOfBooking.serialized) }
        if privileges != 0 { fields.add(12, nested(privileges)) }
        if !serial.isEmpty { fields.add(13, Array(serial.utf8)) }
        return fields.serialized
    }
}

extension CarShareReservation.EndOfBooking {
    init(_ bytes: [UInt8]) throws(ProtobufError) {
        let fields = try ProtobufFields(bytes)
        if let bytes = fields.bytes(1) {
            secureConditions = try ProtobufFields(bytes).fixed32(1) ?? 0
        }
        if let bytes = fields.bytes(2) {
            let point = try ProtobufFields(bytes)
            latitude = Float(bitPattern: point.fixed32(1) ?? 0)
            longitude = Float(bitPattern: point.fixed32(2) ?? 0)
        }
        homeRadius = UInt32(clamping: fields.varint(3) ?? 0)
        leastFuel = Float(bitPattern: fields.fixed32(4) ?? 0)
        conditions = fields.fixed32(5) ?? 0
    }

    fileprivate var serialized: [UInt8] {
        var fields = ProtobufFields()
        if secureConditions != 0 {
            var flags = ProtobufFields()
            flags.add(1, fixed: secureConditions)
            fields.add(1, flags.serialized)
        }
        if let latitude, let longitude {
            var point = ProtobufFields()
            point.add(1, fixed: latitude.bitPattern)
            point.add(2, fixed: longitude.bitPattern)
            fields.add(2, point.serialized)
        }
        if homeRadius != 0 { fields.add(3, UInt64(homeRadius)) }
        if leastFuel != 0 { fields.add(4, fixed: leastFuel.bitPattern) }
        if conditions != 0 { fields.add(5, fixed: conditions) }
        return fields.serialized
    }

    /// The bits of `conditions`.
    package enum Condition: UInt32, CaseIterable, Sendable {
        case ignitionOff = 1
        case home = 2
        case fuel = 4
    }

    /// The bits of `secureConditions`.
    package enum SecureCondition: UInt32, CaseIterable, Sendable {
        case windowsUp = 1
        case sunroofClosed = 2
        case convertibleClosed = 4
        case doorsClosed = 8
        case ignitionOff = 16
        case lightsOff = 32
    }
}

/// The permissions that a token can contain: the bits of the commands, and further ones.
package enum CarSharePermission: UInt32, CaseIterable, Sendable {
    case lock = 1
    case unlockDriver = 2
    case unlockAll = 4
    case openTrunk = 8
    case closeTrunk = 16
    case locate = 32
    case ignitionInhibit = 64
    case ignitionEnable = 128
    case panicOn = 256
    case panicOff = 512
    case checkIn = 1_024
    case checkOut = 2_048
    case connect = 4_096
    case disconnect = 8_192
    case observe = 16_384
    case createReservation = 32_768
    case readReservation = 65_536
    case modifyReservation = 131_072
    case deleteReservation = 262_144
    case serviceMode = 524_288
    case blacklistUser = 1_048_576
    case remoteStart = 2_097_152
    case secureConditionsCheck = 4_194_304

    package var word: String {
        switch self {
        case .lock: CarShareCommand.lock.rawValue
        case .unlockDriver: CarShareCommand.unlockDriver.rawValue
        case .unlockAll: CarShareCommand.unlockAll.rawValue
        case .openTrunk: CarShareCommand.openTrunk.rawValue
        case .closeTrunk: CarShareCommand.closeTrunk.rawValue
        case .locate: CarShareCommand.locate.rawValue
        case .ignitionInhibit: CarShareCommand.ignitionInhibit.rawValue
        case .ignitionEnable: CarShareCommand.ignitionEnable.rawValue
        case .panicOn: "panic-on"
        case .panicOff: "panic-off"
        case .checkIn: CarShareCommand.checkIn.rawValue
        case .checkOut: CarShareCommand.checkOut.rawValue
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .observe: "observe"
        case .createReservation: "create-reservation"
        case .readReservation: "read-reservation"
        case .modifyReservation: "modify-reservation"
        case .deleteReservation: "delete-reservation"
        case .serviceMode: "service-mode"
        case .blacklistUser: "blacklist-user"
        case .remoteStart: "remote-start"
        case .secureConditionsCheck: CarShareCommand.secureConditionsCheck.rawValue
        }
    }

    /// The words of all bits; unknown bits follow as one number.
    package static func words(of bits: UInt32) -> [String] {
        let known = allCases.filter { bits & $0.rawValue != 0 }
        let rest = bits & ~known.reduce(0) { $0 | $1.rawValue }
        return known.map(\.word) + (rest == 0 ? [] : ["0x" + String(rest, radix: 16)])
    }
}
