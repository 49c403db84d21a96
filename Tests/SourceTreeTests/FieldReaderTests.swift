import Base
import Testing

@Suite struct FieldReaderTests {
    /// A reader of a valid text's tree, with the diagnostics of the text.
    private func reader(_ text: String) throws -> FieldReader {
        let diagnostics = Diagnostics()
        let tree = try #require(
            SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics)
        )
        return FieldReader(tree, diagnostics, as: "a depot")
    }

    @Test func `typed values are read and defaults stand in`() throws {
        var reader = try reader("name: tallinn\ninterval: 1h30m\nsize: 7\nmodules: [a, b]\n")
        #expect(reader.text("name") == "tallinn")
        #expect(reader.duration("interval", default: .seconds(1)) == .seconds(5_400))
        #expect(reader.duration("pause", default: .seconds(1)) == .seconds(1))
        #expect(reader.integer("size", in: 0...10) == 7)
        #expect(reader.list("modules").count == 2)
        reader.finish()
        #expect(reader.diagnostics.list.isEmpty)
    }

    @Test func `every mistake is reported at once with its place and a hint`() throws {
        var reader = try reader("nmae: x\ninterval: 20\nsize: 11\nmodules: {}\non: yes\n")
        _ = reader.text("name")
        _ = reader.duration("interval", default: .zero)
        _ = reader.integer("size", in: 0...10)
        _ = reader.list("modules")
        _ = reader.boolean("on", default: false)
        reader.finish()
        #expect(
            reader.diagnostics.list.map(\.description) == [
                """
                depot.yaml:1:1: error: unknown key `nmae` in a depot
                  hint: did you mean `name`?
                """,
                """
                depot.yaml:2:11: error: the duration has no unit
                  hint: did you mean `20s`? Units are ms, s, m, h, d
                """,
                """
                depot.yaml:3:7: error: 11 is out of range
                  hint: write a number from 0 to 10
                """,
                """
                depot.yaml:4:10: error: expected a list of values, found a map
                  hint: write `[a, b]`, or a line with `- ` each
                """,
                """
                depot.yaml:5:5: error: expected true or false, found text
                  hint: write `true` or `false`, without quotes
                """,
            ]
        )
    }

    @Test func `a missing key is reported where its map starts`() throws {
        var reader = try reader("\n  size: 1\n")
        _ = reader.text("name")
        _ = reader.text("name")
        _ = reader.integer("size", in: 0...1)
        reader.finish()
        #expect(
            reader.diagnostics.list.map(\.description) == [
                "depot.yaml:2:3: error: a depot needs the key `name`\n  hint: add `name: …`"
            ]
        )
    }

    @Test func `keys of the user's own are left alone at every level`() throws {
        var reader = try reader("name: a\nx-owner: me\nx-: 1\n")
        _ = reader.text("name")
        reader.finish()
        #expect(reader.diagnostics.list.isEmpty)
    }

    @Test func `a list in the place of a map is reported once`() throws {
        var reader = try reader("[1, 2]")
        _ = reader.text("name")
        _ = reader.integer("size", in: 0...1)
        reader.finish()
        #expect(
            reader.diagnostics.list.map(\.message) == ["expected a depot as a map, found a list"]
        )
    }
}
