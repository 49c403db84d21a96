package import Base

/// The next task for a person about a vehicle that is not as the rollout requires.
package struct NextStep: Sendable, Hashable {
    /// The kind of work, in the order in which a morning's work should be done.
    package enum Work: String, CaseIterable, Sendable, Comparable {
        /// Its module waits in the bootloader and does nothing else.
        case rescue
        /// It is unknown whether a command was carried out: a person must look and report it.
        case answer
        /// Something on the vehicle is wrong.
        case mechanic
        /// The fleet list, a key or the image is wrong, and nothing on the vehicle.
        case correct
        case charge
        /// The vehicle was not heard.
        case bringIn = "bring-in"
        /// A run will do it automatically.
        case wait
        /// A person has set the vehicle aside.
        case held = "left-alone"

        package static func < (left: Work, right: Work) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        /// Whether somebody has to do something about the vehicle.
        package var needsPerson: Bool { self < .wait }

        /// How many of its commands are given at once: a doubt has one for each answer, and a correction
        /// is checked before it is run.
        package var commandCount: Int { self == .answer || self == .correct ? 2 : 1 }

        package var title: String {
            switch self {
            case .rescue: "Rescue from the bootloader"
            case .answer: "Look, and say what happened"
            case .mechanic: "Inspect the vehicle"
            case .correct: "Correct the list, the key or the image"
            case .charge: "Charge"
            case .bringIn: "Bring in"
            case .wait: "Wait: a run does it"
            case .held: "Set aside until a person releases it"
            }
        }
    }

    /// A command line for the shell, and when to use it.
    package struct Command: Sendable, Hashable {
        package let line: String
        package let when: String
        /// Whether it is for an operator of the fleet, who the reader is not.
        let isForOperator: Bool

        package init(_ line: String, _ when: String, isForOperator: Bool = false) {
            self.line = line
            self.when = (isForOperator ? "an operator: " : "") + when
            self.isForOperator = isForOperator
        }
    }

    package let cause: Cause
    let remedy: Remedy
    /// What happened to the vehicle, in the words of the run.
    let message: String
    /// The same with less about what its module owes, where it owes something.
    var short: String?
    package internal(set) var commands: [Command]

    package init(
        _ cause: Cause,
        signal: Cause.Signal = .unknown,
        tried: Cause.Tried = .nothing,
        _ message: String,
        _ commands: [Command]
    ) {
        self.init(cause, by: Remedy(cause, signal, tried), message, commands)
    }

    init(_ cause: Cause, by remedy: Remedy, _ message: String, _ commands: [Command]) {
        self.cause = cause
        self.remedy = remedy
        self.message = message
        self.commands = commands
    }

    package var work: Work { remedy.work }

    /// What the problem is, and what to do about it.
    package var sentence: String {
        message.contains(remedy.advice) ? message : "\(message): \(remedy.advice)"
    }

    /// A word, quoted for the shell where necessary.
    package static func quoted(_ word: String) -> String { word.quotedForShell }
}

extension NextStep.Work: JSONDescribed {}
extension Cause: JSONDescribed {}
extension Remedy.Actor: JSONDescribed {}

extension NextStep.Command: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("line", "For the shell.", \.line)
        Member("when", "When to use it.", \.when)
    }
}

extension NextStep: JSONDescribed {
    package typealias Member = JSONForm<Self>.Member

    /// The members, for documents that also name the vehicle.
    @JSONMembers<NextStep> package static var members: [Member] {
        Member(
            "work",
            "The kind of work; the kinds are in the order in which they are done.",
            \.work
        )
        Member("cause", "Why, by the table of causes; see `docs/causes.md`.", \.cause)
        Member("sentence", "What the problem is, and what to do about it.", \.sentence)
        Member("who", "Who has to act.", \.remedy.actor)
        Member(
            "another-night",
            "Whether another night can help without anybody doing something before.",
            \.remedy.isHelpedByNight
        )
        Member("commands", \.commands)
    }

    package static let jsonForm = JSONForm<Self>.object("NextStep") { members }
}
