import Base
import Testing
import Workbench

@testable import Store

/// Upgrades of a journal, by upgrades that only these tests have.
@Suite struct UpgradeTests {
    private let upgrades = [
        "ALTER TABLE holds ADD COLUMN ticket TEXT NOT NULL DEFAULT 'none'",
        """
        CREATE TABLE tickets (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        INSERT INTO tickets SELECT ticket FROM holds;
        """,
    ]

    /// Makes a journal of today's version with a paused rollout.
    private func fill(_ scratch: Scratch) async throws {
        try await withJournal(scratch.path) { journal in
            _ = try await begin(journal)
            let hold = Hold(.paused, "r", reason: "", author: "anna", at: at(1))
            try await journal.set(hold, isAtWork: false)
        }
    }

    private func opened(_ scratch: Scratch, _ mode: JournalDatabase.Mode) throws -> JournalDatabase
    {
        try JournalDatabase(path: scratch.journal, mode: mode)
    }

    private let tickets = "SELECT group_concat(name) FROM tickets"

    @Test func `an upgrade keeps what is there, and a new journal gets the same tables`()
        async throws
    {
        let scratch = try Scratch()
        try await fill(scratch)
        let upgraded = try opened(scratch, .write)
        try Schema.prepare(upgraded, upgrades)
        #expect(try upgraded.text(tickets) == "none")
        #expect(try upgraded.text("SELECT author FROM holds") == "anna")
        #expect(try upgraded.integer("PRAGMA user_version") == 3)
        let fresh = try JournalDatabase(path: ":memory:", mode: .write)
        try Schema.prepare(fresh, upgrades)
        let all = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)"
        let (new, old) = (try fresh.text(all), try upgraded.text(all))
        #expect(new == old)
    }

    @Test func `an upgrade that fails leaves the journal as it was`() async throws {
        let scratch = try Scratch()
        try await fill(scratch)
        let database = try opened(scratch, .write)
        #expect(throws: JournalError.self) {
            try Schema.prepare(database, upgrades + ["INSERT INTO nowhere VALUES (1)"])
        }
        #expect(try database.integer("PRAGMA user_version") == 1)
        #expect(throws: JournalError.self) { try database.text(tickets) }
        let hold = try await withJournal(scratch.path) { try await $0.hold(on: "r") }
        #expect(hold?.kind == .paused)
    }

    @Test func `a journal of an earlier version is read as it will be, and left as it is`()
        async throws
    {
        let scratch = try Scratch()
        try await fill(scratch)
        let before = try contents(scratch.journal)
        let readable = try Schema.readable(try opened(scratch, .frozen), upgrades)
        #expect(try readable.text(tickets) == "none")
        #expect(try contents(scratch.journal) == before)
        #expect(scratch.files == ["journal.sqlite"])
    }

    @Test func `a journal of a later version is refused and left as it is`() async throws {
        let scratch = try Scratch()
        try await fill(scratch)
        try Schema.prepare(try opened(scratch, .write), upgrades)
        #expect(try await kindOfOpening(scratch.path) == .schema(found: 3, known: 1))
        let before = try contents(scratch.journal)
        #expect(throws: JournalError.self) {
            try JournalReader(directory: scratch.path).read { _ in }
        }
        #expect(try contents(scratch.journal) == before)
    }
}
