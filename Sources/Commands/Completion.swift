/// The completion scripts, one for each shell, made from the table.
package enum Completion: String, CaseIterable, Sendable {
    case bash, zsh, fish

    package var script: String {
        switch self {
        case .bash: BashCompletion.script
        case .zsh: ZshCompletion.script
        case .fish: FishCompletion.script
        }
    }

    /// What only the program knows, and the scripts ask it for.
    package enum Known: String, CaseIterable, Sendable {
        case vehicles, rollouts, runs

        init?(_ kind: ValueKind) {
            switch kind {
            case .vehicles: self = .vehicles
            case .rollout: self = .rollouts
            case .run: self = .runs
            case .file, .fileOrStream, .fileEnding, .directory, .text, .whole, .positive,
                .duration, .property, .words, .command:
                return nil
            }
        }
    }

    /// The commands that are offered.
    static var commands: [Command] { Command.all.filter { !$0.isHidden } }

    /// First words of commands that have a second one, such as `simulate`.
    static var groups: [String] {
        commands.filter { $0.words.count > 1 }.map { $0.words[0] }.unique
    }

    /// What may stand first on the line.
    static var firstWords: [String] { commands.map { $0.words[0] }.unique }

    /// What may follow the first word of a group.
    static func secondWords(of group: String) -> [String] {
        commands.filter { $0.words.count > 1 && $0.words[0] == group }.map { $0.words[1] }.unique
    }

    /// Whether the first word of a group is a command by itself too, such as `history`.
    static func isCommand(_ group: String) -> Bool { commands.contains { $0.name == group } }

    /// What a list says of a first word.
    static func summary(of word: String) -> String {
        commands.first { $0.name == word }?.summary
            ?? secondWords(of: word).joined(separator: ", ")
    }

    /// The text between single quotes for a shell that has no escape inside them.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for character in text {
            quoted += character == "'" ? "'\\''" : String(character)
        }
        return quoted + "'"
    }
}

extension [String] {
    /// The elements in order, each only where it first stands.
    fileprivate var unique: [String] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
