package import Commands
import Glibc

/// The few things that are done with file descriptors directly.
package enum Descriptor {
    /// Makes the three standard streams safe to write to.
    ///
    /// A stream that was closed by the caller would be handed out again for the journal's file,
    /// and messages would then be written into it. A reader that goes away must not end us.
    package static func prepareStandardStreams() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is given, and that is this one.
            _ = Glibc.open("/dev/null", O_RDWR)
        }
    }

    /// A file to add to, made when it is not there.
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

    /// Writes all of it, however long that blocks; the error's number when it cannot be.
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
                // Somebody else made the stream non-blocking for all who share it.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            default: return errno
            }
        }
        return nil
    }

    /// What a failed write means for a person: nothing when the reader went away.
    package static func reason(_ code: CInt?) -> String? {
        guard let code, code != EPIPE, code != EBADF else { return nil }
        return text(of: code)
    }

    package static func text(of code: CInt) -> String { String(cString: strerror(code)) }
}
