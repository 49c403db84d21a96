import Domain
package import Wire

extension MorningPage: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    /// For programs: times in UTC.
    package static let jsonForm = JSONForm<Self>.object(
        "Morning",
        "What `morning --json` writes."
    ) {
        Member.version
        Member("since", "Nothing from before this is reported, except tasks.", \.since)
        Member("made", \.made)
        Member("summary", "How much there is to do, in one line.", \.summary)
        Member("rollouts", "Those that were at work since then.", \.nights)
        Member("tasks", "In the order in which they are done.", \.tasks)
        Member("changes", "What is otherwise than before that time.", \.changes)
        Member("stale-days", \.staleDays)
        Member(
            "stale",
            "Vehicles that have not had what their rollout wants for so many days.",
            \.stale
        )
    }

    /// A line a task, for spreadsheets.
    package var csv: String {
        let columns = [
            "work", "depot", "bay", "vehicle", "plate", "serial", "last_seen", "signal", "rollout",
            "sentence", "commands",
        ]
        var text = columns.joined(separator: ",") + "\r\n"
        for task in tasks {
            let card = task.card
            let cells = [
                task.step.work.rawValue, card.depot ?? "", card.bay ?? "", card.vehicle.text,
                card.plate ?? "", card.serial?.text ?? "", card.lastSeen?.description ?? "",
                card.signal ?? "", task.rollout, task.step.sentence,
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
        Member("began", \.began)
        Member(ifAny: "ended", "Not of a run that goes on or was cut off.", \.ended)
        Member(ifAny: "exit", \.exitCode)
        Member("reason", \.reason)
        Member("counts", \.counts)
    }
}

extension MorningPage.Card {
    fileprivate typealias Member = JSONForm<Self>.Member

    /// The vehicle as people find it.
    @JSONMembers<Self> fileprivate static var members: [Member] {
        Member("vehicle", \.vehicle)
        Member(ifAny: "serial", \.serial)
        Member(ifAny: "plate", "As the fleet list has it.", \.plate)
        Member(ifAny: "depot", \.depot)
        Member(ifAny: "bay", \.bay)
        Member(ifAny: "last-seen", \.lastSeen)
        Member(ifAny: "signal", "As it was heard last, such as `-71 dBm`.", \.signal)
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
        Member("last-current", "When it had it last; null for never.", as: WallTime.jsonForm.orNull)
        {
            $0.lastCurrent
        }
    }
}
