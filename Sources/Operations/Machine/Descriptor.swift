package import Commands
import Glibc

/// Operations on file descriptors.
package enum Descriptor {
    /// Makes the three standard streams safe to write to.
    ///
    /// A stream that the caller closed would be reused for the journal's file, and messages would
    /// then be written into that file.
    ///
    /// A reader that goes away must not end the process.
    package static func prepareStandardStreams() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is used, which is this one.
            _ = Glibc.open("/dev/null", O_RDWR)
        }
    }

    /// Opens a file for appending, and creates it when it does not exist.
    package static func openForAppending(_ path: String) throws(CommandError) -> CInt {
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CommandError(
                .cannotCreate,
                "cannot open '\(path)' for writing",
                because: [text(of: errno)]
            )
        }
        return descriptor
    }

    /// Writes all bytes, and blocks as long as needed; returns the error number when that fails.
    package static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                sent += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process made the stream non-blocking for all that share it.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            default: return errno
            }
        }
        return nil
    }

    /// The reason of a failed write for people; nil when the reader went away.
    package static func reason(_ code: CInt?) -> String? {
        guard let code, code != EPIPE, code != EBADF else { return nil }
        return text(of: code)
    }

    package static func text(of code: CInt) -> String { String(cString: strerror(code)) }
}
