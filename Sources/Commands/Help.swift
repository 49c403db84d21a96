/// The text of `--help`, generated from the table.
package enum Help {
    private static let width = 80

    package static func text(for command: CommandName?) -> String {
        command.flatMap { Command.named($0) }.map { text(for: $0) } ?? program
    }

    /// The help for the words after `help`; without words, the program's own.
    package static func text(for words: [String]) throws(UsageError) -> String {
        guard let first = words.first else { return program }
        if words.count == 1, let text = text(ofGroup: first) { return text }
        let command = try Parser.command(words)
        if words.count > command.words.count {
            throw .extraArgument(words[command.words.count], command: .help)
        }
        return text(for: command)
    }

    /// The help for the first word of commands that all have two, such as `fleet`.
    package static func text(ofGroup word: String) -> String? {
        let members = Command.all.filter { !$0.isHidden && $0.words[0] == word }
        guard !members.isEmpty, members.allSatisfy({ $0.words.count > 1 }) else { return nil }
        return list(members, after: "Usage: yardmaster \(word) COMMAND [OPTIONS] [ARGUMENTS]\n")
    }

    private static let program = list(
        Command.all.filter { !$0.isHidden },
        after: """
            Usage: yardmaster COMMAND [OPTIONS] [ARGUMENTS]

            Updates the BLE modules of a depot's vehicles to the firmware they should run.

            """
    )

    private static func list(_ commands: [Command], after head: String) -> String {
        let column = 4 + commands.reduce(0) { max($0, $1.name.count) }
        let rows = commands.map {
            Paragraph.entry($0.name, $0.summary + ".", column: column, width: width)
        }
        return """
            \(head)
            Commands:
            \(rows.joined())
            'yardmaster COMMAND --help' explains a command with its options and exit codes.

            """
    }

    private static func text(for command: Command) -> String {
        var text = "Usage: \(command.usage)\n\n\(command.summary).\n"
        for paragraph in command.description {
            text += "\n" + Paragraph.lines(paragraph, width: width).joined(separator: "\n") + "\n"
        }
        if !command.arguments.isEmpty {
            text += "\nArguments:\n"
            for argument in command.arguments {
                text += Paragraph.entry(argument.name, argument.help, column: 24, width: width)
            }
        }
        text += "\nOptions:\n"
        for flag in command.flags {
            text += Paragraph.entry(flag.term, flag.fullHelp, column: 28, width: width)
        }
        if !command.examples.isEmpty {
            text += "\nExamples:\n"
            for example in command.examples {
                text += "  \(example.line)\n"
                for line in Paragraph.lines(example.meaning, width: width - 6) {
                    text += "      \(line)\n"
                }
            }
        }
        text += "\nExit codes:\n"
        for code in command.allExitCodes {
            let number = String(code.rawValue)
            let padded = String(repeating: " ", count: 3 - number.utf8.count) + number
            text += Paragraph.entry(padded, code.sentence + ".", column: 7, width: width)
        }
        return text
    }
}

extension FlagRow {
    /// The flag in the form `-q, --quiet` or `    --state DIR`.
    fileprivate var term: String {
        (short.map { "-\($0), " } ?? "    ") + "--" + long + (value.map { " " + $0.name } ?? "")
    }
}
