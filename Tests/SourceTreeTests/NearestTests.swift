import Base
import Testing

@Suite struct NearestTests {
    @Test(arguments: [
        ("secrt", "secret"), ("Secret", "secret"), ("screte", "secret"), ("setp", "steps"),
        ("foo", nil), ("", nil),
    ])
    func `a typing error finds its word`(typed: String, meant: String?) {
        #expect(Nearest.match(typed, among: ["serial", "secret", "steps"]) == meant)
    }

    @Test func `without a near word the known ones are listed in order`() {
        #expect(Nearest.hint("zzz", among: ["b", "a"]) == "known here: `a`, `b`")
        #expect(Nearest.hint("zzz", among: []) == "nothing is allowed here")
    }

    @Test(arguments: [
        ("unlock", ["lock", "unlock-all", "unlock-driver"], "`unlock-driver` or `unlock-all`"),
        ("flash", ["set", "update", "wait"], "`update`"),
        ("Upgrade", ["set", "update", "wait"], "`update`"),
        ("open", ["lock", "open-trunk", "unlock-all"], "`unlock-all` or `open-trunk`"),
        ("soc", ["speed", "state_of_charge"], "`state_of_charge`"),
        ("time_zone", ["for", "from", "zone"], "`zone`"),
    ])
    func `a word of other tools leads to ours`(typed: String, known: [String], meant: String) {
        #expect(Nearest.hint(typed, among: known) == "did you mean \(meant)?")
    }

    @Test(arguments: [
        ("unlock", ["lock"]), ("lock", ["unlock"]), ("disabled", ["enabled"]),
        ("on", ["off"]), ("check-in", ["check-out"]), ("ignition-enable", ["ignition-disable"]),
        ("charge", ["command", "update", "wait"]),
    ])
    func `the contrary of a word is never what was meant`(typed: String, known: [String]) {
        #expect(Nearest.hint(typed, among: known).hasPrefix("known here: "))
        #expect(Nearest.meant(by: typed, among: known).isEmpty)
    }

    @Test func `a fault of many rows is reported once, with how many they are and where`() {
        func fault(_ line: Int, _ word: String) -> Diagnostic {
            Diagnostic(
                .error,
                Place(file: "fleet.csv", line: line, column: 9),
                "`\(word)` is not a family of modules",
                hint: "did you mean `comodule`?"
            )
        }
        let three = (2...4).map { fault($0, "comodul") }
        #expect(Diagnostic.texts(three) == three.map(\.description))
        let other = Diagnostic(.error, Place(file: "m.yaml", line: 1, column: 1), "other")
        let many = (2...21).map { fault($0, "comodul\($0)") }
        #expect(
            Diagnostic.texts([other] + many) == [
                other.description,
                """
                fleet.csv:2:9: error: `comodul2` is not a family of modules
                  hint: did you mean `comodule`?
                  the same 19 times more, at 3:9, 4:9, 5:9, 6:9, 7:9 and 14 other places
                """,
            ]
        )
    }

    @Test(arguments: [
        ("kitten", "sitting", 3), ("ab", "ba", 1), ("", "abc", 3), ("abc", "abc", 0),
    ])
    func `distance counts edits`(left: String, right: String, edits: Int) {
        #expect(Nearest.distance(Array(left.utf8), Array(right.utf8)) == edits)
    }

    @Test func `a quoted piece is short, harmless and never a key`() {
        #expect(quoted("a b") == "`a b`")
        #expect(quoted("a\u{1B}[2J\n") == #"`a\u{1b}[2J\u{a}`"#)
        #expect(quoted(String(repeating: "x", count: 70)).unicodeScalars.count == 63)
        #expect(quoted("00112233445566778899aabbccddeeff") == "<32 hex digits>")
    }
}
