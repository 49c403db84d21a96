import Base
import Commands
import Families
import Foundation
import Manifest
import Store
import Testing

@testable import Operations
@testable import Show
@testable import VehicleModules

/// Sentences and tables of the documents that say what the code does, compared with the code.
///
/// Here: numbers, limits, times, defaults and lists of cases; `DocumentKeyTests` has the keys of depots and profiles. The
/// keys of manifests are held by `GrammarTests`; words in backticks, commands and flags, exit codes, outcomes and promises
/// by `DocumentTests` in `Tests/TidyTests`; what happens, by the tests of that behaviour.
@Suite struct DocumentFactTests {
    @Test(arguments: try DocumentFacts.all().map(\.path))
    func `a document has the values of the code`(path: String) throws {
        let text = try Document(path).text
        for fact in try DocumentFacts.all() where fact.path == path {
            for sentence in fact.sentences {
                #expect(text.contains(sentence), "\(path) does not say: \(sentence)")
            }
        }
    }

    @Test func `the documents say which commands are sent again`() throws {
        let rows = try Document("docs/car-share.md").table(
            "| word | what it does | when its result is unknown |"
        )
        for command in CarShareCommand.allCases {
            let mine = rows.filter { Document.words($0[0]).contains(command.rawValue) }
            let isSentAgain = mine.map { $0[2].hasPrefix("is sent again") }
            #expect(isSentAgain == [command.isHarmless], "\(command)")
        }
        let harmless = CarShareCommand.allCases.filter(\.isHarmless).map(\.rawValue)
        let list = DocumentFacts.list(harmless)
        let help = try Document("Tests/CommandsTests/Golden/help-exec.txt").text
        #expect(help.contains("is not sent again, except \(list): these are harmless"), "\(help)")
    }

    @Test func `the library's codes are in its document, and each is that of some failure`() throws
    {
        let rows = try Document("docs/library.md").table("| code | when |")
        let told = rows.flatMap { Document.words($0[0]) }
        #expect(told.sorted() == ModuleFailure.Code.allCases.map(\.rawValue).sorted())
        let folder = Program.repository.appending(path: "Sources/VehicleModules")
        let code = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
            .joined(separator: "\n")
        for failure in ModuleFailure.Code.allCases {
            let use = try Regex("\\.\(failure)\\b")
            #expect(code.contains(use), "nothing fails with \(failure.rawValue)")
        }
    }

    /// Lists of the code, each with the table that has a row for every case.
    private static let lists: [(path: String, header: String, cases: [String])] = [
        (
            "docs/operations.md", "| `when` | sent when |",
            NotifyKind.allCases.filter { $0 != .test }.map(\.rawValue)
        ),
        ("docs/operations.md", "| work | reason |", NextStep.Work.allCases.map(\.rawValue)),
        (
            "docs/operations.md", "| suffix | for | content |",
            ReportFile.Kind.allCases.map { "." + $0.rawValue }
        ),
        (
            "docs/operations.md", "| outcome | counts as | what to do |",
            Outcome.allCases.map(\.rawValue)
        ),
        ("docs/fleet.md", "| role | may |", FleetRole.allCases.map(\.rawValue)),
    ]

    @Test(arguments: lists)
    func `a table has a row for each case, and no other`(
        path: String,
        header: String,
        cases: [String]
    ) throws {
        let told = try Document(path).table(header).flatMap { Document.words($0[0]) }
        #expect(told.sorted() == cases.sorted(), "\(header)")
    }

    @Test func `the codes in the operator's table are exit codes`() throws {
        let rows = try Document("docs/operations.md").table("| code | meaning | what to do |")
        let told = rows.flatMap { $0[0].split { !$0.isNumber } }.compactMap { Int32($0) }
        #expect(told.sorted() == ExitCode.allCases.map(\.rawValue).sorted())
    }

    @Test func `the table of update statuses has those of the library`() throws {
        let rows = try Document("docs/library.md").table("| status | meaning |")
        let told = rows.flatMap { Document.words($0[0]) }
        let cases = try Document("docs/library-api.txt").lines
            .compactMap { $0.firstMatch(of: /^FirmwareUpdateStatus: case (\w+)/)?.1 }
        #expect(told.sorted() == cases.map(String.init).sorted())
    }

    @Test func `the readme names each family and each step`() throws {
        let rows = try Document("README.md").table("| | now |")
        func told(_ what: String) -> [String] {
            rows.filter { $0.first == what }.flatMap { Document.words($0[1]) }
        }
        #expect(
            told("Module families").sorted() == FamilyRegistry.families.map(\.rawValue).sorted()
        )
        // The manual of manifests is made from the grammar.
        let steps = try Document("docs/manifest.md").lines
            .first { $0.hasPrefix("Exactly one of `require`") }
        let words = Document.words(steps ?? "").filter { $0 != "use" } + ["always"]
        #expect(told("Steps carried out").sorted() == words.sorted())
    }

    /// Sources that name what other programs read, with what is before the names in the document.
    private static let named = [
        ("Sources/Show/JSON/MetricsText.swift", "yardmaster_", "yardmaster_"),
        ("Sources/Show/JSON/JournalPrinter.swift", "YARDMASTER_", "_"),
    ]

    @Test(arguments: named)
    func `a name for other programs is in the operator's document`(
        path: String,
        prefix: String,
        told: String
    ) throws {
        let words = Set(try Document("docs/operations.md").lines.flatMap { Document.words($0) })
        let names = Set(
            try Document(path).lines.flatMap { $0.matches(of: try Regex("\"\(prefix)(\\w+)\"")) }
                .compactMap { $0[1].substring.map(String.init) }
        )
        #expect(names.count > 7)
        for name in names.sorted() where !name.hasSuffix("_") {
            let isTold =
                words.contains(told + name)
                || words.contains { $0.hasPrefix("journalctl \(prefix + name)=") }
            #expect(isTold, "\(told + name)")
        }
    }
}
