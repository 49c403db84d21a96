import Base
import CLinux
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

    /// Opens a file for appending, and creates it when it does not exist; only a regular one.
    ///
    /// `/dev/fd/N` and `/dev/stdout` are descriptors that the caller has opened for us, whatever they are.
    package static func openForAppending(
        _ path: String,
        mode: UInt32 = 0o644
    ) throws(CommandError) -> CInt {
        do throws(FileFault) {
            guard let given = given(path) else {
                return try FilePlace.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: mode)
            }
            let descriptor = fcntl(given, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else { throw FileFault(code: errno) }
            return descriptor
        } catch {
            throw CommandError(
                .cannotCreate,
                "cannot open '\(path)' for writing",
                because: [error.description],
                hint: error == .notAFile
                    ? "name a file, or give a pipe that you have opened as /dev/fd/N" : nil
            )
        }
    }

    /// The descriptor that a path names, if it names one.
    private static func given(_ path: String) -> CInt? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
                return CInt(path.dropFirst(folder.count))
            }
            return nil
        }
    }

    /// Writes all bytes in pieces that never block, and waits for their reader between them until `isOver`; returns the
    /// error number when that fails.
    static func write(
        _ bytes: [UInt8],
        to descriptor: CInt,
        unless isOver: () -> Bool
    ) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            while poll(&waiting, 1, 250) == 0 {
                if isOver() { return ETIMEDOUT }
            }
            // A pipe that is ready takes so much at once.
            if let code = write(Array(rest.prefix(Int(PIPE_BUF))), to: descriptor) { return code }
            rest = rest.dropFirst(Int(PIPE_BUF))
        }
        return nil
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
    static func reason(_ code: CInt?) -> String? {
        guard let code, code != EPIPE, code != EBADF else { return nil }
        return text(of: code)
    }

    package static func text(of code: CInt) -> String { FileFault(code: code).description }
}
