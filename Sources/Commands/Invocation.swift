/// A parsed command line: a command with its checked values.
package struct Invocation: Sendable, Equatable {
    package let command: CommandName
    package let arguments: [String]
    /// The values by long flag name, in the given order; a flag without a value has an empty text
    /// for each use.
    private let given: [String: [String]]

    init(command: CommandName, arguments: [String], given: [String: [String]]) {
        self.command = command
        self.arguments = arguments
        self.given = given
    }

    package func has(_ flag: String) -> Bool { given[flag] != nil }

    package func value(_ flag: String) -> String? { given[flag]?.first }

    package func values(_ flag: String) -> [String] { given[flag] ?? [] }
}

/// The result of parsing a command line.
package enum Request: Sendable, Equatable {
    case run(Invocation)
    /// Help for one command, or for the program.
    case help(CommandName?)
}
