package import Base
import CLinux
import Glibc

/// The right to write in a state directory, held until `release` or the end of the process.
package struct StateLock: ~Copyable {
    private let descriptor: CInt

    init(file path: String, holder: LockHolder) throws(StateDirectoryError) {
        let descriptor: CInt
        do throws(FileFault) {
            descriptor = try FilePlace.open(path, O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw StateDirectoryError(path, error.code) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            defer { close(descriptor) }
            guard code == EWOULDBLOCK else { throw StateDirectoryError(path, code) }
            throw .busy(LockHolder.read(descriptor))
        }
        // The text is only for other processes' messages: the lock works without it.
        let text = Array(holder.text.utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
        self.descriptor = descriptor
    }

    deinit {
        // A holder's text must not outlive its lock.
        _ = ftruncate(descriptor, 0)
        // Closing alone would keep the lock in a child that is about to start a program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    package consuming func release() {}
}

/// The holder of the lock, for messages of other processes.
package struct LockHolder: Sendable, Equatable, CustomStringConvertible {
    package let pid: Int
    package let started: WallTime
    package let rollout: String

    package init(pid: Int, started: WallTime, rollout: String) {
        self.pid = pid
        self.started = started
        self.rollout = rollout
    }

    package var description: String {
        "process \(pid), rollout \(rollout), since \(started)"
    }

    /// The lock file's three lines.
    package var text: String {
        let name = rollout.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        return "pid=\(pid)\nstarted=\(started.milliseconds)\nrollout="
            + String(String.UnicodeScalarView(name)) + "\n"
    }

    /// Nil for anything other than three such lines.
    package init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[3].isEmpty,
            lines[0].hasPrefix("pid="), let pid = Int(lines[0].dropFirst(4)), pid > 0,
            lines[1].hasPrefix("started="), let started = Int64(lines[1].dropFirst(8)),
            lines[2].hasPrefix("rollout=")
        else { return nil }
        self.init(
            pid: pid,
            started: WallTime(milliseconds: started),
            rollout: String(lines[2].dropFirst(8))
        )
    }

    static func read(_ descriptor: CInt) -> LockHolder? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return LockHolder(text: String(decoding: bytes.prefix(count), as: UTF8.self))
    }

    /// How often the kernel's list is read before a lock that is not in it counts as not held.
    ///
    /// A list of many locks is read in pieces. When a lock disappears between two reads, the later
    /// ones move up, and any other lock may be missing. In a test beside four processes that took
    /// and released locks all the time, one read in a hundred missed a lock.
    private static let looks = 16

    /// The process in the file, if it holds a lock on the file according to the kernel.
    package static func current(
        of path: String,
        locks: () -> String? = LockHolder.kernelLocks
    ) -> LockHolder? {
        guard let descriptor = try? FilePlace.open(path, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let holder = read(descriptor) else { return nil }
        for _ in 0..<looks {
            guard let locks = locks() else { return nil }
            if holder.holds(file: status.st_ino, in: locks) { return holder }
            // A process that does not exist holds no lock.
            if kill(pid_t(truncatingIfNeeded: holder.pid), 0) != 0, errno == ESRCH { return nil }
        }
        return nil
    }

    /// Looks for a line such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF`
    /// (proc_locks(5)).
    ///
    /// The device is not compared: some file systems show another one there than in stat.
    private func holds(file number: ino_t, in locks: String) -> Bool {
        locks.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count >= 6 && fields[1] == "FLOCK" && fields[4] == "\(pid)"
                && fields[5].split(separator: ":").last == "\(number)"
        }
    }

    package static func kernelLocks() -> String? {
        let descriptor = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, all.count < 1 << 20 else { break }
            all += piece.prefix(count)
        }
        return String(decoding: all, as: UTF8.self)
    }
}
