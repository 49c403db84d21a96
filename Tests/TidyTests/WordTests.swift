import Foundation
import Testing

/// One word, one meaning: checks the names of types, and the words of `docs/words.md`.
@Suite struct WordTests {
    private struct Declaration {
        let name: String
        let file: String
        let isNested: Bool
    }

    private func declarations() throws -> [Declaration] {
        let start =
            /^( *)(?:@\w+(?:\([^)]*\))? )*(?:(?:package|public|private|fileprivate|final|indirect|open|nonisolated) )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/
        return try Repository.sources().flatMap { source in
            source.lines.compactMap { line in
                line.firstMatch(of: start).map {
                    Declaration(name: String($0.2), file: source.name, isNested: !$0.1.isEmpty)
                }
            }
        }
    }

    @Test func `no two files give one name to types of their own`() throws {
        let outer = try declarations().filter { !$0.isNested }
        #expect(outer.count > 1_000)
        for (name, places) in Dictionary(grouping: outer, by: \.name) where places.count > 1 {
            Issue.record("\(name): \(places.map(\.file).joined(separator: ", "))")
        }
    }

    @Test func `a word of the list has one type, where the list says`() throws {
        let all = try Dictionary(grouping: declarations(), by: \.name)
        let rows = try Repository.text("docs/words.md").split(separator: "\n")
            .compactMap { $0.wholeMatch(of: /\| ([a-z ]+) \| .+ \| `(\w+)` \| `(.+)` \|/) }
        #expect(rows.count > 30 && Set(rows.map(\.1)).count == rows.count)
        for row in rows {
            let places = all[String(row.2), default: []].map(\.file)
            #expect(places == [String(row.3)], "\(row.1): `\(row.2)` is declared in \(places)")
        }
    }

    @Test func `a type that the architecture names is declared`() throws {
        let types = Set(try declarations().map(\.name))
        // Rooms, the folders of families and protocols, and suites are written in the same way.
        let files = try Repository.sources() + Repository.sources("Tests")
        let folders = Set(
            try files.flatMap { $0.name.split(separator: "/").dropLast().map(String.init) }
                + Repository.folders("Sources")
        )
        let suites = Set(
            try Repository.sources("Tests").compactMap { source in
                source.name.split(separator: "/").last.map { String($0.dropLast(6)) }
            }
        )
        let spans = try Repository.text("docs/architecture.md").matches(of: /`([^`\n]+)`/)
            .map { String($0.1) }
        var names: Set<String> = []
        for span in spans where !span.contains("/") && !span.hasSuffix(".swift") {
            let types = span.split(separator: ".").prefix { $0.first?.isUppercase == true }
            names.formUnion(types.filter { $0.contains(where: \.isLowercase) }.map(String.init))
        }
        #expect(names.count > 50)
        for name in names.sorted()
        where !types.contains(name) && !folders.contains(name) && !suites.contains(name) {
            Issue.record("docs/architecture.md: no type is called `\(name)`")
        }
    }

    /// Old or rare words have a usual one: "anyone who", "forever", "again", "repair".
    @Test func `texts use the usual words`() throws {
        let rare =
            /\b(?:who(?:so)?ever|for ever|anew|mend(?:s|ed|ing)?|thereof|therein|wherein|lest|henceforth)\b/
            .ignoresCase()
        let folders = ["Sources", "docs", "scripts", "Bench", "Examples", "manifests"]
        let texts = try folders.flatMap { try Repository.texts($0) }
        #expect(texts.count > 1_000)
        for text in texts {
            for (index, line) in text.lines.enumerated() {
                guard let word = try rare.firstMatch(in: line)?.output else { continue }
                Issue.record("\(text.name):\(index + 1): `\(word)`")
            }
        }
        for file in ["README.md", "CONTRIBUTING.md", "SECURITY.md"] {
            let found = try Repository.text(file).matches(of: rare).map { String($0.output) }
            #expect(found.isEmpty, "\(file)")
        }
    }

    /// Names that meant nothing to people who had not read the code.
    @Test func `no type has a name that needs a glossary`() throws {
        let retired = ["Desk", "Room", "Site", "Ear", "Turns"]
        // `SameSite` is a word of HTTP.
        for declaration in try declarations() where declaration.name != "SameSite" {
            let words = declaration.name.matches(of: /[A-Z][a-z]+|[A-Z]+(?![a-z])/)
                .map { String($0.output) }
            let found = words.filter(retired.contains)
            #expect(found.isEmpty, "\(declaration.file): \(declaration.name)")
        }
    }
}
