package import Base
package import Store

/// Why a vehicle was not enrolled.
package struct EnrolFault: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The module was not in reach.
        case notHeard
        /// The module was in reach, but enrolment did not end; the next run continues it.
        case failed
        /// A file cannot be read or written.
        case files
        /// The request makes no sense, and nothing was done.
        case refused
    }

    package let kind: Kind
    /// The failure of its module, if it had one.
    package let failure: FailureClass?
    package let sentence: String
    package let hint: String

    package init(
        _ kind: Kind,
        _ sentence: String,
        hint: String,
        failure: FailureClass? = nil
    ) {
        self.kind = kind
        self.failure = failure
        self.sentence = sentence
        self.hint = hint
    }
}

/// Keeps the facts about one vehicle while it is enrolled: its secrets, its row in the fleet list,
/// and the progress.
///
/// When a call returns, its change is completely on disk, or was not made.
package protocol EnrolmentKeeper: Sendable {
    /// The secrets that its module could have; only the module knows which one it has.
    func secrets() async throws(EnrolFault) -> [SecretSlot: Secret]

    /// Stores a secret before it is written to the module.
    func keepPending(_ secret: Secret) async throws(EnrolFault)

    /// The pending secret was proven: it becomes the vehicle's secret, and the previous one is
    /// kept.
    func commit() async throws(EnrolFault)

    /// The vehicle has no secret any more; the last one stays in a file of its own.
    func retire() async throws(EnrolFault)

    /// Adds the vehicle to the fleet list, or removes it.
    func list(_ isListed: Bool) async throws(EnrolFault)

    func note(_ stage: EnrolmentRecord.Stage) async throws(EnrolFault)
}

/// The file of a secret that a module could have.
package enum SecretSlot: String, CaseIterable, Sendable, Hashable {
    /// Written to the module, or about to be, and not proven yet.
    case pending
    /// Proven.
    case current
    /// The secret from the maker.
    case maker
    /// The one before the current one.
    case before
    /// The secret at the time when the module was taken out of service.
    case undone
}
