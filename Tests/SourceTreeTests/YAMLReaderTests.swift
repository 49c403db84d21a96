import Base
import Testing

@Suite struct YAMLReaderTests {
    private func read(_ bytes: [UInt8]) -> (tree: SourceNode?, errors: [String]) {
        let diagnostics = Diagnostics()
        let tree = SourceNode.parse(bytes, file: "f", diagnostics)
        return (tree, diagnostics.list.map(\.description))
    }

    private func read(_ text: String) -> (tree: SourceNode?, errors: [String]) {
        read(Array(text.utf8))
    }

    @Test func `every node knows its line and column`() throws {
        let tree = try #require(read("é: [1, \"2\"]\nb:\n  - {c: ~}\n").tree)
        guard case .map(let entries) = tree.value, entries.count == 2,
            case .list(let first) = entries[0].value.value,
            case .list(let second) = entries[1].value.value,
            case .map(let inner) = second[0].value
        else {
            Issue.record("the shape is wrong: \(tree)")
            return
        }
        #expect(first.map(\.place.description) == ["f:1:5", "f:1:8"])
        #expect(first.map(\.value) == [.scalar("1", .plain), .scalar("2", .quoted)])
        #expect(entries[1].keyPlace.description == "f:2:1")
        #expect(inner[0].keyPlace.description == "f:3:6")
        #expect(inner[0].value.isNothing)
    }

    @Test func `JSON is YAML`() throws {
        let tree = try #require(read(#"{"a": [1, true, null, "x\u00e9"], "b": {}}"#).tree)
        guard case .map(let entries) = tree.value, case .list(let items) = entries[0].value.value
        else {
            Issue.record("the shape is wrong: \(tree)")
            return
        }
        #expect(items.map(\.kind) == ["a number", "a truth value", "nothing", "text"])
        #expect(items[3].value == .scalar("xé", .quoted))
    }

    @Test(arguments: [
        ("", "f:1:1: error: the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("---\n...\n", "the file is empty"),
        ("a: 1\na: 2\n", "f:2:1: error: the key `a` occurs twice"),
        ("a: 1\na: 2\n", "the first one is at f:1:1; remove one of them"),
        ("a: !!str 1", "f:1:4: error: tags (`!`) are not supported"),
        ("a: !x [1]", "f:1:4: error: tags (`!`) are not supported"),
        ("a: !x!y 1", "tags (`!`) are not supported"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "f:3:3: error: merge keys (`<<`) are not supported"),
        ("a: 1\n---\nb: 2\n", "f:2:1: error: a second document starts here"),
        ("a: 1\n...\n---\nb: 2\n", "f:3:1: error: a second document starts here"),
        ("%TAG ! x:\n---\na: 1", "f:1:1: error: directives (`%`) are not supported"),
        ("a:\n\tb: 1\n", "f:2:1: error: a tab cannot indent"),
        ("a:\n  b: 1\n\tc: 1\n", "f:3:1: error: a tab cannot indent"),
        ("a: [1, 2\nb: 3\n", "is not closed before this"),
        ("a: {b: 1]\n", "is not closed before this"),
        ("a: \"x\n", "f:1:4: error: a text in quotes is not closed"),
        ("a: b: c\n", "f:1:5: error: a `:` is not allowed here"),
        ("a: 1\n  b: 2\n", "is not allowed here"),
        ("a:\n    b: 1\n  c: 2\n", "check its indentation"),
        ("a: @x\n", "f:1:4: error: no value can start with this character"),
        ("a: \"\\q\"\n", "an unknown `\\` escape"),
        ("a: *x\n", "f:1:4: error: no anchor is named `x`"),
        ("a: &x [*x]\n", "f:1:8: error: the anchor `x` contains itself"),
        ("? [a]\n: 1\n", "a key must be a word"),
        ("? \n: 1\n", "a key must be a word"),
        ("[a: 1]: 2\n", "a key must be a word"),
        ("a: \u{0}\n", "f:1:4: error: this is not a text file: it holds a zero byte"),
        ("a: \u{1B}[2J\n", "f:1:4: error: a control character (U+001B) is not allowed here"),
        ("a: 1\u{2028}b: 2\n", "f:1:5: error: a control character (U+2028) is not allowed here"),
    ])
    func `what is no plain tree is refused with its place`(text: String, words: String) {
        let (tree, errors) = read(text)
        #expect(tree == nil)
        #expect(errors.contains { $0.contains(words) }, "\(errors)")
    }

    @Test(
        arguments: [
            ([0x61, 0x3A, 0x20, 0xFF], "f:1:4: error: this is not UTF-8"),
            ([0x61, 0x0A, 0xC0, 0x80], "f:2:1: error: this is not UTF-8"),
            ([0xED, 0xA0, 0x80], "f:1:1: error: this is not UTF-8"),
            ([0xF4, 0x90, 0x80, 0x80], "f:1:1: error: this is not UTF-8"),
            ([0x61, 0xE2, 0x82], "f:1:2: error: this is not UTF-8"),
            ([0xFF, 0xFE, 0x61, 0x00], "f:1:1: error: this is UTF-16 or UTF-32"),
            ([0x7F, 0x45, 0x4C, 0x46, 0x00], "f:1:1: error: a control character (U+007F)"),
        ] as [([UInt8], String)]
    )
    func `bytes that are no text are refused with their place`(bytes: [UInt8], words: String) {
        let (tree, errors) = read(bytes)
        #expect(tree == nil)
        #expect(errors.first?.hasPrefix(words) == true, "\(errors)")
    }

    @Test func `a byte order mark does not move the columns`() throws {
        let tree = try #require(read("\u{FEFF}a: 1").tree)
        guard case .map(let entries) = tree.value else { return }
        #expect(entries[0].keyPlace.description == "f:1:1")
        #expect(entries[0].value.place.description == "f:1:4")
    }

    @Test func `all faults of the tree are reported together`() {
        let errors = read("a: 1\na: 2\nb: !x 1\nc: *y\n").errors
        #expect(errors.count == 3)
    }

    @Test(arguments: ["[", "{", "- ", "? ", "[{a: ", "{a: ["])
    func `nesting without end is an error at once`(opening: String) throws {
        let count = 10 << 20
        var limits = YAMLLimits()
        limits.bytes = .max
        let text = String(repeating: opening, count: count / opening.utf8.count)
        let diagnostics = Diagnostics()
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(
                SourceNode.parse(Array(text.utf8), file: "f", diagnostics, limits: limits) == nil
            )
        }
        #expect(diagnostics.list.count == 1)
        #expect(diagnostics.list.first?.message == "nested more than 64 deep")
        #expect(time < .seconds(20))
    }

    @Test func `nesting is allowed up to its limit`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(read(nested(64)).tree != nil)
        #expect(read(nested(65)).errors.first?.contains("nested more than 64 deep") == true)
        // An alias adds the depth of its target.
        let deep = "a: &a \(nested(40))\nb: \(nested(20).replacing("[]", with: "[*a]"))\n"
        #expect(read(deep).tree != nil)
        let deeper = "a: &a \(nested(40))\nb: \(nested(24).replacing("[]", with: "[*a]"))\n"
        #expect(read(deeper).errors.first?.contains("nested more than 64 deep") == true)
    }

    @Test func `a bomb of aliases is refused before it grows`() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...40 {
            let aliases = (0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        let (tree, errors) = read(text)
        #expect(tree == nil)
        #expect(errors.count == 1)
        #expect(errors.first?.contains("more than 1000000 values once aliases") == true)
    }

    @Test func `anchors below the limit are expanded`() throws {
        let tree = try #require(read("a: &x {b: [1, 2]}\nc: *x\n").tree)
        guard case .map(let entries) = tree.value else { return }
        #expect(entries[0].value == entries[1].value)
    }

    @Test func `a file over the limit is refused unread`() {
        let (tree, errors) = read([UInt8](repeating: 0x61, count: (4 << 20) + 1))
        #expect(tree == nil)
        #expect(errors.first?.contains("the file is larger than 4 MiB") == true)
    }

    @Test func `a value's number of nodes is limited`() {
        let text = "[" + String(repeating: "a,", count: 1_000_000) + "]"
        #expect(read(text).errors.first?.contains("more than 1000000 values") == true)
    }
}
