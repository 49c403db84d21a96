import Base
import Families

/// The right to send commands to one vehicle's GO device: a reservation and its key, never printed.
public struct VehicleToken: Sendable, CustomStringConvertible {
    let credentials: CarShareCredentials

    /// Reads the Base64 text of a token; throws for one that no vehicle could accept.
    public init(_ text: String) throws(ModuleFailure) {
        do throws(CarShareCredentialsError) {
            credentials = try CarShareCredentials(text: Secret(Array(text.utf8)))
        } catch {
            throw ModuleFailure(
                .invalidToken,
                "the token cannot be used: \(error)",
                "get another one from its issuer"
            )
        }
    }

    /// The serial of the GO device that it is for; nil when the token names none.
    public var serial: String? {
        let serial = credentials.token.reservation.serial
        return serial.isEmpty ? nil : serial
    }

    /// The number of the device that it is for.
    public var hardwareID: UInt64 { credentials.token.reservation.hardwareID }

    /// When the vehicle accepts it, in seconds since 1970; nil when its start or its end is unknown, or
    /// when its end comes first.
    public var seconds: ClosedRange<Int64>? {
        let token = credentials.token
        guard let start = token.start?.wallTime, let end = token.lastMoment, start <= end else {
            return nil
        }
        return start.milliseconds / 1_000...end.milliseconds / 1_000
    }

    /// What it permits: raw values of `VehicleCommand`, and words for other rights, such as `connect`.
    public var permissions: [String] {
        CarSharePermission.words(of: credentials.token.reservation.permissions)
    }

    /// Unusual facts about it; the vehicle decides.
    public var warnings: [String] { credentials.warnings.map(\.description) }

    /// Always `<token>`, in a debugger too.
    public var description: String { "<token>" }

    /// Throws when the token is for another vehicle.
    func check(serial: String?, hardwareID: UInt64?) throws(ModuleFailure) {
        let cause: String
        if let serial, let named = self.serial, Serial(named) != Serial(serial) {
            cause = "for the GO device \(named.visible), not \(serial.visible.prefix(64))"
        } else if let hardwareID, hardwareID != self.hardwareID {
            cause = "for the hardware id \(self.hardwareID), not \(hardwareID)"
        } else {
            return
        }
        throw ModuleFailure(.otherVehicle, "the token is \(cause)", "give the vehicle its own")
    }
}

/// A command to a vehicle; its raw value is the word in manifests and tokens.
public enum VehicleCommand: Sendable, Hashable, CaseIterable, RawRepresentable {
    /// Locks all doors.
    case lock
    /// Unlocks the driver's door.
    case unlockDriver
    /// Unlocks all doors.
    case unlockAll
    /// Opens the trunk.
    case openTrunk
    /// Closes the trunk.
    case closeTrunk
    /// Gives signals of light and sound, to be found.
    case locate
    /// Keeps the vehicle from being started.
    case ignitionInhibit
    /// Lets the vehicle be started.
    case ignitionEnable
    /// Begins a booking.
    case checkIn
    /// Ends a booking.
    case checkOut
    /// Asks whether windows, doors and lights are as they should be.
    case secureConditionsCheck

    /// The command of this word, such as `unlock-all`.
    public init?(rawValue: String) {
        guard let command = Self.allCases.first(where: { $0.rawValue == rawValue }) else {
            return nil
        }
        self = command
    }

    /// Its word, such as `unlock-all`.
    public var rawValue: String { command.rawValue }

    var command: CarShareCommand {
        switch self {
        case .lock: .lock
        case .unlockDriver: .unlockDriver
        case .unlockAll: .unlockAll
        case .openTrunk: .openTrunk
        case .closeTrunk: .closeTrunk
        case .locate: .locate
        case .ignitionInhibit: .ignitionInhibit
        case .ignitionEnable: .ignitionEnable
        case .checkIn: .checkIn
        case .checkOut: .checkOut
        case .secureConditionsCheck: .secureConditionsCheck
        }
    }
}

/// One record of a vehicle's report about a command.
public struct VehicleStatus: Sendable, Hashable, CustomStringConvertible {
    /// What is reported, by the number of the vehicle's maker.
    public let id: UInt32
    /// The reported value.
    public let value: UInt32
    /// The meaning of the record, as one sentence without its full stop.
    public let description: String

    init(_ status: CarShareStatus) {
        id = status.id
        value = status.value
        description = status.description
    }
}
