import CSQLite
import Glibc

/// Reads the journal for `status` and its like: takes no lock, makes no file.
///
/// Works while a run writes, after a run was killed, when nobody has it open, and on what an earlier
/// version has written.
package struct JournalReader: Sendable {
    private let path: String

    package init(directory: String) { path = directory + "/" + Journal.fileName }

    /// Everything `body` reads is of one moment.
    package func read<R>(
        _ body: (JournalView) throws(JournalError) -> R
    ) throws(JournalError) -> R {
        for _ in 1..<Self.limit {
            let (result, stands) = try attempt(body)
            if stands { return try result.get() }
        }
        return try attempt(body).result.get()
    }

    /// Reads once, and says whether what came of it holds.
    ///
    /// With a log beside it, a run goes on or was killed. Without one a plain connection would make
    /// a log; so the file is read as it lies, and what that gives, be it an error, stands only if
    /// no run has begun to write in the meantime.
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
            // The run may have ended, and taken its log away, just before it was opened.
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

/// Tells whether anything was written to a journal between two looks, or its run has come or gone.
package struct JournalMark: Sendable, Equatable {
    private let files: [Fingerprint?]
    private let holder: Int?

    package init(_ state: String) {
        files = [Journal.fileName, Journal.fileName + "-wal", "lock"]
            .map { Fingerprint("\(state)/\($0)") }
        holder = (try? StateDirectory.existing(at: state))?.holder()?.pid
    }
}

/// Tells whether a file was written between two looks.
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
