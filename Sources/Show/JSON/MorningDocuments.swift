package import Base

extension MorningPage: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    /// For programs; times are in UTC.
    package static let jsonForm = JSONForm<Self>.object(
        "Morning",
        "What `morning --json` writes."
    ) {
        Member.version
        Member(ifAny: "source", \.source)
        Member("since", "Nothing from before this is reported, except tasks.", \.since)
        Member("made", \.made)
        Member(
            ifAny: "headline",
            "How many vehicles of how many need a person.",
            \.headline.sentence
        )
        Member("summary", "The amount of work, in one line.", \.summary)
        Member("rollouts", "The rollouts that have run since then.", \.nights)
        Member("tasks", "In the order in which they should be done.", \.tasks)
        Member("changes", "The differences from the state before that time.", \.changes)
        Member("stale-days", \.staleDays)
        Member(
            "stale",
            "Vehicles that have not been current for this many days.",
            \.stale
        )
    }

    /// A table for spreadsheets, with one line for each task.
    package var csv: String {
        let columns = [
            "work", "depot", "bay", "vehicle", "plate", "serial", "last_seen", "signal_dbm",
            "rollout", "sentence", "commands",
        ]
        var text = columns.joined(separator: ",") + "\r\n"
        for task in tasks {
            let card = task.card
            let cells: [String] = [
                task.step.work.rawValue, card.depot ?? "", card.bay ?? "", card.vehicle.text,
                card.plate ?? "", card.serial?.text ?? "", card.lastSeen?.description ?? "",
                card.signal.flatMap { $0.split(separator: " ").first }.map(String.init) ?? "",
                task.rollout, task.step.sentence,
                task.step.commands.map(\.line).joined(separator: " | "),
            ]
            text += cells.map { CSVReport.cell($0) }.joined(separator: ",") + "\r\n"
        }
        return text
    }
}

extension MorningPage.Night: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("rollout", \.rollout)
        Member("run", \.run)
        Member(ifAny: "gateway", "The gateway of the run, in a fleet.", \.gateway)
        Member("began", \.began)
        Member(ifAny: "ended", "Absent for a run that is still active or was cut off.", \.ended)
        Member(ifAny: "exit", \.exitCode)
        Member("reason", \.reason)
        Member("counts", \.counts)
    }
}

extension MorningPage.Card {
    fileprivate typealias Member = JSONForm<Self>.Member

    /// The facts by which people find the vehicle.
    @JSONMembers<Self> fileprivate static var members: [Member] {
        Member("vehicle", \.vehicle)
        Member(ifAny: "serial", \.serial)
        Member(ifAny: "plate", "From the fleet list.", \.plate)
        Member(ifAny: "depot", \.depot)
        Member(ifAny: "bay", \.bay)
        Member(ifAny: "last-seen", \.lastSeen)
        Member(
            ifAny: "signal",
            "The signal strength when it was last heard, such as `-71 dBm`.",
            \.signal
        )
    }
}

extension MorningPage.Task: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        MorningPage.Card.members.map { $0.inside(\.card) }
        Member("rollout", \.rollout)
        NextStep.members.map { $0.inside(\.step) }
    }
}

extension MorningPage.Changes: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("updated", "Newly done.", \.updated)
        Member("failed", "Newly failed.", \.failed)
        Member("recovered", \.recovered)
        Member("away", "Newly away.", \.away)
        Member("back", "Back again.", \.back)
    }
}

extension MorningPage.Stale: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        MorningPage.Card.members.map { $0.inside(\.card) }
        Member(
            "last-current",
            "The last time at which it was current; null for never.",
            as: WallTime.jsonForm.orNull
        ) {
            $0.lastCurrent
        }
    }
}
