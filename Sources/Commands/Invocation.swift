/// A parsed command line: a command with its checked values.
package struct Invocation: Sendable, Equatable {
    package let command: CommandName
    package let arguments: [String]
    /// The values by long flag name, in the given order; a flag without a value has an empty text
    /// for each use.
    private let given: [String: [String]]
    /// Warnings about flags that were given by their former names.
    package let remarks: [String]

    init(
        command: CommandName,
        arguments: [String],
        given: [String: [String]],
        remarks: [String] = []
    ) {
        self.command = command
        self.arguments = arguments
        self.given = given
        self.remarks = remarks
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
