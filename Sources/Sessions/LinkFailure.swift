package import Domain

/// Why an exchange over a link came to nothing, as far as a session needs to know.
///
/// What concerns the adapter or the host is not the module's doing and never reaches a session.
package enum LinkFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The link was there and is not any more.
    case lost
    /// The link holds, but nothing came in time.
    case timedOut
    /// The module answered with an ATT error code.
    case refused(code: UInt8)
    /// The module lacks a characteristic; right after an update it may just not have it yet.
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
