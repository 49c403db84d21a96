import Commands
import Testing

@Suite struct ParserTests {
    private func invocation(_ line: [String]) throws -> Invocation {
        guard case .run(let invocation) = try Parser.parse(line) else {
            throw UsageError.unknownCommand("help was asked for", nearest: nil)
        }
        return invocation
    }

    @Test func `flags and arguments stand in any order`() throws {
        let line = try invocation([
            "run", "--state", "/a", "m.yaml", "--events=x=y", "-q", "--limit", "v1", "--limit=b*",
        ])
        #expect(line.command == .run)
        #expect(line.arguments == ["m.yaml"])
        #expect(line[Command.state] == "/a")
        #expect(line[Command.events] == "x=y")
        #expect(line[Command.quiet])
        #expect(!line[Command.json])
        #expect(line[Command.limit].map(\.text) == ["v1", "b*"])
        #expect(line[Command.seed] == nil)
    }

    @Test func `a rehearsal of what needs no vehicle is refused with the reason`() {
        for command in Command.all
        where !command.flags.contains(where: { $0.long == "simulate" }) && command.id != .doctor {
            let error = UsageError.unknownFlag("--simulate", nearest: nil, command: command.id)
            let hint = error.commandError.hint ?? ""
            #expect(hint.contains("leave '--simulate' out"), "\(command.id.rawValue)")
        }
        let words = ["secrets", "check", "m.yaml", "--simulate", "d.yaml"]
        let error = #expect(throws: UsageError.self) { try Parser.parse(words) }
        #expect(error?.commandError.hint?.hasPrefix("it uses no radio") == true, "\(error as Any)")
    }

    @Test func `a lone dash is a value`() throws {
        #expect(try invocation(["run", "m.yaml", "--events", "-"])[Command.events] == "-")
    }

    @Test func `after two dashes nothing is a flag`() throws {
        #expect(try invocation(["run", "--quiet", "--", "--help"]).arguments == ["--help"])
    }

    @Test(
        arguments: [
            ([], nil), (["--help"], nil), (["-h"], nil), (["-h", "run"], nil),
            (["run", "--help"], .run), (["run", "-h"], .run),
            (["run", "--nonsense", "m", "n", "--help"], .run),
            (["version", "-h"], .version),
        ] as [([String], CommandName?)]
    )
    func `help is asked for`(line: [String], command: CommandName?) throws {
        #expect(try Parser.parse(line) == .help(Help.text(for: command)))
    }

    @Test(arguments: ["--version", "-V", "version"])
    func `the version is asked for`(word: String) throws {
        #expect(try invocation([word]).command == .version)
    }

    @Test(
        arguments: [
            (["rum"], .unknownCommand("rum", nearest: "run")),
            (["frobnicate"], .unknownCommand("frobnicate", nearest: nil)),
            (["RUN"], .unknownCommand("RUN", nearest: nil)),
            ([""], .unknownCommand("", nearest: nil)),
            (["--state", "x", "run"], .flagBeforeCommand("--state")),
            (["run"], .missingArgument("MANIFEST", command: .run)),
            (["run", "--"], .missingArgument("MANIFEST", command: .run)),
            (["run", "a", "b"], .extraArgument("b", command: .run)),
            (["version", "a"], .extraArgument("a", command: .version)),
            (["run", "a", "--stat=x"], .unknownFlag("--stat", nearest: "--state", command: .run)),
            (["run", "a", "--qiuet"], .unknownFlag("--qiuet", nearest: "--quiet", command: .run)),
            (["run", "a", "--zzzzzz"], .unknownFlag("--zzzzzz", nearest: nil, command: .run)),
            (["run", "a", "-x"], .unknownFlag("-x", nearest: nil, command: .run)),
            (["run", "a", "-qh"], .unknownFlag("-qh", nearest: nil, command: .run)),
            (["version", "--state"], .unknownFlag("--state", nearest: nil, command: .version)),
            (["run", "a", "--state"], .missingValue(flag: "--state", value: "DIR", command: .run)),
            (
                ["run", "a", "--state", "--json"],
                .missingValue(flag: "--state", value: "DIR", command: .run)
            ),
            (["run", "a", "--json=yes"], .unexpectedValue(flag: "--json", command: .run)),
            (["run", "a", "--json", "--json"], .repeatedFlag("--json", command: .run)),
            (["run", "a", "-q", "--quiet"], .repeatedFlag("--quiet", command: .run)),
            (
                ["run", "a", "--state", "x", "--state", "x"],
                .repeatedFlag("--state", command: .run)
            ),
            (
                ["run", "a", "--seed", "1"],
                .needs(flag: "--seed", other: "--simulate", command: .run)
            ),
            (
                ["run", "a", "--pace", "1"],
                .needs(flag: "--pace", other: "--simulate", command: .run)
            ),
            (["run", "a", "--json", "--events", "-"], .twoResults(command: .run)),
            (
                ["completion", "csh"],
                .badArgument(
                    name: "SHELL",
                    text: "csh",
                    expected: "bash, zsh, fish",
                    command: .completion
                )
            ),
        ] as [([String], UsageError)]
    )
    func `a wrong line is refused`(line: [String], error: UsageError) {
        #expect(throws: error) { try Parser.parse(line) }
        #expect(error.commandError.exitCode == .usage)
    }

    @Test(arguments: [
        ("--state", ""), ("--events", ""), ("--limit", ""), ("--seed", "-1"), ("--seed", "1.5"),
        ("--seed", ""), ("--seed", "18446744073709551616"), ("--seed", "0x10"), ("--seed", "+1"),
        ("--pace", "0"), ("--pace", "0.0"), ("--pace", "-1"), ("--pace", "1e3"), ("--pace", "."),
        ("--pace", "1."), ("--pace", "inf"), ("--pace", "nan"), ("--pace", "1.2.3"),
    ])
    func `a value that does not fit is refused with what fits`(flag: String, text: String) {
        let error = #expect(throws: UsageError.self) {
            try Parser.parse(["run", "m", "--simulate", "d", flag + "=" + text])
        }
        guard case .badValue(flag, text, let expected, .run) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!expected.isEmpty)
    }

    @Test(arguments: [("1", 1.0), ("0.5", 0.5), ("60", 60), ("3600.25", 3_600.25)])
    func `a pace is a decimal number`(text: String, pace: Double) throws {
        let line = try invocation(["run", "m", "--simulate", "d", "--pace", text])
        #expect(line[Command.pace] == pace)
    }

    @Test func `a seed has up to 64 bits`() throws {
        let line = try invocation([
            "run", "m", "--simulate", "d", "--seed", "18446744073709551615",
        ])
        #expect(line[Command.seed] == .max)
    }

    @Test func `every usage error says where to read on`() {
        let errors: [UsageError] = [
            .unknownCommand("rum", nearest: "run"), .unknownCommand("x", nearest: nil),
            .incompleteCommand("simulate", forms: ["simulate image"]), .flagBeforeCommand("-x"),
            .unknownFlag("--stat", nearest: "--state", command: .run),
            .missingValue(flag: "--state", value: "DIR", command: .run),
        ]
        #expect(
            errors.map(\.commandError.text) == [
                """
                yardmaster: error: there is no command 'rum'
                  hint: did you mean 'run'? try 'yardmaster --help'

                """,
                """
                yardmaster: error: there is no command 'x'
                  hint: try 'yardmaster --help'

                """,
                """
                yardmaster: error: 'simulate' needs a second word
                  hint: one of 'yardmaster simulate image'

                """,
                """
                yardmaster: error: '-x' stands before the command
                  hint: flags come after the command; try 'yardmaster --help'

                """,
                """
                yardmaster: error: 'run' has no flag '--stat'
                  hint: did you mean '--state'? try 'yardmaster run --help'

                """,
                """
                yardmaster: error: '--state' needs a value, DIR
                  hint: a value that begins with '-' is written '--state=-…'; \
                try 'yardmaster run --help'

                """,
            ]
        )
    }

    @Test(arguments: [
        ("flash", CommandName.update), ("dfu", .update), ("upgrade", .update),
        ("install", .update),
        ("dry-run", .plan), ("discover", .scan),
    ])
    func `a word of another program is answered with the command meant`(
        word: String,
        meant: CommandName
    ) {
        #expect(throws: UsageError.unknownCommand(word, nearest: meant.rawValue)) {
            try Parser.parse([word, "firmware.zip"])
        }
    }

    @Test func `no word of another program is a command here`() {
        #expect(Parser.foreign.keys.allSatisfy { CommandName(rawValue: $0) == nil })
    }

    @Test(arguments: [
        (CommandName.run, "-n", "'yardmaster plan' shows what a run would do"),
        (.run, "--dry-run", "'yardmaster plan' shows what a run would do"),
        (.exec, "-n", "'yardmaster plan' shows what a run would do"),
        (.update, "-n", "without '--yes' it only shows what it would do"),
        (.update, "--dry-run", "without '--yes' it only shows what it would do"),
        (.update, "-v", "'--events FILE' records everything that happens"),
        (.fleetPrune, "-n", "did you mean '--dry-run'?"),
        (.run, "-v", "'--events FILE' records everything that happens"),
        (.run, "--verbose", "'--events FILE' records everything that happens"),
        (.version, "-v", "try 'yardmaster version --help'"),
    ])
    func `a flag of another program is answered with what does it here`(
        command: CommandName,
        flag: String,
        hint: String
    ) throws {
        let words = command.rawValue.split(separator: " ").map { String($0) }
        let error = #expect(throws: UsageError.self) { try Parser.parse(words + [flag]) }
        let text = try #require(error).commandError.text
        #expect(text.contains("hint: \(hint)"), "\(text)")
    }

    @Test func `a control character of the command line is not printed`() {
        let error = UsageError.unknownCommand("a\u{1B}[31m\n", nearest: nil).commandError
        #expect(error.text.hasPrefix("yardmaster: error: there is no command 'a\\u{1b}[31m\\u{a}'"))
    }

    @Test func `whether JSON is wanted is seen in a line that is wrong`() {
        #expect(Parser.wantsJSON(["run", "--bad", "--json"]))
        #expect(!Parser.wantsJSON(["run", "--", "--json"]))
    }
}
