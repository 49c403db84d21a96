package import Domain
package import Journal

/// Why a vehicle was not brought into service.
package struct EnrolFault: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// It was not in reach.
        case notHeard
        /// It was, and it did not come to an end; the next run goes on where this one stood.
        case failed
        /// A file cannot be read or written.
        case files
        /// What was asked for makes no sense, and nothing was done.
        case refused
    }

    package let kind: Kind
    /// What its module failed with, where it did.
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

/// What is kept of one vehicle while it is brought into service: its secrets, its row in the fleet list,
/// and how far that is.
///
/// Every call is whole on disk when it returns, or was not made.
package protocol EnrolmentKeeper: Sendable {
    /// The secrets that its module could have; which of them it has, only the module knows.
    func secrets() async throws(EnrolFault) -> [SecretSlot: Secret]

    /// Keeps a secret that the module is about to be given.
    func keepPending(_ secret: Secret) async throws(EnrolFault)

    /// The pending one was proven: it becomes the vehicle's secret, and the one of before is kept.
    func commit() async throws(EnrolFault)

    /// The vehicle has no secret any more; what it was stays in a file of its own.
    func retire() async throws(EnrolFault)

    /// Puts the vehicle into the fleet list, or takes it out.
    func list(_ isListed: Bool) async throws(EnrolFault)

    func note(_ stage: EnrolmentRecord.Stage) async throws(EnrolFault)
}

/// Where a secret stands that a module could have.
package enum SecretSlot: String, CaseIterable, Sendable, Hashable {
    /// Given to it, or about to be, and not proven yet.
    case pending
    /// Proven.
    case current
    /// What it was made with.
    case maker
    /// The one before the current.
    case before
    /// What it had when it was taken out of service.
    case undone
}
