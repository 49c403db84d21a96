import Domain
import Journal
import Modules
import Radio

/// What ends an attempt before its last step.
enum Halt: Error {
    /// A verdict on the vehicle: nothing more is to be done.
    case verdict(Outcome, FailureClass?, String)
    /// The attempt failed; its class says whether another one makes sense.
    case failure(FailureClass, String)
    /// The host's radio is not there: not the vehicle's fault.
    case host(RadioError)
    /// The run is to end, and this is a safe point.
    case stopped
    /// The journal cannot be written: nothing may be done any more.
    case journal(JournalError)
}

extension Halt {
    init(_ error: RadioError, _ doing: String) {
        self = error.isHostFault ? .host(error) : .failure(error.failureClass, "\(doing): \(error)")
    }

    init(_ error: ModuleError, _ doing: String) {
        if case .radio(let radio) = error {
            self.init(radio, doing)
        } else {
            self = .failure(error.failureClass, "\(doing): \(error)")
        }
    }
}
