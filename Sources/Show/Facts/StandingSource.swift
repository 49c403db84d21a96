package import Base
package import Commands

/// The source of an answer, on a machine that belongs to a fleet.
package struct StandingSource: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The fleet's database, which covers all gateways.
        case fleet
        /// Only this machine's journal.
        case journal
    }

    let kind: Kind
    /// The fleet's address, which has no password in it.
    let address: String
    /// Why the journal was asked; nil for the fleet.
    package let reason: String?
    /// What to do so that the fleet answers; nil when it did, or knows nothing of it.
    package let remedy: String?
    /// False when the fleet should have answered and did not.
    package let isWhole: Bool

    package init(
        _ kind: Kind,
        _ address: String,
        because reason: String? = nil,
        remedy: String? = nil,
        isWhole: Bool = true
    ) {
        self.kind = kind
        self.address = address
        self.reason = reason
        self.remedy = remedy
        self.isWhole = isWhole
    }

    /// The source, for people.
    package var sentence: String {
        switch kind {
        case .fleet: "fleet \(address.visible), all gateways"
        case .journal: "this machine's journal only: \((reason ?? "").visible)"
        }
    }
}

/// An answer that says where it comes from.
package protocol Sourced {
    /// Nil on a machine that belongs to no fleet.
    var source: StandingSource? { get set }
}

extension RolloutStatus: Sourced {}
extension VehicleStory: Sourced {}
extension MorningPage: Sourced {}
extension RunList: Sourced {}
extension ShownRun: Sourced {}

extension Sourced {
    /// The code of a command that shows it.
    package var exitCode: ExitCode { source?.isWhole == false ? .unavailable : .done }
}

extension StandingSource.Kind: JSONDescribed {}

extension StandingSource: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "Source",
        "Where the document comes from, on a machine that belongs to a fleet on PostgreSQL."
    ) {
        Member("kind", "The fleet's database, or only the journal of this machine.", \.kind)
        Member("fleet", "Its address.", \.address)
        Member(ifAny: "reason", "For people: why the journal was asked.", \.reason)
        Member("whole", "False when the fleet should have answered and did not.", \.isWhole)
    }
}
