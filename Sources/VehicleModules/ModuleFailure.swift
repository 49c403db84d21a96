import Base
import Families
import Radio

/// A failure, with a code for programs and sentences for people.
public struct ModuleFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The codes do not change between versions.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The task was cancelled, or another call took over.
        case aborted
        /// The host's Bluetooth is off, or its service (BlueZ) does not answer.
        case bluetoothDisabled = "bluetooth-disabled"
        /// The host has no such adapter.
        case bluetoothNotSupported = "bluetooth-not-supported"
        /// A bond with the module could not be made.
        case bondingError = "bonding-error"
        /// The secret is no valid key, or not this module's.
        case invalidPrivateKey = "invalid-private-key"
        /// The module is of another model, or was just updated.
        case missingCharacteristic = "missing-characteristic"
        /// The module is of another model, or was just updated.
        case missingService = "missing-service"
        /// This user may not use Bluetooth.
        case missingPermissions = "missing-permissions"
        /// The image of an available update could not be fetched.
        case networkError = "network-error"
        /// The sentence names what took too long.
        case timedOut = "timed-out"
        /// There is no link to the module.
        case moduleNotConnected = "module-not-connected"
        /// Nothing else can be done while the module is updated.
        case firmwareUpdateOngoing = "firmware-update-ongoing"
        /// The module's profile has no property, or no feature, of this name.
        case propertyNotFound = "property-not-found"
        /// The property can only be written.
        case propertyNotReadable = "property-not-readable"
        /// The property can only be read.
        case propertyNotWritable = "property-not-writable"
        /// The value, or the property, is of another kind.
        case propertyWrongType = "property-wrong-type"
        /// The profile has the property, and this module does not.
        case propertyMissing = "property-missing"
        /// The number is outside the limits of what may be written.
        case rangeOutOfBounds = "range-out-of-bounds"
        /// The number is between two steps.
        case invalidWriteStep = "invalid-write-step"
        /// The property has no such state.
        case unknownState = "unknown-state"
        /// The property has another number of bytes.
        case valueBytesInvalidSize = "value-bytes-invalid-size"
        /// The module accepted the value and then reported another one.
        case notTaken = "not-taken"
        /// The text is no serial.
        case invalidSerial = "invalid-serial"
        /// A depot, a profile, or another file cannot be used.
        case invalidFile = "invalid-file"
        /// The given value cannot be sent to the module.
        case invalidValue = "invalid-value"
        /// The module refused the request.
        case refused
        /// The request was sent, and it is unknown whether the module carried it out.
        case inDoubt = "in-doubt"
        /// The file is no image, is damaged, or is not the expected one.
        case invalidImage = "invalid-image"
        /// The module must not get the image.
        case updateRejected = "update-rejected"
        /// Links were lost too often; the same update can be continued.
        case updateInterrupted = "update-interrupted"
        /// The module has the whole image, and did not come back in time.
        case noReturn = "no-return"
        /// The module came back with another version than that of the image.
        case wrongVersion = "wrong-version"
        /// The module ran the new version and went back to the old one.
        case rolledBack = "rolled-back"
        /// The record of the update could not be stored, so nothing more was done.
        case recordNotKept = "record-not-kept"
        /// The token is valid for no vehicle, or not at this time.
        case invalidToken = "invalid-token"
        /// The token is for another vehicle.
        case otherVehicle = "other-vehicle"
        /// The vehicle tried, and did not succeed; if there were several commands, some may be
        /// done.
        case commandFailed = "command-failed"
        /// The sentence describes what happened.
        case unexpected
    }

    /// What happened, for programs.
    public let code: Code
    /// One sentence without its full stop.
    public let sentence: String
    /// What to do about it.
    public let remedy: String
    /// What a vehicle reports about a command that it did not carry out.
    public internal(set) var statuses: [VehicleStatus] = []

    /// The sentence and the remedy.
    public var description: String { "\(sentence); \(remedy)" }

    init(_ code: Code, _ sentence: String, _ remedy: String) {
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }

    private init(_ code: Code, _ error: some Explained) {
        self.init(code, error.sentence, error.remedy)
    }

    init(_ error: DiscoveryProblem) {
        let code: Code =
            switch error {
            case .bluetoothDisabled, .bluetoothUnavailable: .bluetoothDisabled
            case .bluetoothNotSupported: .bluetoothNotSupported
            case .missingPermission: .missingPermissions
            case .unexpected(.cancelled): .aborted
            case .unexpected: .unexpected
            }
        self.init(code, error)
    }

    init(_ error: PropertyReadError) {
        let code: Code =
            switch error {
            case .moduleNotConnected: .moduleNotConnected
            case .propertyNotFound: .propertyNotFound
            case .propertyWriteOnly: .propertyNotReadable
            case .missing: .propertyMissing
            case .module: .unexpected
            }
        self.init(code, error)
    }

    init(_ error: PropertyWriteError) {
        let code: Code =
            switch error {
            case .moduleNotConnected: .moduleNotConnected
            case .firmwareUpdateOngoing: .firmwareUpdateOngoing
            case .propertyNotFound: .propertyNotFound
            case .propertyNotWritable: .propertyNotWritable
            case .propertyWrongType: .propertyWrongType
            case .rangeOutOfBounds: .rangeOutOfBounds
            case .invalidWriteStep: .invalidWriteStep
            case .unknownState: .unknownState
            case .valueBytesInvalidSize, .textTooLong: .valueBytesInvalidSize
            case .notTaken: .notTaken
            case .module: .unexpected
            }
        self.init(code, error)
    }
}

extension ModuleFailure {
    init(_ error: LRError) {
        if case .radio(let radio) = error {
            self.init(radio, error.description)
            return
        }
        let (code, remedy): (Code, String) =
            switch error {
            case .request: (.timedOut, "move closer and try again")
            case .unanswered: (.inDoubt, "look at the lock before it is asked again")
            case .tooLong, .badValue: (.invalidValue, "give it what it takes")
            case .refused: (.refused, "check the lock's secret and whether it is free")
            case .noCredentials: (.invalidPrivateKey, "connect with the lock's secret")
            case .unknownFeature: (.propertyNotFound, "connect again")
            case .radio, .value, .weakKey: (.unexpected, "connect again")
            }
        self.init(code, error.description, remedy)
    }

    init(_ radio: RadioError, _ sentence: String) {
        let code: Code =
            switch radio {
            case .adapterOff, .serviceUnavailable: .bluetoothDisabled
            case .adapterMissing: .bluetoothNotSupported
            case .unauthorized: .missingPermissions
            case .bond: .bondingError
            case .missingService: .missingService
            case .missingCharacteristic: .missingCharacteristic
            case .cancelled: .aborted
            case .timedOut: .timedOut
            case .linkLost: .moduleNotConnected
            case .tooLong: .invalidValue
            case .noFreeLink, .heldByAnother, .connectFailed, .servicesRefused, .att: .unexpected
            }
        var remedy = "see whether it is near, charged, and not connected to a phone"
        if case .bond(let failure) = radio { remedy = failure.remedy }
        self.init(code, sentence, remedy)
    }
}
