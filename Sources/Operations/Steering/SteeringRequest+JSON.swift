package import Base
import Commands
import Show
import Store

extension SteeringVerb: JSONDescribed {}

/// A request as programs send it.
extension SteeringRequest: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "Request",
        "A request, as on a command line."
    ) { fields }

    /// The members that a request may have; no others are read.
    package static let members = fields.map(\.name)

    @JSONMembers<Self> private static var fields: [Member] {
        Member("request", \.verb)
        Member(
            ifAny: "rollout",
            "For \(words(where: \.takesRollout)); else the one that ran last.",
            \.rollout
        )
        Member(
            ifAny: "vehicles",
            "For \(words(where: \.takesVehicles)): ids, patterns, LABEL=VALUE, or @failed and the "
                + "like. For \(words(where: \.takesRollout, \.takesVehicles)), none means all of the rollout."
        ) { $0.vehicles.isEmpty ? nil : $0.vehicles.map(\.text) }
        Member(
            ifAny: "all",
            "For \(words(where: \.takesDepot)): true means the whole depot, without `vehicles`."
        ) { $0.isAll ? true : nil }
        Member(ifAny: "reason", "Why, for people; required for `inhibit` with `all`.", \.reason)
        Member(
            ifAny: "for",
            "For \(words(where: \.takesLength)): how long, such as 90m or 2d; else until it is "
                + "lifted."
        ) { $0.length.map { "\($0.components.seconds)s" } }
    }

    private static func words(where isTaken: (SteeringVerb) -> Bool...) -> String {
        let words = SteeringVerb.allCases.filter { verb in isTaken.allSatisfy { $0(verb) } }.map(
            \.rawValue
        )
        guard words.count > 1, let last = words.last else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
