import Base
import CLinux
import Glibc

/// The right to use the store or to clean it up, held until it is released or the process ends.
package struct StoreLock: ~Copyable {
    private let descriptor: Int32

    package enum Kind: Sendable {
        /// Several at the same time: while they hold it, no file that they rely on is removed.
        case use
        /// Exclusive.
        case cleaning
    }

    /// Nil when others hold a lock that excludes this one; never waits.
    package init?(_ store: StoreFolder, for kind: Kind) throws(ImageError) {
        try store.make([store.root])
        let path = store.root + "/lock"
        let descriptor: Int32
        do throws(FileFault) {
            descriptor = try store.files.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw .writing(path, error.code) }
        let wish = kind == .use ? LOCK_SH : LOCK_EX
        while flock(descriptor, wish | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .writing(path, code) }
            return nil
        }
        self.descriptor = descriptor
    }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    package consuming func release() {}
}
