import Base

/// Why a property could not be read.
package enum PropertyReadError: Error, Sendable, Hashable {
    case moduleNotConnected
    /// The profile has no property of this name; `nearest` is the most similar name in it.
    case propertyNotFound(String, nearest: String?)
    case propertyWriteOnly(String)
    /// The profile has the property, and this module has no record for it.
    case missing(String)
    case module(ModuleError)
}

/// Why a property was not written.
///
/// The checks run in the order of the cases.
package enum PropertyWriteError: Error, Sendable, Hashable {
    case moduleNotConnected
    case firmwareUpdateOngoing
    case propertyNotFound(String, nearest: String?)
    case propertyNotWritable(String)
    case propertyWrongType(String, is: PropertyKind)
    case rangeOutOfBounds(String, ClosedRange<Double>)
    case invalidWriteStep(String, step: Double, from: Double)
    case unknownState(String, known: [String])
    /// The number of bytes that the property takes.
    case valueBytesInvalidSize(String, capacity: Int)
    /// More bytes of text than the property takes.
    case textTooLong(String, limit: Int)
    /// The module accepted the write, and then reported another value.
    case notTaken(String, found: PropertyValue)
    case module(ModuleError)
}

/// An error that can be shown to people: what happened, and what they can do.
package protocol Explained: Error, CustomStringConvertible {
    /// One sentence without its full stop.
    var sentence: String { get }
    /// What to do; one sentence without its full stop.
    var remedy: String { get }
}

extension Explained {
    package var description: String { "\(sentence); \(remedy)" }
}

extension PropertyReadError: Explained {
    package var sentence: String {
        switch self {
        case .moduleNotConnected: "the module is not connected"
        case .propertyNotFound(let name, _): "the module's profile has no property `\(name)`"
        case .propertyWriteOnly(let name): "`\(name)` can be written and not read"
        case .missing(let name): "this module has no value for `\(name)`"
        case .module(let error): error.description
        }
    }

    package var remedy: String {
        switch self {
        case .moduleNotConnected: "connect first, and wait until the handshake is over"
        case .propertyNotFound(_, let nearest?): "did you mean `\(nearest)`?"
        case .propertyNotFound(_, nil): "list the properties of its profile"
        case .propertyWriteOnly: "read another property that shows its effect"
        case .missing: "check that the profile is this model's"
        case .module(let error): error.remedy
        }
    }
}

extension PropertyWriteError: Explained {
    package var sentence: String {
        switch self {
        case .moduleNotConnected: return "the module is not connected"
        case .firmwareUpdateOngoing: return "the module is updating its firmware"
        case .propertyNotFound(let name, _):
            return "the module's profile has no property `\(name)`"
        case .propertyNotWritable(let name): return "`\(name)` can only be read"
        case .propertyWrongType(let name, let kind):
            let takes =
                switch kind {
                case .range: "a number"
                case .states: "a state"
                case .raw: "bytes"
                case .text: "words"
                }
            return "`\(name)` takes \(takes)"
        case .rangeOutOfBounds(let name, let limits):
            return "`\(name)` takes \(Self.text(limits.lowerBound)) to "
                + Self.text(limits.upperBound)
        case .invalidWriteStep(let name, let step, let from):
            return "`\(name)` takes steps of \(Self.text(step)) from \(Self.text(from))"
        case .unknownState(let name, _): return "`\(name)` has no such state"
        case .valueBytesInvalidSize(let name, let capacity):
            return "`\(name)` takes exactly \(counted(capacity, "byte"))"
        case .textTooLong(let name, let limit):
            return "`\(name)` takes at most \(counted(limit, "byte")) of text"
        case .notTaken(let name, let found):
            return "`\(name)` was written, and the module then reported \(found)"
        case .module(let error): return error.description
        }
    }

    package var remedy: String {
        switch self {
        case .moduleNotConnected: "connect first, and wait until the handshake is over"
        case .firmwareUpdateOngoing: "wait until the update is over"
        case .propertyNotFound(_, let nearest?): "did you mean `\(nearest)`?"
        case .propertyNotFound(_, nil): "list the properties of its profile"
        case .propertyNotWritable: "use one whose access is read-write or write-only"
        case .propertyWrongType(_, .range): "give a number without its unit"
        case .propertyWrongType(_, .states): "give one of its states"
        case .propertyWrongType(_, .text): "give words"
        case .propertyWrongType(_, .raw): "give bytes as `0x` and pairs of hex digits"
        case .rangeOutOfBounds: "give a number between the two"
        case .invalidWriteStep: "give a number that is whole steps from the lower limit"
        case .unknownState(_, let known):
            "it has " + known.map { "`\($0)`" }.joined(separator: ", ")
        case .valueBytesInvalidSize: "give exactly this many bytes"
        case .textTooLong: "write a shorter text"
        case .notTaken: "see whether the vehicle allows it now, for instance while it stands"
        case .module(let error): error.remedy
        }
    }

    /// Whether the name is valid and the value is not.
    var concernsValue: Bool {
        switch self {
        case .propertyWrongType, .rangeOutOfBounds, .invalidWriteStep, .unknownState,
            .valueBytesInvalidSize, .textTooLong:
            true
        case .moduleNotConnected, .firmwareUpdateOngoing, .propertyNotFound, .propertyNotWritable,
            .notTaken, .module:
            false
        }
    }

    private static func text(_ number: Double) -> String { PropertyValue.number(number).text }
}

extension ModuleError: Explained {
    package var sentence: String { description }

    package var remedy: String {
        switch self {
        case .radio(let error): error.remedy
        case .exchange(let fault): fault.remedy
        case .value: "check that the profile is this model's, and restart the module"
        }
    }
}

extension ExchangeFault {
    /// What a person can do about it.
    package var remedy: String {
        if secret != nil { return "check the module's secret" }
        switch subject {
        case .authentication where link != nil, .question where link != nil:
            return link == .lost
                ? "move closer and connect again"
                : "connect again, and restart the module if it stays so"
        case .transfer: return "try again, and look at the image if it stays so"
        case .authentication, .question, .entry:
            return "check that the profile is this model's, and restart the module"
        }
    }
}

extension RadioError {
    /// What a person can do about it.
    package var remedy: String {
        switch self {
        case .adapterOff: "switch Bluetooth on"
        case .adapterMissing: "plug the adapter in, or name another one"
        case .serviceUnavailable: "start the host's Bluetooth service"
        case .unauthorized: "give this user the right to use Bluetooth"
        case .noFreeLink: "end another link, or use another adapter"
        case .heldByAnother: "end the other program, or wait until it is done"
        case .bond(let failure): failure.remedy
        case .connectFailed, .linkLost, .timedOut: "move closer and try again"
        case .missingService, .missingCharacteristic:
            "check that the profile is this model's, and restart the module"
        case .servicesRefused, .att: "connect again, and restart the module if it stays so"
        case .tooLong: "report this as a fault of the program"
        case .cancelled: "try again"
        }
    }
}
