import Commands
import Testing

/// House rules of the flag table.
@Suite struct TableTests {
    @Test func `every command name has one entry`() {
        #expect(Command.all.map(\.id) == CommandName.allCases)
    }

    @Test(arguments: CommandName.allCases)
    func `a command is explained and its flags are distinguished`(id: CommandName) throws {
        let command = try #require(Command.named(id))
        #expect(!command.summary.isEmpty)
        #expect(!command.summary.hasSuffix("."))
        #expect(!command.description.isEmpty)
        #expect(Set(command.flags.map(\.long)).count == command.flags.count)
        let shorts = command.flags.compactMap(\.short)
        #expect(Set(shorts).count == shorts.count)
        #expect(command.flags.last?.long == "help")
        for flag in command.flags {
            #expect(flag.help.hasSuffix("."), "--\(flag.long)")
            if let needs = flag.needs { #expect(command.flag(long: needs) != nil) }
        }
        // An optional word cannot come before a required one.
        let counts = command.arguments.map(\.count)
        #expect(counts.dropLast().allSatisfy { $0 == .one })
    }

    /// The words of the first command of a shell line; quotes hold words together.
    private static func words(of line: String) -> [String] {
        let first = line.split { $0 == ">" || $0 == "|" || $0 == "&" }[0]
        var words: [String] = []
        for (index, part) in first.split(separator: "'", omittingEmptySubsequences: false)
            .enumerated()
        {
            if index.isMultiple(of: 2) {
                words += part.split(separator: " ").map(String.init)
            } else {
                words.append(String(part))
            }
        }
        return words
    }

    @Test(arguments: CommandName.allCases)
    func `every example is a line that parses`(id: CommandName) throws {
        let command = try #require(Command.named(id))
        for example in command.examples {
            let words = Self.words(of: example.line)
            #expect(words.first == "yardmaster")
            guard case .run(let invocation) = try Parser.parse(Array(words.dropFirst())) else {
                Issue.record("\(example.line) asks for help")
                continue
            }
            #expect(invocation.command == command.id)
        }
    }
}
