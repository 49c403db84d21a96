import Foundation
import Testing

/// `docs/seeds.md`: what the documents say on which the library is modelled, and where it is here.
@Suite struct SeedTests {
    private static func rows(of columns: Int) throws -> [[String]] {
        try Repository.text("docs/seeds.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") && $0.contains(/^\| [0-9]/) }
            .map { row in
                row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            .filter { $0.count == columns }
    }

    @Test func `each statement of the seeds names a place and a test that there are`() throws {
        let rows = try Self.rows(of: 6)
        #expect(rows.count == 189 && Set(rows.map { $0[0] }).count == 189)
        let tests = try Repository.sources("Tests").flatMap(\.lines).filter {
            $0.contains("func `")
        }
        .joined(separator: "\n")
        for row in rows {
            let place = try #require(row[3].wholeMatch(of: /`([^`]+)` `([^`]+)`/), "\(row)")
            let text = try Repository.text(String(place.1))
            #expect(text.contains(place.2), "\(row[0]): \(place.1) has no `\(place.2)`")
            let answer = row[5].prefix { $0 != ":" }
            #expect(["yes", "other", "no"].contains(answer), "\(row[0]): \(row[5])")
            // What is otherwise, or is not, is said.
            #expect((answer == "yes") == (row[5] == "yes"), "\(row[0]): \(row[5])")
            #expect((answer == "no") == row[4].isEmpty, "\(row[0]): \(row[5])")
            #expect(row[4].isEmpty || tests.contains("func `\(row[4])`"), "\(row[0]): \(row[4])")
        }
    }

    @Test func `the numbers above the statements are theirs`() throws {
        let answers = try Self.rows(of: 6).map { $0[5].prefix { $0 != ":" } }
        let text = try Repository.text("docs/seeds.md")
        let numbers = ["yes", "other", "no"].map { word in answers.count { $0 == word } }
        #expect(
            text.contains(
                "Of \(answers.count) statements, \(numbers[0]) hold as they are there, "
                    + "\(numbers[1]) hold in another way, which the row describes, and "
                    + "\(numbers[2]) do not hold:"
            )
        )
    }

    /// The tour's snippets in the order of its source, as rows of the document.
    private static func snippets() throws -> [[String]] {
        var found: [[String]] = []
        var snippet: (cells: [String], lines: Int, why: String)?
        for line in try Repository.text("Examples/SeedTour/SeedTour.swift").split(separator: "\n") {
            let text = line.drop { $0 == " " }
            if let mark = text.wholeMatch(of: /\/\/ Seed (.+), (\d+) lines?: (.+)\./) {
                #expect(snippet == nil, "\(text)")
                let places = mark.1.replacing("Seed ", with: "")
                snippet = ([String(places), String(mark.3), String(mark.2)], 0, "")
            } else if text == "// End", let whole = snippet {
                found.append(whole.cells + ["\(whole.lines)", whole.why])
                snippet = nil
            } else if text.hasPrefix("// Longer: ") {
                snippet?.why = String(text.dropFirst("// Longer: ".count).dropLast())
            } else if !text.isEmpty, !text.hasPrefix("//") {
                snippet?.lines += 1
            }
        }
        #expect(snippet == nil)
        return found
    }

    @Test func `each snippet of the seeds is as short here, or says why not`() throws {
        let snippets = try Self.snippets()
        #expect(snippets.count > 30)
        #expect(try Self.rows(of: 5) == snippets)
        for cells in snippets {
            let (there, here) = try (#require(Int(cells[2])), #require(Int(cells[3])))
            #expect(here > 0 && (here <= there) == cells[4].isEmpty, "\(cells)")
        }
    }
}
