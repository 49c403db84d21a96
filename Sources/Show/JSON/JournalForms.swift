package import Base
package import Store

/// The journal's records in documents for programs.
///
/// Members that several documents share are a record's `members`; each document adds the others.
extension ExecutionRecord.Deadline: JSONDescribed {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("label", \.label)
        Member("time", \.time)
    }

    package static let jsonForm = JSONForm<Self>.object("Deadline") { members }
}

extension RunRecord.End: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("code", "Null for a run that was cut off.", as: Int.jsonForm.orNull, \.exitCode)
        Member("reason", \.reason)
    }
}

extension RunRecord: JSONDescribed {
    typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object { members }

    @JSONMembers<Self> static var members: [Member] {
        Member("run", "Counts from 1 within the state directory.", \.number)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
        Member("rollout", \.rollout)
        Member("plan", "The digest of the plan.", \.plan)
        Member(
            ifAny: "seed",
            "Of a simulated radio; its digits as a text when 64 bits with a sign do not hold it.",
            as: .anyOf(["integer", "string"], JSONValue.seed),
            \.seed
        )
        Member("started", \.started)
        Member(ifAny: "ended") { $0.end?.time }
        Member(ifAny: "exit", \.end)
    }
}

extension RolloutRecord {
    /// Its state, or the hold that people have set.
    var word: String { hold?.kind.rawValue ?? state.rawValue }
}

extension ControlRequest.Kind: JSONDescribed {}

extension OpenRequest: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("kind", \.request.kind)
        Member("reason", \.request.reason)
        Member("made", \.request.made)
    }
}

extension Inhibit {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("reason", \.reason)
        Member(ifAny: "expires", "Without it: until somebody lifts it.", \.expires)
        Member("author", "Empty when an early version wrote it.", \.author)
    }
}

extension Debt {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("run", "The run that began it.", \.run)
        Member("seen-run", "The run in which the module was seen last.", \.seenRun)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
        Member(
            ifAny: "seen-gateway",
            "The gateway of the run that saw it, in a fleet.",
            \.seenGateway
        )
        Member("in-bootloader", \.inBootloader)
    }
}

extension IntentRecord {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("step", \.intent.description)
        Member("run", \.intent.run)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
    }
}

extension OwedStep {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("step", "As a manifest writes it.", \.action)
        Member("run", "The run that began to owe it.", \.run)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
    }
}

extension FailureCount: JSONDescribed {
    typealias Member = JSONForm<Self>.Member

    @JSONMembers<Self> static var members: [Member] {
        Member("count", "How often.", \.count)
        Member("message", "What was said of the last one.", \.message)
    }

    package static let jsonForm = JSONForm<Self>.object {
        Member("vehicle", \.vehicle)
        Member("image", "The digest, or that of the plan where there is none.", \.release)
        members
    }
}

extension RecallUse: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("image", "The digest.", \.recall.image)
        Member("name", "What it was called when it was recalled.", \.recall.name)
        Member("reason", \.recall.reason)
        Member("author", \.recall.author)
        Member("made", \.recall.made)
        Member("half-sent", "Vehicles that have a part of it.") { $0.halfSent.map(\.vehicle) }
        Member("running", "Vehicles that run it.", \.vehicles)
    }
}

extension Saying: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object(
        "Saying",
        "What a person has said with a verb, and what it has changed. In `Status` since the last "
            + "run began, the oldest first; in `History` since the oldest run listed, the newest first."
    ) {
        Member("request", as: .word(of: SteeringVerb.allCases.map(\.rawValue), \.self)) {
            $0.verb
        }
        Member(ifAny: "rollout", "Not when it is said of vehicles.", \.rollout)
        Member("vehicles", "None means all of the rollout, or the depot.", \.vehicles)
        Member("reason", \.reason)
        Member("author", \.author)
        Member("made", \.made)
        Member("run", "The last run that had begun by then; 0 when nothing had run.", \.run)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
    }
}

extension Standing {
    /// The words for vehicles that are worked on, and for the others.
    static var words: [String] {
        let words = ExecutionState.allCases.map(\.rawValue)
        return words + State.allCases.map(\.rawValue).filter { !words.contains($0) }
    }
}
