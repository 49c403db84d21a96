import Base

/// Vehicles that the same helps, with the commands to give.
package struct HelpGroup: Sendable, Equatable {
    package let remedy: Remedy
    /// In the order in which they should be done.
    let tasks: [MorningPage.Task]
    /// None that stands in a group before it.
    let commands: [NextStep.Command]

    package var work: NextStep.Work { remedy.work }

    /// For people: what to do, for how many vehicles, and how.
    package var heading: String { "\(work.title) (\(tasks.count)): \(remedy.advice)" }

    /// What happened, each with the vehicles to which it happened.
    var items: [(message: String, cards: [MorningPage.Card])] {
        tasks.grouped(by: \.step.brief).map { ($0, $1.map(\.card)) }
    }

    /// The same in a few words, for surfaces that have what happened beside each vehicle.
    var causes: [(words: String, cards: [MorningPage.Card])] {
        tasks.grouped(by: \.step.cause.words).map { ($0, $1.map(\.card)) }
    }

    /// By work, then by what helps; `told` are commands that stand above on the same screen, and
    /// that the others come after.
    package static func groups(
        of tasks: [MorningPage.Task],
        told: Set<String> = []
    ) -> [HelpGroup] {
        var given: Set<String> = []
        return tasks.sorted { $0.order.lexicographicallyPrecedes($1.order) }
            .grouped(by: \.step.remedy).map { remedy, tasks in
                let commands = tasks.grouped(by: \.step.commands).flatMap { _, tasks in
                    tasks[0].step.first(after: told)
                }
                let new = commands.filter { given.insert($0.line).inserted }
                return HelpGroup(remedy: remedy, tasks: tasks, commands: new)
            }
    }
}

extension NextStep {
    /// The commands that are given next.
    fileprivate func first(after told: Set<String>) -> ArraySlice<Command> {
        commands.filter { !told.contains($0.line) }.prefix(work.commandCount)
    }

    /// What happened, without what to do about it.
    var brief: String {
        let message = short ?? message
        guard let advice = message.firstRange(of: remedy.advice) else { return message }
        var head = message[..<advice.lowerBound]
        while let last = head.last, " ;:".contains(last) { head.removeLast() }
        return String(head + message[advice.upperBound...])
    }
}
