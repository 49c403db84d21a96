import Foundation
import Testing

/// The public interface of the library, and its documents.
@Suite struct LibraryListingTests {
    /// The snippets of the documents are compiled with the tests of the program.
    @Test func `every snippet of the documents is compiled`() throws {
        let compiled = Self.plain(try Repository.text("Tests/ProgramTests/LibrarySnippets.swift"))
        var snippets = Self.snippets(in: try Repository.text("docs/library.md"))
        for source in try Repository.sources("Sources/VehicleModules") {
            let comments = source.lines.map { line in
                line.drop { $0 == " " }.hasPrefix("/// ") || line.hasSuffix("///")
                    ? line.drop { $0 == " " || $0 == "/" } : ""
            }
            snippets += Self.snippets(in: comments.joined(separator: "\n"))
        }
        // A snippet of a package manifest cannot be compiled here.
        let ours = snippets.filter { !$0.hasPrefix(".package") }
        #expect(ours.count >= 6)
        for snippet in ours {
            #expect(compiled.contains(Self.plain(snippet)), "\(snippet)")
        }
    }

    /// The table helps people who come from another library: each call in it has a test over both
    /// radios.
    @Test func `each call of the document's table is used by a test on both radios`() throws {
        let text = try Repository.text("docs/library.md")
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map(Self.cells)
            .filter { cells in cells.count == 3 && cells[0] != "there" }
        #expect(rows.count > 40)
        var tests: Set<String> = []
        for source in try Repository.sources("Tests/ProgramTests")
        where source.name.contains("/Library") {
            let text = source.lines.joined(separator: "\n")
            for match in text.matches(
                of: /@Test\(arguments: Air\.allCases\)\n    func `([^`]+)`/
            ) {
                tests.insert(String(match.1))
            }
        }
        #expect(tests.count > 20)
        for row in rows {
            #expect(
                tests.contains(row[2]),
                "\(row[0]): there is no test on both radios `\(row[2])`"
            )
            #expect(!row[1].isEmpty)
        }
    }

    private static func cells(_ row: Substring) -> [String] {
        row.dropFirst(2).dropLast(2).split(separator: " | ").map { String($0) }
    }

    private static func snippets(in text: String) -> [String] {
        text.matches(of: /```swift\n((?:(?!```).*\n)*) *```/).map { match in
            match.1.split(separator: "\n").filter { !$0.hasPrefix("import ") }
                .joined(separator: "\n")
        }
    }

    /// The text without its line breaks and other white space.
    private static func plain(_ text: String) -> String {
        text.filter { !$0.isWhitespace }
    }

    /// A call that is removed or changed shows in this file, and so in its commit.
    @Test func `the listing of what is public is the library's`() throws {
        let file = "docs/library-api.txt"
        let listing = try Self.declarations().map(\.text).sorted()
        #expect(listing.count > 200)
        let text = listing.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            let place = Repository.root.appending(path: file)
            try text.write(to: place, atomically: true, encoding: .utf8)
        }
        #expect(
            try Repository.text(file) == text,
            "say in CHANGELOG.md what is new, and run this test with UPDATE_GOLDEN=1"
        )
    }

    @Test func `each public declaration of the library has a summary`() throws {
        for declaration in try Self.declarations() {
            #expect(declaration.isDescribed, "\(declaration.text)")
        }
    }

    /// DocC refuses what its page names wrongly; this finds what it does not name.
    @Test func `each public type of the library is a topic of its documentation`() throws {
        let page = try Repository.text(
            "Sources/VehicleModules/VehicleModules.docc/VehicleModules.md"
        )
        for declaration in try Self.declarations() {
            let type = declaration.text.prefixMatch(of: /(?:struct|enum|protocol) (\w+)/)
            guard let type else { continue }
            #expect(page.contains("- ``\(type.1)``\n"), "\(type.1)")
        }
    }

    /// Each public declaration as a line, with the name of its type.
    private static func declarations() throws -> [(text: String, isDescribed: Bool)] {
        var found: [(text: String, isDescribed: Bool)] = []
        for source in try Repository.sources("Sources/VehicleModules") {
            // The types around a line, with their indentation.
            var around: [(indent: Int, name: String, isPublic: Bool, isEnum: Bool)] = []
            var lines = source.lines[...]
            var isDescribed = false
            while let line = lines.popFirst() {
                let text = line.drop { $0 == " " }
                guard !text.isEmpty, !text.hasPrefix("//") else {
                    isDescribed = text.hasPrefix("///")
                    continue
                }
                // An attribute is between a declaration and its summary.
                if text.hasPrefix("@") { continue }
                defer { isDescribed = false }
                let indent = line.count - text.count
                around.removeAll { $0.indent >= indent }
                let type = text.prefixMatch(
                    of:
                        /((?:public |private |fileprivate |final |indirect )*)(struct|enum|class|actor|extension|protocol) ([\w.]+)/
                )
                let path = around.map(\.name).joined(separator: ".")
                let isOurs = around.allSatisfy(\.isPublic)
                let isCase = around.last.map { $0.isEnum && $0.indent == indent - 4 } ?? false
                if text.hasPrefix("public ") || isCase && text.hasPrefix("case ") {
                    if isOurs, text.hasPrefix("public ") || around.last?.isPublic == true {
                        let whole = declaration(text, &lines)
                        found.append(((path.isEmpty ? "" : path + ": ") + whole, isDescribed))
                    }
                }
                if let type {
                    let isPublic = type.1.contains("public") || type.2 == "extension"
                    around.append((indent, String(type.3), isPublic, type.2 == "enum"))
                }
            }
        }
        return found
    }

    /// A declaration from its first word to its body, as one line.
    private static func declaration(
        _ first: Substring,
        _ rest: inout ArraySlice<Substring>
    ) -> String {
        var text = String(first)
        while text.count(where: { $0 == "(" }) > text.count(where: { $0 == ")" }),
            let next = rest.popFirst()
        {
            text += " " + next.drop { $0 == " " }
        }
        // A body, or the value of a constant, is not part of the listing; a default argument is.
        var depth = 0
        var end = text.endIndex
        for index in text.indices {
            let character = text[index]
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0, character == "{" || character == "=" {
                end = index
                break
            }
        }
        let plain = text[..<end].split { $0 == " " }.joined(separator: " ")
        return plain.replacing("( ", with: "(").replacing(" )", with: ")")
            .replacing("public ", with: "")
    }
}
