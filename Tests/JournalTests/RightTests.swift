import Base
import Testing
import Workbench

@testable import Store

/// The right to a module, and what is on disk when it is granted.
@Suite struct RightTests {
    @Test func `the right to a module is given to one vehicle of a run at a time`() async throws {
        let scratch = try Scratch()
        let serial = try #require(Serial("serial-1"))
        try await withJournal(scratch.path) { journal in
            let first = try await begin(journal)
            let right = try await journal.claim(serial, for: try vehicle("bus"), run: first)
            let bus = try #require(right)
            #expect(bus.epoch == 1)
            #expect(try await journal.claim(serial, for: try vehicle("tram"), run: first) == nil)
            let again = try await journal.claim(serial, for: try vehicle("bus"), run: first)
            #expect(again == bus, "asked again by its holder it answers the same")
            try await journal.release(bus)
            let tram = try await journal.claim(serial, for: try vehicle("tram"), run: first)
            #expect(tram?.epoch == 2)
            // A right of an earlier grant cannot release the current one.
            try await journal.release(bus)
            #expect(try await journal.claim(serial, for: try vehicle("bus"), run: first) == nil)
            // The process of the earlier run is gone.
            let second = try await begin(journal)
            let later = try await journal.claim(serial, for: try vehicle("bus"), run: second)
            #expect(later?.epoch == 3)
        }
    }

    @Test func `a durable transaction is synced, and one that may be lost is not`() throws {
        let scratch = try Scratch()
        let database = try JournalDatabase(path: scratch.journal, mode: .write)
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE notes (words TEXT)")
        for (durability, level) in [
            (.durable, 2), (.relaxed, 1), (.durable, 2),
        ] as [(JournalDatabase.Durability, Int)] {
            try database.transaction(durability) { () throws(JournalError) in
                try database.execute("INSERT INTO notes VALUES ('one')")
            }
            #expect(try database.integer("PRAGMA synchronous") == level)
        }
    }

    @Test func `a power cut leaves what was durable, and a refused write nothing of itself`()
        async throws
    {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            var record = try await recorded(journal, "bus", run: run)
            try await journal.keepDisk()
            record.attempt = 2
            try await journal.record(record, durably: true)
            record.attempt = 3
            try await journal.record(record, durably: false)
            try await journal.refuse(after: 1)
            record.attempt = 4
            try await journal.record(record, durably: false)
            record.attempt = 5
            let refused = record
            let error = await #expect(throws: JournalError.self) {
                try await journal.record(refused, durably: true)
            }
            #expect(error?.kind == .full)
            #expect(try await journal.execution(record.number)?.attempt == 4)
            try await journal.losePower()
            #expect(try await journal.execution(record.number)?.attempt == 2)
        }
    }
}
