package import Base
import Manifest
import Store

extension VehicleStory: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    /// The document of `show --json` and of the web page's interface, with times in UTC.
    package static let jsonForm = JSONForm<Self>.object(
        "Vehicle",
        "What `show --json` writes."
    ) {
        Member.version
        Member(ifAny: "source", \.source)
        Member("vehicle", \.view.vehicle)
        Member(ifAny: "serial", \.serial)
        Member(ifAny: "family") { ($0.planned?.family ?? $0.view.inventory?.family)?.rawValue }
        Member(ifAny: "profile") { $0.planned?.profile ?? $0.view.inventory?.profile }
        Member(
            "labels",
            "The columns of the fleet list.",
            as: .texts { $0.map { (name: $0.name, text: $0.value) } }
        ) { $0.planned?.labels ?? [] }
        Member(
            ifAny: "version",
            "As it was read last; none while an update is not proven.",
            \.version
        )
        Member(ifAny: "last-seen", "When an inventory or a run had an answer.", \.lastSeen)
        Member(
            ifAny: "signal",
            "The signal strength when it was last heard, such as `-71 dBm`.",
            \.signal
        )
        Member(ifAny: "inventory", \.view.inventory)
        owedMembers
        Member("rollouts", "Where it stands in each, the newest first.", \.rollouts)
        Member("verdicts", "The oldest first.", as: ending.list, \.view.endings)
        Member("next", "What people do next, the most urgent first.", \.steps)
    }

    /// Its open debts, doubts and owed steps, inhibits and failures.
    @JSONMembers<Self> private static var owedMembers: [Member] {
        Member("inhibits", as: inhibit.list, \.view.inhibits)
        Member("debts", "Updates that were begun and are not proven.", as: debt.list, \.view.debts)
        Member(
            "doubts",
            "Commands of which nobody knows whether they were done.",
            as: JSONForm<IntentRecord>.object { IntentRecord.members }.list,
            \.view.doubts
        )
        Member(
            "owed",
            "Steps of `always` that a run still has to do.",
            as: JSONForm<OwedStep>.object { OwedStep.members }.list,
            \.view.owed
        )
        Member(
            "failures",
            "How often an image has failed on it.",
            as: JSONForm<FailureCount>.object { FailureCount.members }.list,
            \.view.failures
        )
    }

    private static let inhibit = JSONForm<Inhibit>.object {
        JSONForm.Member("depot", "Whether the whole depot is left alone.") { $0.vehicle == nil }
        Inhibit.members
    }

    private static let debt = JSONForm<Debt>.object {
        JSONForm.Member("image", "As the manifest calls it.", \.title)
        Debt.members
    }

    private static let ending = JSONForm<Ending>.object {
        JSONForm.Member("time", \.time)
        JSONForm.Member("outcome", \.outcome)
    }
}

extension VehicleStory.Row: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    static let jsonForm = JSONForm<Self>.object {
        Member("rollout", \.rollout)
        Member(ifAny: "run", "Absent in a fleet for a vehicle that no gateway has ended.") {
            $0.run?.number
        }
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.") { $0.run?.gateway }
        Member("state", as: .word(of: words, \.self), \.state)
        Member(ifAny: "hold", "When somebody has paused, aborted or recalled the rollout.") {
            $0.hold?.kind
        }
        Member("message", "For people.", \.standing.sentence)
        Member(ifAny: "at-work", "The gateway that has the right to its module.") {
            $0.holder?.gateway
        }
        Member("updated", \.record.updated)
    }

    /// The words for the work on it, for how its work ended, or for its progress.
    private static var words: [String] {
        Standing.words + Outcome.allCases.map(\.rawValue)
    }
}

extension Hold.Kind: JSONDescribed {}
