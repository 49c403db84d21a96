import Base
import Commands
import Testing

@Suite struct VehiclePatternTests {
    @Test(arguments: [
        ("v1", "v1", true), ("v1", "v12", false), ("v*", "v12", true), ("*", "anything", true),
        ("*2", "v12", true), ("*2", "v123", false), ("v?", "v1", true), ("v?", "v", false),
        ("bus-*-a", "bus-7-b-a", true), ("bus-*-a", "bus-a", false), ("a*b*c", "aXbYbZc", true),
        ("a*b*c", "aXcYb", false), ("**", "v", true), ("?*?", "v", false), ("V1", "v1", false),
        ("é?", "é🚗", true), ("[v]1", "v1", false), ("a b", "a b", true),
    ])
    func `a pattern matches or not`(pattern: String, vehicle: String, matches: Bool) throws {
        let pattern = try #require(VehiclePattern(pattern))
        let vehicle = try #require(VehicleID(vehicle))
        #expect(pattern.matches(vehicle) == matches)
    }

    @Test func `many stars take no more than a moment`() throws {
        let pattern = try #require(VehiclePattern(String(repeating: "*a", count: 100) + "b"))
        let vehicle = try #require(VehicleID(String(repeating: "a", count: 128)))
        #expect(!pattern.matches(vehicle))
    }

    @Test func `nothing and too much are no patterns`() {
        #expect(VehiclePattern("") == nil)
        #expect(VehiclePattern(String(repeating: "a", count: 257)) == nil)
    }
}

@Suite struct StateDirectoryTests {
    @Test(
        arguments: [
            ("here", ["STATE_DIRECTORY": "/s", "HOME": "/h"], "here"),
            (nil, ["STATE_DIRECTORY": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/s"),
            (nil, ["STATE_DIRECTORY": "/s/one:/s/two"], "/s/one"),
            (nil, ["XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/yardmaster"),
            (nil, ["XDG_STATE_HOME": "/x/", "HOME": "/h"], "/x/yardmaster"),
            (nil, ["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/yardmaster"),
            (nil, ["STATE_DIRECTORY": "", "HOME": "/h"], "/h/.local/state/yardmaster"),
            (nil, ["HOME": ""], nil),
            (nil, [:], nil),
        ] as [(String?, [String: String], String?)]
    )
    func `the first that says where wins`(
        flag: String?,
        environment: [String: String],
        path: String?
    ) {
        #expect(StateLocation.path(flag: flag, environment: { environment[$0] }) == path)
    }
}

@Suite struct CommandErrorTests {
    let error = CommandError(
        .inputMissing,
        "cannot read 'fleet.yaml'",
        because: ["the file does not exist", "the\u{7}folder is empty"],
        hint: "give its path"
    )

    @Test func `an error is reported in sentence, causes and hint`() {
        #expect(
            error.text == """
                yardmaster: error: cannot read 'fleet.yaml'
                  because the file does not exist
                  because the\\u{7}folder is empty
                  hint: give its path

                """
        )
    }

    @Test func `further lines are set in`() {
        let error = CommandError(.manifest, "two faults:\na.yaml:1:1: one\na.yaml:2:1: two")
        #expect(
            error.text == """
                yardmaster: error: two faults:
                    a.yaml:1:1: one
                    a.yaml:2:1: two

                """
        )
    }

    @Test func `an error is one JSON document`() throws {
        #expect(
            error.document.text == #"{"schema":1,"error":{"kind":"input-missing","#
                + #""message":"cannot read 'fleet.yaml'","causes":["the file does not exist","#
                + #""the\u0007folder is empty"],"hint":"give its path"},"exit":{"code":66,"#
                + #""reason":"an input file is missing or cannot be read"}}"#
        )
        let bare = CommandError(.busy, "busy").document
        #expect(bare["error"]?["hint"] == nil)
        #expect(bare["error"]?["causes"] == .array([]))
        #expect(bare["exit"]?["code"] == 75)
    }

    @Test(arguments: [
        ("plain é🚗", "plain é🚗"), ("a\nb", "a\\u{a}b"), ("\u{1B}[2J", "\\u{1b}[2J"),
        ("\u{9B}m", "\\u{9b}m"), ("\u{202E}abc", "\\u{202e}abc"), ("\r\n", "\\u{d}\\u{a}"),
    ])
    func `what commands a terminal is spelled out`(text: String, visible: String) {
        #expect(text.visible == visible)
    }
}
