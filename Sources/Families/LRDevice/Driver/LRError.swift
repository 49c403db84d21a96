package import Base
package import Radio

/// Why an exchange with an LR device failed.
package enum LRError: Error, Equatable, Sendable {
    case radio(RadioError)
    case request(LRRequestError)
    /// The request was sent, and no reply states its result.
    indirect case unanswered(LRCommand, LRError)
    /// A payload does not fit into one message on this link.
    case tooLong(Int, limit: Int)
    /// The device answered that it refuses the command.
    case refused(LRCommand)
    /// The device's answer is not understood.
    case value(LRCommand, String)
    /// The other side's key is invalid or weak.
    case weakKey
    /// The vehicle's secret is needed and missing.
    case noCredentials
    /// A value that the device cannot take; the text contains the reason.
    case badValue(String)
    /// The profile has no such feature; the second value is the nearest name that it has.
    case unknownFeature(String, nearest: String?)
}

extension LRError: CustomStringConvertible {
    package var failureClass: FailureClass {
        switch self {
        case .radio(let error): error.failureClass
        case .request(let error): error.failureClass
        case .unanswered: .inDoubt
        case .tooLong, .noCredentials, .badValue, .unknownFeature, .refused: .rejected
        case .value, .weakKey: .device
        }
    }

    /// Whether the device may have carried out the request although no answer arrived.
    package var leavesDoubt: Bool {
        if case .unanswered = self { return true }
        return false
    }

    package var description: String {
        switch self {
        case .radio(let error): error.description
        case .request(let error): error.description
        case .unanswered(_, let error):
            "\(error.description); it may have been done nevertheless: check before you repeat it"
        case .tooLong(let count, let limit):
            "the value takes \(count) bytes, and one message to this device carries \(limit)"
        case .refused(let command):
            "the device refused \(command); check its password and whether it is free"
        case .value(let command, let what): "the device answered \(command) with \(what)"
        case .weakKey: "the device offered a key that cannot be used; exchange keys again"
        case .noCredentials:
            "this needs the lock's key and password; give the vehicle a `secret` of KEY:PASSWORD"
        case .badValue(let why): why
        case .unknownFeature(let name, let nearest):
            "there is no feature `\(name)`" + (nearest.map { "; did you mean `\($0)`?" } ?? "")
        }
    }
}
