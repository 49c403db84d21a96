import Base
import Families
import Foundation
import Radio
import Rollout
import Testing

@testable import VehicleModules

/// Sentences of the documents that say what the code does, compared with the code.
@Suite struct DocumentFactTests {
    /// A document without its line breaks.
    private static func text(_ path: String) throws -> String {
        try lines(path).joined(separator: " ")
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try String(contentsOf: Program.repository.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The cells of the table below a header.
    private static func table(_ header: String, in path: String) throws -> [[String]] {
        try lines(path).drop { $0 != header }.dropFirst(2).prefix { $0.hasPrefix("|") }
            .map { row in
                row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    /// What is between the backticks of a cell.
    private static func words(_ cell: String) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    @Test func `the documents say which commands are sent again`() throws {
        let rows = try Self.table(
            "| word | what it does | when its result is unknown |",
            in: "docs/car-share.md"
        )
        for command in CarShareCommand.allCases {
            let mine = rows.filter { Self.words($0[0]).contains(command.rawValue) }
            let isSentAgain = mine.map { $0[2].hasPrefix("is sent again") }
            #expect(isSentAgain == [command.isHarmless], "\(command)")
        }
        let harmless = CarShareCommand.allCases.filter(\.isHarmless).map(\.rawValue)
        let last = try #require(harmless.last)
        let list = harmless.dropLast().joined(separator: ", ") + " and " + last
        let help = try Self.text("Tests/CommandsTests/Golden/help-exec.txt")
        #expect(help.contains("is not sent again, except \(list): these are harmless"), "\(help)")
    }

    @Test func `the library's codes are in its document, and each is that of some failure`() throws
    {
        let rows = try Self.table("| code | when |", in: "docs/library.md")
        let told = rows.flatMap { Self.words($0[0]) }
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

    @Test func `the documents say how long a run waits for the radio`() throws {
        let rules = RolloutRules(settle: try #require(SettleRules()))
        #expect(rules.hostPatience == .seconds(120) && rules.hostRecovery == .seconds(60))
        #expect(rules.heldPatience == .seconds(120))
        let text = try Self.text("docs/bluetooth.md")
        #expect(
            text.contains(
                "missing during a run | waits up to two minutes, and again up to two minutes after a "
                    + "minute of work"
            )
        )
        #expect(text.contains("does not touch its link, waits up to two minutes"))
    }

    @Test func `the document of commands has their deadlines`() throws {
        let limits = CarShareLimits()
        let text = try Self.text("docs/car-share.md")
        for (limit, what) in [
            (limits.arrival, "for the vehicle to connect"), (limits.handshake, "for the handshake"),
            (limits.reply, "for a message to be accepted"), (limits.challenge, "for the challenge"),
            (limits.verdict, "for the verdict"), (limits.result, "for the result"),
        ] {
            let seconds = limit.components.seconds
            #expect(text.contains("\(seconds) s \(what)"), "\(what)")
        }
    }

    @Test func `the library's document has its numbers`() throws {
        let text = try Self.text("docs/library.md")
        #expect(text.contains("the last \(ModuleLog.capacity) entries"))
    }
}
