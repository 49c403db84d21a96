import Base

/// An error in a command line.
package enum UsageError: Error, Sendable, Equatable {
    case unknownCommand(String, nearest: String?)
    /// The first word of commands with two words, without a second one.
    case incompleteCommand(String, forms: [String])
    /// A flag before the command.
    case flagBeforeCommand(String)
    case unknownFlag(String, nearest: String?, command: CommandName)
    case missingValue(flag: String, value: String, command: CommandName)
    case unexpectedValue(flag: String, command: CommandName)
    case badValue(flag: String, text: String, expected: String, command: CommandName)
    case badArgument(name: String, text: String, expected: String, command: CommandName)
    case repeatedFlag(String, command: CommandName)
    case missingArgument(String, command: CommandName)
    case extraArgument(String, command: CommandName)
    case needs(flag: String, other: String, command: CommandName)
    /// Two results would be written to standard output.
    case twoResults(command: CommandName)

    /// The error for people.
    package var commandError: CommandError {
        CommandError(.usage, sentence, hint: hint)
    }

    private var sentence: String {
        switch self {
        case .unknownCommand(let word, _): "there is no command '\(word.visible)'"
        case .incompleteCommand(let word, _): "'\(word.visible)' needs a second word"
        case .flagBeforeCommand(let flag): "'\(flag.visible)' stands before the command"
        case .unknownFlag(let flag, _, let command):
            "'\(command.rawValue)' has no flag '\(flag.visible)'"
        case .missingValue(let flag, let value, _): "'\(flag)' needs a value, \(value)"
        case .unexpectedValue(let flag, _): "'\(flag)' takes no value"
        case .badValue(let flag, let text, let expected, _):
            "'\(text.visible)' is no value for '\(flag)', which takes \(expected)"
        case .badArgument(let name, let text, let expected, _):
            "'\(text.visible)' is no \(name), which is one of \(expected)"
        case .repeatedFlag(let flag, _): "'\(flag)' is given more than once"
        case .missingArgument(let name, let command):
            "'\(command.rawValue)' needs the argument \(name)"
        case .extraArgument(let text, let command):
            "'\(command.rawValue)' has no use for '\(text.visible)'"
        case .needs(let flag, let other, _): "'\(flag)' means nothing without '\(other)'"
        case .twoResults: "'--json' and '--events -' both want standard output"
        }
    }

    private var hint: String {
        switch self {
        case .unknownCommand(_, .some(let nearest)):
            "did you mean '\(nearest)'? try 'yardmaster --help'"
        case .unknownCommand(_, nil): "try 'yardmaster --help'"
        case .incompleteCommand(_, let forms):
            "one of " + forms.map { "'yardmaster \($0)'" }.joined(separator: ", ")
        case .flagBeforeCommand:
            "flags come after the command; try 'yardmaster --help'"
        case .unknownFlag("--simulate", _, .doctor):
            "it looks at this host's own Bluetooth; a simulated depot needs none"
        case .unknownFlag("--simulate", _, let command):
            "it uses no radio, and does the same for a rehearsal: leave '--simulate' out; "
                + Self.pointer(command)
        case .unknownFlag("-n", _, let command) where command.takes("dry-run"):
            "did you mean '--dry-run'? \(Self.pointer(command))"
        case .unknownFlag("-n", _, .update), .unknownFlag("--dry-run", _, .update):
            "without '--yes' it only shows what it would do, and asks; \(Self.pointer(.update))"
        case .unknownFlag("-n", _, let command) where command.takes("events"),
            .unknownFlag("--dry-run", _, let command) where command.takes("events"):
            "'yardmaster plan' shows what a run would do, and changes nothing; "
                + Self.pointer(command)
        case .unknownFlag("-v", _, let command) where command.takes("events"),
            .unknownFlag("--verbose", _, let command) where command.takes("events"):
            "'--events FILE' records everything that happens; \(Self.pointer(command))"
        case .unknownFlag(_, .some(let nearest), let command):
            "did you mean '\(nearest)'? \(Self.pointer(command))"
        case .missingValue(let flag, _, let command) where flag.hasPrefix("--"):
            "a value that begins with '-' is written '\(flag)=-…'; \(Self.pointer(command))"
        case .unknownFlag(_, nil, let command), .missingValue(_, _, let command),
            .unexpectedValue(_, let command), .badValue(_, _, _, let command),
            .badArgument(_, _, _, let command), .repeatedFlag(_, let command),
            .missingArgument(_, let command), .extraArgument(_, let command),
            .needs(_, _, let command):
            Self.pointer(command)
        case .twoResults: "write the events to a file: '--events FILE'"
        }
    }

    private static func pointer(_ command: CommandName) -> String {
        "try 'yardmaster \(command.rawValue) --help'"
    }
}

extension CommandName {
    /// Whether the command has the flag of this long name.
    fileprivate func takes(_ flag: String) -> Bool {
        Command.all.first { $0.id == self }?.flag(long: flag) != nil
    }
}
