package import Wire

/// What a person does next about a vehicle that is not as the rollout wants it.
package struct NextStep: Sendable, Equatable {
    /// What kind of work it is, in the order in which a morning's work is done.
    package enum Work: String, CaseIterable, Sendable, Comparable {
        /// Its module waits in the bootloader and does nothing else.
        case rescue
        /// Nobody knows whether a command was carried out: somebody looks and says so.
        case answer
        /// Something on the vehicle is not as it should be.
        case mechanic
        /// The fleet list, a key or the image is wrong: nothing on the vehicle is.
        case correct
        case charge
        /// It was not heard.
        case bringIn = "bring-in"
        /// A run does it by itself.
        case wait
        /// Somebody has said that it is to be left alone.
        case held = "left-alone"

        package static func < (left: Work, right: Work) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        package var title: String {
            switch self {
            case .rescue: "Rescue from the bootloader"
            case .answer: "Look, and say what happened"
            case .mechanic: "See to the vehicle"
            case .correct: "Correct the list, the key or the image"
            case .charge: "Charge"
            case .bringIn: "Bring in"
            case .wait: "Wait: a run does it"
            case .held: "Left alone until somebody lifts it"
            }
        }
    }

    /// A line for the shell, and when it is the right one.
    package struct Command: Sendable, Equatable {
        package let line: String
        package let when: String

        package init(_ line: String, _ when: String) {
            self.line = line
            self.when = when
        }
    }

    package let work: Work
    /// What is the matter, and what to do about it.
    package let sentence: String
    package let commands: [Command]

    package init(_ work: Work, _ sentence: String, _ commands: [Command]) {
        self.work = work
        self.sentence = sentence
        self.commands = commands
    }

    /// A word as a shell takes it for one.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x2B...0x2F, 0x3A, 0x40, 0x5F, 0x25: true
            default: false
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        return "'"
            + word.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''"
            )
            + "'"
    }
}

extension NextStep.Work: JSONDescribed {}

extension NextStep.Command: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object {
        Member("line", "For the shell.", \.line)
        Member("when", "When it is the right one.", \.when)
    }
}

extension NextStep: JSONDescribed {
    package typealias Member = JSONForm<Self>.Member

    /// The members of documents that say about which vehicle it is, too.
    @JSONMembers<NextStep> package static var members: [Member] {
        Member(
            "work",
            "The kind of work; the kinds are in the order in which they are done.",
            \.work
        )
        Member("sentence", "What is the matter, and what to do about it.", \.sentence)
        Member("commands", \.commands)
    }

    package static let jsonForm = JSONForm<Self>.object("NextStep") { members }
}
