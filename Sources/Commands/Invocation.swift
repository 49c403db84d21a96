/// A command line that was understood: a command with its checked values.
package struct Invocation: Sendable, Equatable {
    package let command: CommandName
    package let arguments: [String]
    /// By long name, in the order given; a flag without value has an empty text for each time.
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

/// What a command line asks for.
package enum Request: Sendable, Equatable {
    case run(Invocation)
    /// Help for one command, or for the program.
    case help(CommandName?)
}
