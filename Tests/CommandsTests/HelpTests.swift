import Commands
import Foundation
import Testing
import Workbench

@Suite struct HelpTests {
    /// One of each kind: many flags, an argument that may repeat, a group, nothing.
    @Test(arguments: [CommandName.run, .exec, .history, .version])
    func `the help of a command is what is kept`(id: CommandName) throws {
        let name = try #require(Command.named(id)).name
        try Golden.expect(Help.text(for: id), equals: "help-\(name).txt")
    }

    @Test(arguments: CommandName.allCases)
    func `the help of a command has its row, its flags and its examples`(id: CommandName) throws {
        let command = try #require(Command.named(id))
        let text = Help.text(for: id)
        #expect(try Help.text(for: command.words) == text)
        #expect(text.contains("yardmaster \(command.name)"))
        for flag in command.flags { #expect(text.contains("--\(flag.long)")) }
        for example in command.examples { #expect(text.contains(example.line)) }
    }

    @Test func `the help of the program is what is kept`() throws {
        try Golden.expect(Help.text(for: nil), equals: "help.txt")
        #expect(try Help.text(for: []) == Help.text(for: nil))
    }

    @Test(arguments: ["fleet", "gateway", "secrets", "bundle", "images"])
    func `a word that begins several commands has a help that lists them`(word: String) throws {
        let text = try Help.text(for: [word])
        #expect(try Parser.parse([word, "--help"]) == .help(text))
        #expect(try Parser.parse([word, "-h"]) == .help(text))
        let members = Command.all.filter { !$0.isHidden && $0.words[0] == word }
        #expect(members.count > 1)
        for command in members {
            #expect(text.contains("\(command.name) "))
            #expect(text.contains(command.summary.prefix(20)))
        }
        #expect(throws: UsageError.self) { try Parser.parse([word]) }
    }

    @Test func `no line of help is wider than 80 columns but for examples`() {
        for id in [nil] + CommandName.allCases.map({ Optional($0) }) {
            let examples = id.flatMap { Command.named($0) }?.examples.map(\.line) ?? []
            for line in Help.text(for: id).split(separator: "\n")
            where !examples.contains(String(line.drop { $0 == " " })) {
                #expect(line.count <= 80, "\(line)")
            }
        }
    }

    @Test func `help for what is no command is an error`() {
        #expect(throws: UsageError.unknownCommand("rum", nearest: "run")) {
            try Help.text(for: ["rum"])
        }
        #expect(throws: UsageError.extraArgument("now", command: .help)) {
            try Help.text(for: ["run", "now"])
        }
    }

    @Test(.enabled(if: Tool.isInstalled("mandoc"), "mandoc is not installed"))
    func `the manual page has nothing that mandoc complains about`() throws {
        let mandoc = try #require(Tool("mandoc"))
        let lint = try mandoc.run(["-T", "lint", "-W", "warning"], input: ManualPage.text)
        #expect(lint.output + lint.errors == "")
        #expect(lint.status == 0)
        let page = try mandoc.run(["-T", "utf8"], input: ManualPage.text)
        #expect(page.status == 0)
        // A terminal's bold letter is the same letter printed twice, with a backspace in between.
        let text = page.output.replacing(#/.\x08/#, with: "")
        for command in Command.all where !command.isHidden {
            #expect(text.contains("yardmaster \(command.name)"))
        }
        #expect(text.contains("--limit PATTERN"))
        #expect(text.contains("143"))
    }
}
