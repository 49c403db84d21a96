import Base
import Glibc
import Store
import Testing
import Workbench

/// The journal after a crash, on a full disk, and with files of other programs.
@Suite struct DamageTests {
    /// Writes a run step by step and returns the length of the log after each durable call.
    private func history(
        _ journal: Journal,
        steps: Int,
        log: () throws -> Int
    ) async throws -> [(length: Int, settled: Int)] {
        let run = try await begin(journal)
        let bus = try await recorded(journal, "bus", run: run)
        var marks: [(length: Int, settled: Int)] = [(try log(), 0)]
        for step in 0..<steps {
            let id = try await journal.intend(try intent("bus", step: step))
            var record = bus
            record.acknowledged = ByteCount(bytes: step)
            try await journal.record(record, durably: false)
            try await journal.settle(id, outcome: "done", at: at(Int64(step)))
            marks.append((try log(), step + 1))
        }
        return marks
    }

    @Test func `a killed process loses nothing that was durable`() async throws {
        let folder = "/tmp/yardmaster-journal-killed-\(getpid())"
        mkdir(folder, 0o700)
        defer { _ = try? run("rm", "-rf", folder) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
            let executor = try ThreadExecutor.start(name: "journal")
            let journal = try await Journal.open(directory: folder, executor: executor)
            let run = try await begin(journal)
            try await recorded(journal, "bus", run: run)
            let first = try await journal.intend(try intent("bus", step: 0))
            try await journal.settle(first, outcome: "done", at: at(3))
            _ = try await journal.intend(try intent("bus", step: 1))
            kill(getpid(), SIGKILL)
        }
        let doubt = try JournalReader(directory: folder).read { view throws(JournalError) in
            try view.openIntents(rollout: "r", vehicle: nil)
        }
        #expect(doubt.map(\.intent.place) == [1])
        try await withJournal(folder) { journal in
            let found = try await journal.openIntents(rollout: "r", vehicle: nil)
            #expect(found == doubt)
            #expect(try await journal.closeInterruptedRuns().map(\.number) == [1])
            #expect(try await begin(journal) == 2)
        }
    }

    @Test func `a log cut at any length opens with all that was on disk by then`() async throws {
        let scratch = try Scratch()
        let executor = try ThreadExecutor.start(name: "journal")
        defer { executor.stop() }
        let journal = try await Journal.open(directory: scratch.path, executor: executor)
        let log = scratch.journal + "-wal"
        let marks = try await history(journal, steps: 12) { try contents(log).count }
        let (file, whole) = (try contents(scratch.journal), try contents(log))
        await journal.close()
        #expect(marks.last?.length == whole.count)

        let start = try #require(marks.first).length
        var cuts = Set(stride(from: 0, through: whole.count, by: 1_031))
        for mark in marks { cuts.formUnion([mark.length - 1, mark.length, mark.length + 1]) }
        var checked = 0
        for cut in cuts.sorted() where cut <= whole.count {
            for torn in [false, true] {
                let copy = try Scratch()
                try write(file, to: copy.journal)
                // Torn: the length reached the disk before the bytes, which are different ones.
                let rest = torn ? [UInt8](repeating: 0xA5, count: whole.count - cut) : []
                try write(whole.prefix(cut) + rest, to: copy.journal + "-wal")
                try await withJournal(copy.path) { journal in
                    let settled = try await journal.intents(rollout: "r", vehicle: nil)
                        .count { $0.settlement != nil }
                    let due = marks.last { $0.length <= cut }?.settled ?? 0
                    #expect(settled >= due, "cut at \(cut)")
                    #expect(settled <= due + 1, "cut at \(cut)")
                    if cut >= start { #expect(try await journal.lastRun(rollout: nil) != nil) }
                    _ = try await begin(journal)
                }
                checked += 1
            }
        }
        #expect(checked > 200)
    }

    @Test func `copies taken while the journal is being written open too`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            var settled = 0
            _ = try await history(journal, steps: 6) {
                let copy = try Scratch()
                try write(try contents(scratch.journal), to: copy.journal)
                try write(try contents(scratch.journal + "-wal"), to: copy.journal + "-wal")
                let found = try JournalReader(directory: copy.path).read {
                    view throws(JournalError) in
                    try view.intents(rollout: "r", vehicle: nil)
                }
                #expect(found.count { $0.settlement != nil } == settled)
                settled += 1
                return 0
            }
            #expect(settled == 7)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func `a full disk is reported, and nothing recorded before is lost`() async throws {
        let scratch = try Scratch()
        try #require(try run("mount", "-t", "tmpfs", "-o", "size=512k", "none", scratch.path) == 0)
        defer { _ = try? run("umount", "-l", scratch.path) }
        var settled = 0
        let next = try intent("bus", step: 0)
        try await withJournal(scratch.path) { journal in
            let number = try await begin(journal)
            try await recorded(journal, "bus", run: number)
            var error: JournalError?
            while error == nil, settled < 10_000 {
                do throws(JournalError) {
                    let id = try await journal.intend(next)
                    try await journal.settle(id, outcome: "done", at: at(1))
                    settled += 1
                } catch let failure {
                    error = failure
                }
            }
            #expect(error?.kind == .full)
            // Reading still works, and so does writing once there is room.
            let records = try await journal.intents(rollout: "r", vehicle: nil)
            #expect(records.count { $0.settlement != nil } == settled)
        }
        #expect(settled > 10)
        try #require(try run("mount", "-o", "remount,size=4m", scratch.path) == 0)
        try await withJournal(scratch.path) { journal in
            let records = try await journal.intents(rollout: "r", vehicle: nil)
            #expect(records.count { $0.settlement != nil } == settled)
            _ = try await journal.intend(next)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a read-only file system"))
    func `a read-only disk cannot take a new journal nor write an old one`() async throws {
        let scratch = try Scratch()
        try #require(try run("mount", "-t", "tmpfs", "-o", "ro", "none", scratch.path) == 0)
        defer { _ = try? run("umount", "-l", scratch.path) }
        #expect(try await kindOfOpening(scratch.path) == .cannotCreate)
        try #require(try run("mount", "-o", "remount,rw", scratch.path) == 0)
        try await withJournal(scratch.path) { journal in _ = try await begin(journal) }
        try #require(try run("mount", "-o", "remount,ro", scratch.path) == 0)
        let kind = try await kindOfOpening(scratch.path)
        #expect(kind == .readOnly || kind == .cannotCreate)
        let last = try JournalReader(directory: scratch.path).read { view throws(JournalError) in
            try view.lastRun(rollout: nil)
        }
        #expect(last?.number == 1)
    }

    @Test func `a missing folder and a folder in the file's place cannot be created`() async throws
    {
        let scratch = try Scratch()
        #expect(try await kindOfOpening(scratch.path + "/none") == .cannotCreate)
        mkdir(scratch.journal, 0o700)
        #expect(try await kindOfOpening(scratch.path) == .cannotCreate)
    }

    @Test func `what is no database is refused and left alone`() async throws {
        let scratch = try Scratch()
        let text = Array(String(repeating: "not a database\n", count: 99).utf8)
        try write(text, to: scratch.journal)
        #expect(try await kindOfOpening(scratch.path) == .corrupt)
        #expect(try contents(scratch.journal) == text)
    }

    @Test(arguments: [
        ("CREATE TABLE mine (x)", JournalError.Kind.foreign),
        ("PRAGMA application_id = 7", .foreign),
        ("PRAGMA user_version = 1", .foreign),
        (
            "PRAGMA application_id = 0x59415244; PRAGMA user_version = 99",
            .schema(found: 99, known: 1)
        ),
    ])
    func `another program's or a newer file is refused and left alone`(
        script: String,
        kind: JournalError.Kind
    ) async throws {
        let scratch = try Scratch()
        try #require(try run("sqlite3", scratch.journal, script) == 0)
        let before = try contents(scratch.journal)
        #expect(try await kindOfOpening(scratch.path) == kind)
        #expect(throws: JournalError.self) {
            try JournalReader(directory: scratch.path).read { _ in }
        }
        #expect(try contents(scratch.journal) == before)
    }

    @Test func `a value that nothing spells is damage, not a crash`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let run = try await begin(journal)
            try await recorded(journal, "bus", run: run)
        }
        try #require(
            try run("sqlite3", scratch.journal, "UPDATE executions SET state = 'flying'") == 0
        )
        try await withJournal(scratch.path) { journal in
            let error = await #expect(throws: JournalError.self) {
                try await journal.executions(rollout: "r")
            }
            #expect(error?.kind == .corrupt)
            #expect(error?.words == "column state holds 'flying'")
        }
    }
}
