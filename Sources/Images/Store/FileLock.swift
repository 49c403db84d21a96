import CLinux
import Glibc

/// The kernel's lock on a file, which others may rename or remove while we wait for it.
enum FileLock {
    /// Gets the lock; returns false and closes the file while another process has the lock.
    static func hold(
        _ descriptor: Int32,
        _ path: String,
        _ flags: Int32
    ) throws(ImageError) -> Bool {
        while flock(descriptor, LOCK_EX | flags) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .writing(path, code) }
            return false
        }
        return true
    }

    /// Whether the descriptor is still the file of this name: the lock is on the file, and its last
    /// owner may have renamed or removed the file since we opened it.
    static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    /// Releases the lock.
    ///
    /// Closing alone would leave it to a child process that is about to start a program.
    static func release(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
