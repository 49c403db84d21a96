import Commands
import Testing

/// House rules of the flag table.
@Suite struct TableTests {
    @Test func `every command name has one entry`() {
        #expect(Command.all.map(\.id) == CommandName.allCases)
    }

    @Test(arguments: CommandName.allCases)
    func `a command is explained and its flags are told apart`(id: CommandName) throws {
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
        // A word that may be left out cannot stand before one that may not.
        let counts = command.arguments.map(\.count)
        #expect(counts.dropLast().allSatisfy { $0 == .one })
    }

    @Test(arguments: CommandName.allCases)
    func `every example is a line that parses`(id: CommandName) throws {
        let command = try #require(Command.named(id))
        for example in command.examples {
            let words = example.line.split { $0 == ">" || $0 == "|" }[0]
                .replacing("'", with: "").split(separator: " ").map { String($0) }
            #expect(words.first == "yardmaster")
            guard case .run(let invocation) = try Parser.parse(Array(words.dropFirst())) else {
                Issue.record("\(example.line) asks for help")
                continue
            }
            #expect(invocation.command == command.id)
        }
    }
}
