import Base
import Radio
import Store

/// What ends an attempt before its last step.
enum Halt: Error {
    /// A verdict on the vehicle: nothing more is to be done.
    case verdict(Outcome, FailureClass?, String)
    /// The attempt failed; its class says whether another one makes sense.
    case failure(FailureClass, String)
    /// The host's radio is not available: not the vehicle's fault.
    case host(RadioError)
    /// A service that the host needs does not answer: not the vehicle's fault either.
    case elsewhere(String)
    /// The run is to end, and this is a safe point.
    case stopped
    /// Everything that was owed to the vehicle is done, and there is nothing else to do.
    case paid
    /// The journal cannot be written: no further act is allowed.
    case journal(JournalError)
}

extension Halt {
    /// Whether it stays valid when the right to the module ends at the same moment.
    var isFinal: Bool {
        switch self {
        case .verdict, .paid, .journal: true
        case .failure, .host, .elsewhere, .stopped: false
        }
    }

    /// Whether the cause is this host and not the vehicle.
    var isHosts: Bool {
        switch self {
        case .host, .elsewhere: true
        case .verdict, .failure, .stopped, .paid, .journal: false
        }
    }

    /// What is wrong with the host.
    var hostSentence: String {
        switch self {
        case .host(let error): error.description
        case .elsewhere(let sentence): sentence
        case .verdict, .failure, .stopped, .paid, .journal: ""
        }
    }

    /// What the execution waits for.
    var hostPurpose: String {
        switch self {
        case .elsewhere: "its token to be handed out"
        case .host(.noFreeLink): "a free link of its adapter"
        case .verdict, .failure, .host, .stopped, .paid, .journal: "the host's radio to come back"
        }
    }

    init(_ error: RadioError, _ doing: String) {
        if error.isHostFault {
            self = .host(error)
        } else if case .bond(let failure) = error {
            self = .failure(error.failureClass, "\(doing): \(failure); \(failure.remedy)")
        } else {
            self = .failure(error.failureClass, "\(doing): \(error)")
        }
    }

    init(_ error: PropertyReadError, _ doing: String) {
        switch error {
        case .module(let error): self.init(error, doing)
        case .moduleNotConnected: self = .failure(.transient, "\(doing): \(error)")
        case .propertyNotFound, .propertyWriteOnly:
            self = .verdict(.rejected, .rejected, "\(doing): \(error)")
        case .missing: self = .failure(.device, "\(doing): \(error)")
        }
    }

    init(_ error: PropertyWriteError, _ doing: String) {
        switch error {
        case .module(let error): self.init(error, doing)
        case .moduleNotConnected, .firmwareUpdateOngoing:
            self = .failure(.transient, "\(doing): \(error)")
        case .notTaken: self = .failure(.device, "\(doing): \(error)")
        case .propertyNotFound, .propertyNotWritable, .propertyWrongType, .rangeOutOfBounds,
            .invalidWriteStep, .unknownState, .valueBytesInvalidSize, .textTooLong:
            self = .verdict(.rejected, .rejected, "\(doing): \(error)")
        }
    }

    init(_ error: ModuleError, _ doing: String) {
        if case .radio(let radio) = error {
            self.init(radio, doing)
        } else {
            self = .failure(error.failureClass, "\(doing): \(error)")
        }
    }
}
