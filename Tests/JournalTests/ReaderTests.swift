import Base
import Glibc
import Store
import Testing
import Workbench

@Suite struct ReaderTests {
    private func lastRun(_ directory: String) throws -> Int? {
        try JournalReader(directory: directory).read { view throws(JournalError) in
            try view.lastRun(rollout: nil)?.number
        }
    }

    @Test func `no journal is said, and none is made`() throws {
        let scratch = try Scratch()
        for directory in [scratch.path, scratch.path + "/none"] {
            let error = #expect(throws: JournalError.self) { try lastRun(directory) }
            #expect(error?.kind == .missing)
        }
        try write([], to: scratch.journal)
        let error = #expect(throws: JournalError.self) { try lastRun(scratch.path) }
        #expect(error?.kind == .corrupt, "what is there and empty was cut off")
        #expect(scratch.files == ["journal.sqlite"])
    }

    @Test func `a reader sees what a running writer has committed`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            for number in 1...3 {
                _ = try await begin(journal)
                #expect(try lastRun(scratch.path) == number)
            }
            let files = scratch.files
            _ = try lastRun(scratch.path)
            #expect(scratch.files == files)
        }
    }

    @Test func `a journal at rest is read without making a file`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in _ = try await begin(journal) }
        #expect(scratch.files == ["journal.sqlite"])
        #expect(try lastRun(scratch.path) == 1)
        #expect(scratch.files == ["journal.sqlite"])
    }

    @Test func `odd characters in the path are only characters`() async throws {
        let scratch = try Scratch()
        let odd = scratch.path + "/50% of? it #1"
        mkdir(odd, 0o700)
        try await withJournal(odd) { journal in _ = try await begin(journal) }
        #expect(try lastRun(odd) == 1)
        #expect(scratch.files == ["50% of? it #1/journal.sqlite"])
    }

    @Test func `one read sees one moment`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let first = try await begin(journal)
            let bus = try await recorded(journal, "bus", run: first)
            let readers = JournalReader(directory: scratch.path)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for attempt in 1...200 {
                        var record = bus
                        record.attempt = attempt
                        record.restarts = attempt
                        try await journal.record(record, durably: false)
                    }
                }
                for _ in 0..<50 {
                    let (one, two) = try readers.read { view throws(JournalError) in
                        (try view.executions(rollout: "r"), try view.executions(rollout: "r"))
                    }
                    #expect(one == two)
                    #expect(one.first?.attempt == one.first?.restarts)
                }
                try await group.waitForAll()
            }
        }
    }
}
