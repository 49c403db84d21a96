/// The text of `--help`, generated from the table.
package enum Help {
    private static let width = 80

    package static func text(for command: CommandName?) -> String {
        command.flatMap { Command.named($0) }.map { text(for: $0) } ?? program
    }

    /// The help for the words after `help`; without words, the program's own.
    package static func text(for words: [String]) throws(UsageError) -> String {
        guard !words.isEmpty else { return program }
        let command = try Parser.command(words)
        if words.count > command.words.count {
            throw .extraArgument(words[command.words.count], command: .help)
        }
        return text(for: command)
    }

    private static let program: String = {
        var text = """
            Usage: yardmaster COMMAND [OPTIONS] [ARGUMENTS]

            Updates the BLE modules of a depot's vehicles to the firmware they should run.

            Commands:

            """
        let listed = Command.all.filter { !$0.isHidden }
        let column = 4 + listed.reduce(0) { max($0, $1.name.count) }
        for command in listed {
            text += Paragraph.entry(
                command.name,
                command.summary + ".",
                column: column,
                width: width
            )
        }
        return text + """

            'yardmaster COMMAND --help' explains a command with its options and exit codes.

            """
    }()

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
