import CSQLite
import Glibc

/// Reads the journal for `status` and similar commands: takes no lock, creates no file.
///
/// Works while a run writes, after a run was killed, when no process has it open, and on the
/// journal of an earlier version.
package struct JournalReader: Sendable {
    private let path: String

    package init(directory: String) { path = directory + "/" + Journal.fileName }

    /// Everything that `body` reads is from one moment.
    package func read<R>(
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(JournalError) -> R {
        for _ in 1..<Self.limit {
            let (result, stands) = try attempt(body)
            if stands { return try result.get() }
        }
        return try attempt(body).result.get()
    }

    /// Reads once, and returns whether the result is valid.
    ///
    /// If there is a log beside the file, a run is active or was killed. Without a log, a plain
    /// connection would create one; so the file is read as it is, and the result (which may be an
    /// error) is valid only if no run has begun to write in the meantime.
    private func attempt<R>(
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(JournalError) -> (result: Result<R, JournalError>, stands: Bool) {
        guard let before = Fingerprint(path) else {
            guard errno == EACCES else {
                throw JournalError(.missing, "open", words: "no file \(path)")
            }
            throw notPermitted
        }
        guard access(path, R_OK) == 0 || errno != EACCES else { throw notPermitted }
        guard before.size > 0 else { throw Schema.empty }
        let live = access(path + "-wal", F_OK) == 0
        do throws(JournalError) {
            let database = try JournalDatabase(path: path, mode: live ? .read : .frozen)
            let result = try database.snapshot { () throws(JournalError) in
                try body(JournalView(database: try Schema.readable(database)))
            }
            return (.success(result), live || before == Fingerprint(path))
        } catch {
            // The run may have ended and removed its log just before the log was opened.
            let stands = live ? error.kind != .cannotCreate : before == Fingerprint(path)
            return (.failure(error), stands)
        }
    }

    private static let limit = 5

    private var notPermitted: JournalError {
        JournalError(
            .notPermitted,
            "open",
            words: "user \(geteuid()) has no right to \(path)"
        )
    }
}

/// A journal's files and writer at one moment; two that differ mean that something has changed.
package struct JournalMark: Sendable, Equatable {
    private let files: [Fingerprint?]
    private let holder: Int?

    package init(_ state: String) {
        files = [Journal.fileName, Journal.fileName + "-wal", "lock"]
            .map { Fingerprint("\(state)/\($0)") }
        holder = (try? StateDirectory.existing(at: state))?.holder()?.pid
    }
}

/// A file's state at one moment; two that differ mean that it was written in between.
private struct Fingerprint: Sendable, Equatable {
    private let inode: UInt
    let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil when there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
