import Domain
import Glibc
import Journal
import Testing
import Threads

/// A folder of its own for one test, removed with its last reference.
final class Scratch: Sendable {
    let path: String

    init() throws {
        var name = Array("/tmp/yardmaster-journal-XXXXXX".utf8CString)
        path = String(cString: try #require(mkdtemp(&name)))
    }

    deinit { _ = try? run("rm", "-rf", path) }

    var journal: String { path + "/journal.sqlite" }

    var files: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Runs a program and returns its exit code.
@discardableResult
func run(_ arguments: String...) throws -> Int32 {
    var pid = pid_t()
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    try #require(posix_spawnp(&pid, arguments[0], nil, nil, pointers, environ) == 0)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status >> 8 & 0xFF
}

func contents(_ path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &piece, piece.count)
        if count <= 0 { return bytes }
        bytes += piece.prefix(count)
    }
}

func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    try #require(file >= 0, "\(path)")
    defer { close(file) }
    let bytes = Array(bytes)
    try #require(write(file, bytes, bytes.count) == bytes.count)
}

/// Lends a journal on a thread of its own and closes both.
func withJournal<R>(
    _ directory: String,
    _ body: (Journal) async throws -> R
) async throws -> R {
    let executor = try ThreadExecutor.start(name: "journal")
    defer { executor.stop() }
    let journal = try await Journal.open(directory: directory, executor: executor)
    let result: Result<R, any Error>
    do { result = .success(try await body(journal)) } catch { result = .failure(error) }
    await journal.close()
    return try result.get()
}

/// The kind of the error that opening the journal in a folder throws.
func kindOfOpening(_ directory: String) async throws -> JournalError.Kind? {
    let executor = try ThreadExecutor.start(name: "journal")
    defer { executor.stop() }
    do {
        _ = try await Journal.open(directory: directory, executor: executor).close()
        return nil
    } catch {
        return error.kind
    }
}

let plan = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32))

func at(_ seconds: Int64) -> WallTime {
    WallTime(milliseconds: 1_790_000_000_000 + seconds * 1_000)
}

func vehicle(_ text: String) throws -> VehicleID { try #require(VehicleID(text)) }

func begin(_ journal: Journal, _ rollout: String = "r", at time: WallTime = at(0)) async throws
    -> Int
{
    try await journal.beginRun(rollout: rollout, plan: try #require(plan), at: time)
}

func execution(_ id: String, run: Int, rollout: String = "r") throws -> ExecutionRecord {
    ExecutionRecord(
        rollout: rollout,
        vehicle: try vehicle(id),
        serial: try #require(Serial("serial-\(id)")),
        run: run,
        started: at(1)
    )
}

func intent(_ id: String, step: Int, effect: Effect = .once) throws -> Intent {
    Intent(
        rollout: "r",
        vehicle: try vehicle(id),
        step: step,
        effect: effect,
        description: "step \(step)",
        begun: at(Int64(step))
    )
}
