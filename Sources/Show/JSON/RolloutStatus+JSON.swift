package import Base
import Store

extension RolloutStatus: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    /// The document of `status --json` and of the web page's interface, with times in UTC.
    package static let jsonForm = JSONForm<Self>.object(
        "Status",
        "What `status --json` writes. Without a run there are only the lists."
    ) {
        Member.version
        runMembers
        Member(
            "running",
            "Whether a process works in the state directory; in a fleet, whether a gateway works on the rollout.",
            \.isRunning
        )
        stateMembers
        sharedMembers
        Member("under-way", "Vehicles that are worked on now.") {
            $0.snapshot.underWay.map(\.vehicle)
        }
        Member(ifAny: "next-deadline", "What fires first if nothing happens.", as: deadline) {
            $0.snapshot.nextDeadline
        }
        Member("requests", "What people have asked of a run and no run has taken up.") {
            $0.snapshot.requests
        }
        Member("inhibits", "What is to be left alone.", as: inhibit.list) { $0.snapshot.inhibits }
        Member(ifAny: "recalled", "Recalled images that vehicles may have.") {
            $0.snapshot.recalls.isEmpty ? nil : $0.snapshot.recalls
        }
        Member("said", \.snapshot.sayings)
        Member("failures", "Which images have failed on which vehicles, and how often.") {
            $0.snapshot.failures
        }
        Member("debts", "Updates that were begun and are not proven.", as: debt.list) {
            $0.snapshot.debts
        }
        Member("doubts", "Commands of which nobody knows whether they were done.", as: doubt.list) {
            $0.snapshot.openDoubts
        }
        Member("owed", "Steps of `always` that a run still has to do.", as: owed.list) {
            $0.snapshot.owed
        }
        Member(ifAny: "headline", "How many of the vehicles need a person.") { status in
            status.headline(status.groups).sentence
        }
        Member("rollouts", "All of the state directory, the newest first.", \.briefs)
        Member("counts", \.counts)
        Member("vehicles") { status in
            zip(status.chosen, status.standings).map { record, standing in
                VehicleRow(
                    record,
                    standing,
                    isUnderWay: status.snapshot.isUnderWay(record),
                    status.snapshot.shared?.holders[record.vehicle]
                )
            }
        }
        Member("next", "What people do next, the most urgent first.", as: next.list, \.nextSteps)
    }

    /// The rollout's last run.
    @JSONMembers<Self> private static var runMembers: [Member] {
        Member(ifAny: "rollout") { $0.snapshot.run?.rollout }
        Member(ifAny: "run", "Counts from 1 within the state directory.") {
            $0.snapshot.run?.number
        }
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.") {
            $0.snapshot.run?.gateway
        }
        Member(ifAny: "plan", "The digest of the plan.") { $0.snapshot.run?.plan }
        Member(ifAny: "approved-by", "Who has approved the plan, where a policy asks for that.") {
            $0.approvers.isEmpty ? nil : $0.approvers
        }
        Member(ifAny: "started") { $0.snapshot.run?.started }
        Member(ifAny: "ended") { $0.snapshot.run?.end?.time }
        Member(ifAny: "exit") { $0.snapshot.run?.end }
    }

    /// The members for several gateways.
    @JSONMembers<Self> private static var sharedMembers: [Member] {
        Member(ifAny: "source", \.source)
        Member(ifAny: "gateways", "The gateways that have taken part since the rollout was begun.")
        {
            $0.snapshot.shared?.workers
        }
        Member(ifAny: "gate", "Counted over all gateways.") { $0.snapshot.shared?.gate }
        Member(ifAny: "closed", "Why the fleet's database grants no rights.") {
            $0.snapshot.shared?.closed
        }
    }

    /// The state of the rollout.
    @JSONMembers<Self> private static var stateMembers: [Member] {
        Member(ifAny: "state", as: stateWord) { $0.snapshot.rollout?.word }
        Member(ifAny: "reason", "Why it is paused, aborted or recalled; else empty.") {
            $0.snapshot.rollout.map { $0.hold?.reason ?? "" }
        }
        Member(ifAny: "author", "Who has paused, aborted or recalled it.") {
            $0.snapshot.rollout?.hold?.author
        }
        Member(ifAny: "wave", "Counts from 1.") { $0.snapshot.rollout.map { $0.wave + 1 } }
        Member(ifAny: "waves", "When the plan is kept.") { $0.waves.isEmpty ? nil : $0.waves }
        Member(ifAny: "gates", "When it pauses, and what must hold between waves.") { status in
            status.plan.map { _ in status.gates }
        }
        Member(ifAny: "soaks-until", "When the time between two waves is over.", \.soaksUntil)
        Member(ifAny: "waits-until", "When its window opens, as long as the run waits for it.") {
            $0.waitsUntil
        }
        Member(ifAny: "closes", "When the window closes in which the run works.", \.closes)
        Member(
            ifAny: "expected-end",
            "When the run has ended the rest, if each vehicle takes as long as the earlier ones.",
            \.expectedEnd
        )
        Member(ifAny: "openings", "When its window opens next: up to three times.") {
            $0.openings.isEmpty ? nil : $0.openings
        }
    }

    /// A rollout's state, or the hold that people have set.
    fileprivate static let stateWord = JSONForm<String>.word(of: stateWords, \.self)

    static let stateWords =
        RolloutRecord.State.allCases.map(\.rawValue) + Hold.Kind.allCases.map(\.rawValue)

    private static let deadline = JSONForm<
        (vehicle: VehicleID, deadline: ExecutionRecord.Deadline)
    >.object {
        JSONForm.Member("vehicle", \.vehicle)
        ExecutionRecord.Deadline.members.map { $0.inside(\.deadline) }
    }

    private static let inhibit = JSONForm<Inhibit>.object {
        JSONForm.Member(ifAny: "vehicle", "Without one it is the whole depot.", \.vehicle)
        Inhibit.members
    }

    private static let debt = JSONForm<Debt>.object {
        JSONForm.Member("vehicle", \.vehicle)
        JSONForm.Member("serial", \.serial)
        JSONForm.Member("image", "The digest.", \.image)
        JSONForm.Member("name", "What the manifest calls the image.", \.name)
        JSONForm.Member(ifAny: "version", \.version)
        JSONForm.Member("rollout", "The one that began it.", \.rollout)
        Debt.members
    }

    private static let doubt = JSONForm<IntentRecord>.object {
        JSONForm.Member("vehicle", \.intent.vehicle)
        IntentRecord.members
    }

    private static let owed = JSONForm<OwedStep>.object {
        JSONForm.Member("vehicle", \.vehicle)
        OwedStep.members
    }

    private static let next = JSONForm<(vehicle: VehicleID, step: NextStep)>.object {
        JSONForm.Member("vehicle", \.vehicle)
        NextStep.members.map { $0.inside(\.step) }
    }
}

extension RolloutStatus.Brief: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("rollout", \.run.rollout)
        Member("run", \.run.number)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.run.gateway)
        Member(ifAny: "own", "It is only in this machine's journal, not in the fleet.") {
            $0.isOwn ? true : nil
        }
        Member("state", as: RolloutStatus.stateWord, \.state)
        Member("started", \.run.started)
        Member(ifAny: "ended") { $0.run.end?.time }
        Member(ifAny: "exit") { $0.run.end?.exitCode }
        Member("counts", \.counts)
    }
}

extension WaveStatus.State: JSONDescribed {}

extension WaveStatus: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    static let jsonForm = JSONForm<Self>.object {
        Member("wave", \.number)
        Member("state", \.state)
        Member("vehicles", \.counts.total)
        Member("counts", \.counts)
    }
}

/// A vehicle as `status` lists it.
private struct VehicleRow {
    let record: ExecutionRecord
    let standing: Standing
    let isUnderWay: Bool
    let holder: SharedStanding.Holder?

    init(
        _ record: ExecutionRecord,
        _ standing: Standing,
        isUnderWay: Bool,
        _ holder: SharedStanding.Holder?
    ) {
        self.record = record
        self.standing = standing
        self.isUnderWay = isUnderWay
        self.holder = holder
    }

    var state: String {
        guard !isUnderWay else { return record.state.rawValue }
        return standing.verdict == nil ? standing.state.rawValue : ExecutionState.ended.rawValue
    }
}

extension VehicleRow: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    static let jsonForm = JSONForm<Self>.object("StatusVehicle") {
        Member("id", \.record.vehicle)
        Member("serial", \.record.serial)
        Member(
            "state",
            "What is done with it now; of one that is not worked on how far it is.",
            as: .word(of: Standing.words, \.self),
            \.state
        )
        Member(ifAny: "outcome") { $0.standing.verdict?.outcome }
        Member(ifAny: "class", "What kind of failure it was.") { $0.standing.verdict?.failure }
        Member(ifAny: "message", "For people, of one that is not worked on.") { row in
            row.isUnderWay ? nil : row.standing.verdict?.message ?? row.standing.sentence
        }
        Member(ifAny: "run", "The run that gave the verdict, if that was not the last one.") {
            $0.standing.run
        }
        Member(ifAny: "gateway", "The gateway of that run, in a fleet.") {
            $0.standing.gateway
        }
        Member(ifAny: "at-work", "The gateway that has the right to its module.") {
            $0.holder?.gateway
        }
        Member(ifAny: "waits", "For people: what a vehicle that was not begun waits for.") { row in
            row.standing.verdict == nil ? row.standing.waits : nil
        }
        Member(ifAny: "percent", "The share of the image that the module has.") {
            $0.standing.debt?.percent
        }
        Member("attempt", "Counts from 1; 0 before the first.", \.record.attempt)
        Member(ifAny: "acknowledged", "Bytes that the module has confirmed.") {
            $0.record.acknowledged?.bytes
        }
        Member(ifAny: "total", "Bytes of the image.") { $0.record.totalBytes?.bytes }
        Member("in-bootloader") { $0.record.isInBootloader($0.standing) }
        Member("updated", \.record.updated)
        Member(ifAny: "next-deadline", \.record.nextDeadline)
    }
}
