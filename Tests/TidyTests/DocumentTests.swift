import Base
import Commands
import Foundation
import Testing

/// Everything that a person may use is described in the documents.
@Suite struct DocumentTests {
    @Test(arguments: CommandName.allCases)
    func `a command stands in the documents`(command: CommandName) throws {
        let texts = try [
            "README.md", "docs/operations.md", "docs/manifest.md", "docs/simulation.md",
            "docs/images.md", "docs/bluetooth.md", "docs/profiles.md", "docs/car-share.md",
            "docs/trust.md", "docs/fleet.md",
        ].map(Repository.text)
        let spellings = ["yardmaster \(command.rawValue)", "`\(command.rawValue)"]
        #expect(texts.contains { text in spellings.contains { text.contains($0) } })
    }

    @Test(arguments: ExitCode.allCases)
    func `an exit code stands in the operator's table`(code: ExitCode) throws {
        let codes = try Repository.text("docs/operations.md")
            .split(separator: "\n").filter { $0.hasPrefix("|") }
            .map { $0.split(separator: "|")[0] }.joined(separator: " ")
        #expect(codes.split { !$0.isNumber }.contains("\(code.rawValue)"), "\(code)")
    }

    @Test(arguments: Outcome.allCases)
    func `an outcome says what to do`(outcome: Outcome) throws {
        let rows = try Repository.text("docs/operations.md")
            .split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.contains { $0.split(separator: "|")[0].contains("`\(outcome.rawValue)`") })
    }

    @Test func `each promise names a test that there is`() throws {
        let lines = try Repository.text("docs/promises.md").split(separator: "\n")
        let promise = /^- \*\*([A-Z][0-9])\.\*\*/
        let promises = lines.compactMap { $0.firstMatch(of: promise).map { String($0.1) } }
        let rows = lines.drop { !$0.hasPrefix("## 10.") }.filter { $0.hasPrefix("|") }
            .map { $0.split(separator: "|") }
        let held = Set(
            rows.flatMap { $0[0].split { !$0.isLetter && !$0.isNumber } }.map(String.init)
        )
        #expect(promises.count > 40 && promises.allSatisfy(held.contains))
        let code = try Repository.sources("Tests").flatMap(\.lines).filter { $0.contains("func `") }
        for row in rows.dropFirst(2) {
            let tests = row[1].split(separator: "`", omittingEmptySubsequences: false)
            #expect(tests.count > 1, "\(row[0]) has no test")
            for index in stride(from: 1, to: tests.count, by: 2) {
                let name = "func `\(tests[index])`"
                #expect(code.contains { $0.contains(name) }, "\(tests[index])")
            }
        }
    }

    /// A sentence about security that nothing holds is a wish.
    @Test func `each sentence of the threat model names a test that there is`() throws {
        let text = try Repository.text("SECURITY.md")
        let code = try Repository.sources("Tests").flatMap(\.lines).filter { $0.contains("func `") }
        let rows = text.split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| what")
        }
        #expect(rows.count > 30)
        for row in rows {
            let tests =
                row.split(separator: "|").last?
                .split(separator: "`", omittingEmptySubsequences: false) ?? []
            #expect(tests.count > 1, "\(row) has no test")
            for index in stride(from: 1, to: tests.count, by: 2) {
                // Parts of the gate that are scripts.
                guard tests[index].contains(" ") else { continue }
                let name = "func `\(tests[index])`"
                #expect(code.contains { $0.contains(name) }, "\(tests[index])")
            }
        }
    }

    /// Files to which documents refer.
    @Test(arguments: ["CONTRIBUTING.md", "SECURITY.md", "README.md", "docs/architecture.md"])
    func `what a document names is there`(document: String) throws {
        try expectPaths(in: document)
    }

    @Test func `what a decision names is there, and each is listed`() throws {
        let list = try Repository.text("docs/decisions/README.md")
        let folder = Repository.root.appending(path: "docs/decisions").path
        let records = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0 != "README.md" }
        #expect(records.count >= 12)
        for record in records {
            #expect(list.contains("](\(record))"), "\(record) is not listed")
            try expectPaths(in: "docs/decisions/\(record)")
        }
    }

    private func expectPaths(in document: String) throws {
        let text = try Repository.text(document)
        let named = text.matches(of: /`((?:Sources|Tests|scripts|docs|Fuzz)\/[A-Za-z0-9_.\/+-]+)/)
            .map { Repository.root.appending(path: String($0.1)) }
        let base = Repository.root.appending(path: document).deletingLastPathComponent()
        let linked = text.matches(of: /\]\(([A-Za-z0-9_.\/-]+)\)/)
            .map { base.appending(path: String($0.1)) }
        for file in named + linked {
            #expect(FileManager.default.fileExists(atPath: file.path), "\(file.path)")
        }
    }

    @Test func `every room stands in the architecture`() throws {
        let text = try Repository.text("docs/architecture.md")
        for room in try Repository.folders("Sources") {
            #expect(text.contains("`\(room)`"), "\(room)")
        }
    }

    @Test func `every type that other rooms see opens with a sentence`() throws {
        let type =
            /^package (?:final |indirect )*(?:struct|enum|class|actor|protocol|typealias) (\w+)/
        // This type is older than the rule.
        let spared = ["Sources/Radio/Seam/Peripheral.swift: PublishedService"]
        for source in try Repository.sources() {
            for (number, line) in source.lines.enumerated() {
                guard let match = line.firstMatch(of: type),
                    !spared.contains("\(source.name): \(match.1)")
                else { continue }
                // Attributes may be between the sentence and the type.
                let above = source.lines[..<number].last { !$0.hasPrefix("@") } ?? ""
                #expect(above.hasPrefix("///"), "\(source.name):\(number + 1): \(line)")
            }
        }
    }
}
