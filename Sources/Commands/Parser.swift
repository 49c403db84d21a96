/// Parses a command line by the table; the arguments do not include the program's name.
package enum Parser {
    package static func parse(_ arguments: [String]) throws(UsageError) -> Request {
        guard let first = arguments.first else { return .help(Help.text(for: nil)) }
        switch first {
        case "-h", "--help": return .help(Help.text(for: nil))
        case "--version", "-V":
            return .run(Invocation(command: .version, arguments: [], given: [:]))
        case _ where first.hasPrefix("-"): throw .flagBeforeCommand(first)
        default: break
        }
        if arguments.count > 1, ["-h", "--help"].contains(arguments[1]),
            let text = Help.text(ofGroup: first)
        {
            return .help(text)
        }
        let command = try command(arguments)
        var line = CommandLineReader(command: command)
        return try line.read(arguments.dropFirst(command.words.count))
    }

    /// The words that other programs have for commands of this one.
    package static let foreign: [String: CommandName] = [
        "flash": .update, "dfu": .update, "install": .update, "upgrade": .update,
        "dry-run": .plan, "discover": .scan,
    ]

    /// The command that the words begin with; if several match, the one with the most words.
    static func command(_ words: [String]) throws(UsageError) -> Command {
        let fitting = Command.all.filter { words.starts(with: $0.words) }
        if let longest = fitting.max(by: { $0.words.count < $1.words.count }) { return longest }
        let word = words.first ?? ""
        let forms = Command.all.filter { !$0.isHidden && $0.words.first == word }.map(\.name)
        guard forms.isEmpty else { throw .incompleteCommand(word, forms: forms) }
        let names = Command.all.filter { !$0.isHidden }.map { $0.words[0] }
        let nearest = foreign[word]?.rawValue ?? Spelling.nearest(to: word, among: names)
        throw .unknownCommand(word, nearest: nearest)
    }

    /// Whether the result should be JSON, guessed from an invalid command line.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}

/// Parses the part after the command.
///
/// The first error is kept and parsing continues, because a later `--help` takes precedence over
/// it.
private struct CommandLineReader {
    let command: Command
    var arguments: [String] = []
    var given: [String: [String]] = [:]
    var fault: UsageError?

    init(command: Command) { self.command = command }

    mutating func read(_ words: ArraySlice<String>) throws(UsageError) -> Request {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                arguments.append(word)
                continue
            }
            if word == "-h" || word == "--help" { return .help(Help.text(for: command.id)) }
            take(flag: word, &rest)
        }
        if let fault { throw fault }
        try checkArguments()
        let invocation = Invocation(command: command.id, arguments: arguments, given: given)
        try checkTogether(invocation)
        return .run(invocation)
    }

    private mutating func take(flag word: String, _ rest: inout ArraySlice<String>) {
        let equals = word.firstIndex(of: "=")
        let name = String(word[..<(equals ?? word.endIndex)])
        guard let flag = command.flags.first(where: { $0.answers(to: name) }) else {
            let names = command.flags.map { "--" + $0.long }
            let nearest = Spelling.nearest(to: name, among: names)
            return note(.unknownFlag(name, nearest: nearest, command: command.id))
        }
        var text = equals.map { String(word[word.index(after: $0)...]) }
        if let value = flag.value {
            if text == nil, let next = rest.first, next == "-" || !next.hasPrefix("-") {
                text = next
                rest.removeFirst()
            }
            guard let text else {
                return note(.missingValue(flag: name, value: value.name, command: command.id))
            }
            if !value.isValid(text) {
                note(
                    .badValue(
                        flag: name,
                        text: text,
                        expected: value.expected,
                        command: command.id
                    )
                )
            }
        } else if text != nil {
            note(.unexpectedValue(flag: name, command: command.id))
        }
        if given[flag.long] != nil, !flag.isRepeatable {
            note(.repeatedFlag(name, command: command.id))
        }
        given[flag.long, default: []].append(text ?? "")
    }

    private mutating func note(_ error: UsageError) { fault = fault ?? error }

    private func checkArguments() throws(UsageError) {
        var left = arguments[...]
        for argument in command.arguments {
            if argument.count == .any {
                left = []
                break
            }
            guard let text = left.popFirst() else {
                guard argument.count == .atMostOne else {
                    throw .missingArgument(argument.name, command: command.id)
                }
                continue
            }
            guard argument.kind.isValid(text) else {
                throw .badArgument(
                    name: argument.name,
                    text: text,
                    expected: argument.kind.expected,
                    command: command.id
                )
            }
        }
        if let extra = left.first { throw .extraArgument(extra, command: command.id) }
    }

    private func checkTogether(_ invocation: Invocation) throws(UsageError) {
        for flag in command.flags {
            guard given[flag.long] != nil, let other = flag.needs, given[other] == nil else {
                continue
            }
            throw .needs(flag: "--" + flag.long, other: "--" + other, command: command.id)
        }
        if invocation[Command.json], invocation[Command.events] == "-" {
            throw .twoResults(command: command.id)
        }
    }
}

extension FlagRow {
    /// Whether `name`, with its dashes, is this flag.
    fileprivate func answers(to name: String) -> Bool {
        name == "--" + long || short.map { name == "-\($0)" } ?? false
    }
}
