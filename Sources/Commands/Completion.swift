/// The completion scripts, one for each shell, generated from the table.
package enum Completion: String, CaseIterable, Sendable {
    case bash, zsh, fish

    package var script: String {
        switch self {
        case .bash: BashCompletion.script
        case .zsh: ZshCompletion.script
        case .fish: FishCompletion.script
        }
    }

    /// The kinds of word that the scripts have to request from the program.
    package enum Known: String, CaseIterable, Sendable {
        case vehicles, rollouts, runs
    }

    /// The commands that are offered.
    static var commands: [Command] { Command.all.filter { !$0.isHidden } }

    /// The first words of commands with two words, such as `history show`.
    static var groups: [String] {
        commands.filter { $0.words.count > 1 }.map { $0.words[0] }.unique
    }

    /// The possible first words of a command line.
    static var firstWords: [String] { commands.map { $0.words[0] }.unique }

    /// The possible second words after the first word of a group.
    static func secondWords(of group: String) -> [String] {
        commands.filter { $0.words.count > 1 && $0.words[0] == group }.map { $0.words[1] }.unique
    }

    /// Whether the first word of a group is also a command without a second word, such as
    /// `history`.
    static func isCommand(_ group: String) -> Bool { commands.contains { $0.name == group } }

    /// The description of a first word in a list.
    static func summary(of word: String) -> String {
        commands.first { $0.name == word }?.summary
            ?? secondWords(of: word).joined(separator: ", ")
    }

    /// The text in single quotes, for a shell without escapes inside them.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for character in text {
            quoted += character == "'" ? "'\\''" : String(character)
        }
        return quoted + "'"
    }
}

extension [String] {
    /// The elements in order, each only at its first position.
    fileprivate var unique: [String] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
