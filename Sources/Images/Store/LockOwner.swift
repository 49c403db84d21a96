import CLinux
import Glibc

/// Finds the process that holds the kernel's lock on a file, for the message to those who wait.
enum LockOwner {
    /// Nil when the system does not report it.
    static func process(of path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let file = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while all.count < 1 << 20 {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            all += piece.prefix(count)
        }
        return process(inode: Int(status.st_ino), in: String(decoding: all, as: UTF8.self))
    }

    /// Reads lines such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF` (proc_locks(5)).
    ///
    /// The device is ignored: some file systems report another one there than stat does.
    static func process(inode: Int, in locks: String) -> Int? {
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int(fields[4]),
                fields[5].split(separator: ":").last == "\(inode)"
            else { continue }
            return process > 0 ? process : nil
        }
        return nil
    }
}
