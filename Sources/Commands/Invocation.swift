/// A parsed command line: a command with its checked values.
///
/// What it gives of a flag is read by the flag of the table, and has the flag's type.
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

    package subscript<Value>(flag: Flag<Value>) -> Value { flag.read(given[flag.long] ?? []) }
}

/// The result of parsing a command line.
package enum Request: Sendable, Equatable {
    case run(Invocation)
    /// Help for one command, for a group of them, or for the program: its text.
    case help(String)
}
