import Base
import CSQLite
import Dispatch
import Glibc
import Operations
import Show
import Store

/// A journal with any values in its cells, or with any bytes in its file: it is read, or refused.
///
/// The first byte says which; rows then begin with the number of their table, and each value with its kind.
func fuzzJournal(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let rest = bytes.dropFirst()
    do {
        if kind & 7 == 0 { try damage(rest) } else { try fill(rest) }
    } catch { fatalError("the journal cannot be made: \(error)") }
    readAll()
}

private let folder: String = {
    var name = Array("/tmp/yardmaster-fuzz-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { fatalError("there is no folder for the journal") }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()
private let path = folder + "/journal.sqlite"

/// The bytes of a new journal.
private let blank: [UInt8] = {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        defer { done.signal() }
        guard let executor = try? ThreadExecutor.start(name: "journal") else { return }
        defer { executor.stop() }
        if let journal = try? await Journal.open(directory: folder, executor: executor) {
            await journal.close()
        }
    }
    done.wait()
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    let count = read(file, &bytes, bytes.count)
    precondition(count > 0, "there is no journal")
    return Array(bytes.prefix(count))
}()

/// The tables of a new journal, with the number of columns of each.
private let tables: [(name: String, columns: Int)] = {
    var database: OpaquePointer?
    precondition(sqlite3_open(path, &database) == SQLITE_OK)
    defer { sqlite3_close_v2(database) }
    var statement: OpaquePointer?
    let query = """
        SELECT name, (SELECT count(*) FROM pragma_table_info(m.name)) FROM sqlite_master m
        WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name
        """
    precondition(sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    var tables: [(name: String, columns: Int)] = []
    while sqlite3_step(statement) == SQLITE_ROW, let name = sqlite3_column_text(statement, 0) {
        tables.append((String(cString: name), Int(sqlite3_column_int64(statement, 1))))
    }
    return tables
}()

/// Words that mean something in some column.
private let words = [
    "", "r", "v1", "serial-1", "queued", "ended", "updated", "failed", "in-doubt", "doubtful",
    "done", "once", "paused", "aborted", "none", "4.12.0", "all", "v1\nv2", "{}",
    "{\"unfinished\":1}", "run-ended", "state-changed", "inhibit", "{\"detail\":\"-60 dBm\"}",
    String(repeating: "0a", count: 32),
]

private struct Refusal: Error { let code: Int32 }

/// Puts rows into a new journal, without the checks of its schema.
private func fill(_ bytes: ArraySlice<UInt8>) throws {
    write(blank)
    var database: OpaquePointer?
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw Refusal(code: 1) }
    defer { sqlite3_close_v2(database) }
    let settings =
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; "
        + "PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE; BEGIN"
    guard sqlite3_exec(database, settings, nil, nil, nil) == SQLITE_OK else {
        throw Refusal(code: 2)
    }
    var rest = bytes
    while let number = rest.popFirst() {
        let table = tables[Int(number) % tables.count]
        let places = Array(repeating: "?", count: table.columns).joined(separator: ", ")
        var statement: OpaquePointer?
        let text = "INSERT OR REPLACE INTO \"\(table.name)\" VALUES (\(places))"
        guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK else { continue }
        defer { sqlite3_finalize(statement) }
        for column in 1...table.columns { bind(&rest, statement, Int32(column)) }
        // A value of the wrong type is refused by the table itself.
        _ = sqlite3_step(statement)
    }
    sqlite3_exec(database, "COMMIT", nil, nil, nil)
}

private func bind(_ rest: inout ArraySlice<UInt8>, _ statement: OpaquePointer?, _ column: Int32) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let kind = rest.popFirst() ?? 0
    switch kind & 7 {
    case 0: sqlite3_bind_null(statement, column)
    case 1: sqlite3_bind_int64(statement, column, Int64(kind >> 3))
    case 2:
        let number = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        sqlite3_bind_int64(statement, column, Int64(bitPattern: number))
    case 3: sqlite3_bind_int64(statement, column, kind & 8 == 0 ? .min : .max)
    case 4, 5:
        let word = words[Int(kind >> 3) % words.count]
        sqlite3_bind_text(statement, column, word, Int32(word.utf8.count), transient)
    default:
        let length = Int(rest.popFirst() ?? 0)
        let text = rest.prefix(length).map { CChar(bitPattern: $0) }
        rest = rest.dropFirst(length)
        sqlite3_bind_text(statement, column, text, Int32(text.count), transient)
    }
}

/// Replaces bytes of a new journal: three bytes of each change are its place, the fourth is the byte.
private func damage(_ bytes: ArraySlice<UInt8>) throws {
    var file = blank
    var rest = bytes
    while rest.count >= 4 {
        let change = Array(rest.prefix(4))
        rest = rest.dropFirst(4)
        let place = Int(change[0]) << 16 | Int(change[1]) << 8 | Int(change[2])
        file[place % file.count] = change[3]
    }
    if let last = rest.last { file.removeLast(min(file.count, Int(last) * 97)) }
    write(file)
}

private func write(_ bytes: [UInt8]) {
    for ending in ["-wal", "-shm", "-journal"] { unlink(path + ending) }
    let file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count)
    close(file)
}

/// Each question on its own, because one that is refused ends the reading.
private func readAll() {
    let now = WallTime(milliseconds: 1_790_000_000_000)
    let vehicle = VehicleID("v1")
    func shown(_ value: Any?) { _ = "\(value as Any)" }
    try? JournalReader(directory: folder).read { view throws(JournalError) in
        for run in (try? view.runs(rollout: nil, limit: 8)) ?? [] {
            for event in (try? view.events(run: run.number)) ?? [] {
                _ = RunList.body(of: event)
            }
            shown(try? view.lastWords(ofRun: run.number))
            shown(try? view.radio(ofRun: run.number))
        }
        shown(try? view.lastRealRun())
        shown(try? view.openRuns())
        shown(try? view.present(now))
        shown(try? view.sightings())
        shown(try? view.signals())
        shown(try? view.endings())
        shown(try? view.enrolments())
        shown(try? view.inventory())
        shown(try? view.runVersions())
        shown(try? view.rollout("r"))
        shown(try? view.openRequests(for: nil))
        shown(try? view.inhibits(at: now))
        shown(try? view.failures(atLeast: 1))
        shown(try? view.measures())
        shown(try? view.debts())
        shown(try? view.owed(by: nil))
        shown(try? view.hold(on: "r"))
        if let records = try? view.executions(rollout: "r") { shown(try? view.standing(records)) }
        shown(try? view.intents(rollout: "r", vehicle: nil))
        shown(try? view.doubts(of: vehicle))
        shown(try? view.outbox(limit: 9))
        shown(try? view.vehicles())
        shown(try? view.sayings(of: nil, sinceRun: 0, limit: 9))
    }
}
