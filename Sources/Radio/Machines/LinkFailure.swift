package import Base

/// Why an exchange over a link failed, as far as a session needs to know.
///
/// Faults of the adapter or the host are not the module's and never reach a session.
package enum LinkFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The link was lost.
    case lost
    /// The link holds, but no answer arrived in time.
    case timedOut
    /// The module answered with an ATT error code.
    case refused(code: UInt8)
    /// The module lacks a characteristic; right after an update it may not have the characteristic
    /// yet.
    case missing(String)

    package var failureClass: FailureClass {
        switch self {
        case .lost, .timedOut: .transient
        case .refused, .missing: .device
        }
    }

    package var description: String {
        switch self {
        case .lost: "the link was lost"
        case .timedOut: "no answer in time"
        case .refused(let code): "the module refused with ATT error 0x\(Hex.text([code]))"
        case .missing(let name): "the module has no characteristic \(name)"
        }
    }
}
