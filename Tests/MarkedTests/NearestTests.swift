import Marked
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
        #expect(Nearest.hint("zzz", among: []) == "nothing can stand here")
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
