import Commands
import Testing

@Suite struct ExitCodeTests {
    /// The table of exit codes, written here a second time by hand.
    static let table: [(ExitCode, Int32, String)] = [
        (.done, 0, "done"),
        (.internalError, 1, "internal-error"),
        (.someFailed, 10, "some-failed"),
        (.someMissed, 11, "some-missed"),
        (.paused, 12, "paused"),
        (.aborted, 13, "aborted"),
        (.workLeft, 15, "work-left"),
        (.usage, 64, "usage"),
        (.invalidManifest, 65, "invalid-manifest"),
        (.inputMissing, 66, "input-missing"),
        (.unavailable, 69, "unavailable"),
        (.cannotCreate, 73, "cannot-create"),
        (.cannotWrite, 74, "cannot-write"),
        (.busy, 75, "busy"),
        (.trustRefused, 77, "trust-refused"),
        (.configuration, 78, "configuration"),
        (.interrupted, 130, "interrupted"),
        (.terminated, 143, "terminated"),
    ]

    @Test(arguments: table)
    func `a code has its number, its name and a sentence`(
        code: ExitCode,
        number: Int32,
        name: String
    ) throws {
        #expect(code.rawValue == number)
        #expect(code.name == name)
        #expect(ExitCode(rawValue: number) == code)
        #expect(!code.sentence.isEmpty)
        #expect(!code.sentence.hasSuffix("."))
    }

    @Test func `the table is complete and no sentence stands twice`() {
        #expect(ExitCode.allCases == Self.table.map(\.0))
        #expect(Set(ExitCode.allCases.map(\.sentence)).count == ExitCode.allCases.count)
        #expect(ExitCode(rawValue: 2) == nil)
    }

    @Test func `the worst wins`() {
        let order: [ExitCode] = [
            .internalError, .trustRefused, .paused, .aborted, .someFailed, .workLeft, .someMissed,
            .done,
        ]
        for (place, worse) in order.enumerated() {
            for better in order[place...] {
                #expect(ExitCode.worst(of: [better, worse]) == worse)
                #expect(ExitCode.worst(of: [worse, better]) == worse)
            }
        }
    }

    @Test func `nothing to weigh is done`() {
        #expect(ExitCode.worst(of: []) == .done)
    }

    @Test func `any two codes are weighed the same in either order`() {
        for left in ExitCode.allCases {
            for right in ExitCode.allCases {
                #expect(ExitCode.worst(of: [left, right]) == ExitCode.worst(of: [right, left]))
            }
        }
    }

    @Test(arguments: CommandError.Kind.allCases)
    func `every kind of error ends with a code that is no outcome of vehicles`(
        kind: CommandError.Kind
    ) {
        let code = kind.exitCode.rawValue
        #expect(code == 1 || (64...78).contains(code))
    }
}
