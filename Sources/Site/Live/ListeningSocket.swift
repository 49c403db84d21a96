import Base
import CLinux
package import Commands
import Glibc
package import Operations

/// A socket on which pages are served: one of our own, or one that the service manager passed.
package struct ListeningSocket {
    package let descriptor: CInt
    /// Its address, for people.
    package let name: String
    /// Whether a browser, and so the page of another site, can reach it.
    package let isNetwork: Bool
    /// The file of a unix socket that we created.
    private var path: String?

    private init(_ descriptor: CInt, _ name: String, isNetwork: Bool, path: String? = nil) {
        self.descriptor = descriptor
        self.name = name
        self.isNetwork = isNetwork
        self.path = path
    }

    /// Closes it, and removes its file if we created one.
    package func close() {
        Glibc.close(descriptor)
        if let path { unlink(path) }
    }

    package static let usual = "127.0.0.1:8750"

    // MARK: Passed by the service manager

    /// The sockets that the service manager opened (`sd_listen_fds(3)`); empty when there are none.
    package static func inherited(_ context: Context) throws(CommandError) -> [ListeningSocket] {
        guard let process = context.variable("LISTEN_PID"), process == "\(getpid())",
            let count = context.variable("LISTEN_FDS").flatMap({ CInt($0) }), count > 0
        else { return [] }
        // Child processes must not take these variables for their own.
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        var sockets: [ListeningSocket] = []
        for descriptor in 3..<(3 + min(count, 16)) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            sockets.append(try given(descriptor))
        }
        return sockets
    }

    private static func given(_ descriptor: CInt) throws(CommandError) -> ListeningSocket {
        var listens: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0
        else {
            throw CommandError(
                .configuration,
                "descriptor \(descriptor) of the service manager is not a listening socket",
                hint: "the socket unit needs ListenStream= and Accept=no"
            )
        }
        var storage = sockaddr_storage()
        size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isLoopback = withUnsafeMutablePointer(to: &storage) { pointer -> Bool? in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Bool? in
                guard getsockname(descriptor, address, &size) == 0 else { return nil }
                switch CInt(address.pointee.sa_family) {
                case AF_UNIX: return nil
                default: return Self.isLoopback(address)
                }
            }
        }
        if storage.ss_family == sa_family_t(AF_UNIX) {
            return ListeningSocket(
                descriptor,
                "a unix socket of the service manager",
                isNetwork: false
            )
        }
        guard isLoopback == true else { throw notLoopback("the socket of the service manager") }
        return ListeningSocket(descriptor, "a socket of the service manager", isNetwork: true)
    }

    private static func isLoopback(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 24 == 127
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
                }
            }
        default: return false
        }
    }

    private static func notLoopback(_ what: String) -> CommandError {
        CommandError(
            .configuration,
            "\(what) can be reached from other machines",
            because: ["requests are not authenticated there, and the pages name every vehicle"],
            hint:
                "serve on 127.0.0.1, [::1] or unix:PATH, behind a web server that authenticates"
        )
    }

    // MARK: Our own

    /// Opens `ADDRESS:PORT` on the loopback, or `unix:PATH`.
    package static func open(_ text: String) throws(CommandError) -> ListeningSocket {
        if text.hasPrefix("unix:") { return try openFile(String(text.dropFirst(5))) }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw unreadable(text) }
        let host = String(text[..<colon])
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if host.hasPrefix("["), host.hasSuffix("]"),
            inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &six.sin6_addr) == 1
        {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            return try open(&six, AF_INET6, text) { port in "[::1]:\(port)" }
        }
        guard inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &four.sin_addr) == 1
        else { throw unreadable(text) }
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = port.bigEndian
        let shown = host == "localhost" ? "127.0.0.1" : host
        return try open(&four, AF_INET, text) { port in "\(shown):\(port)" }
    }

    private static func unreadable(_ text: String) -> CommandError {
        CommandError(
            .usage,
            "'\(text.visible)' is not an address to serve on",
            hint: "write \(usual), [::1]:8750 or unix:/run/yardmaster/serve.sock"
        )
    }

    private static func open<Address>(
        _ address: inout Address,
        _ family: CInt,
        _ text: String,
        name: (UInt16) -> String
    ) throws(CommandError) -> ListeningSocket {
        let descriptor = socket(
            family,
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw refused(text, errno) }
        var yes: CInt = 1
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_REUSEADDR,
            &yes,
            socklen_t(MemoryLayout<CInt>.size)
        )
        let size = socklen_t(MemoryLayout<Address>.size)
        let (isOurs, code) = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> (Bool, CInt) in
                guard isLoopback(pointer) else { return (false, 0) }
                guard bind(descriptor, pointer, size) == 0, listen(descriptor, 128) == 0 else {
                    return (true, errno)
                }
                return (true, 0)
            }
        }
        guard isOurs else {
            Glibc.close(descriptor)
            throw notLoopback(text.visible)
        }
        guard code == 0 else {
            Glibc.close(descriptor)
            throw refused(text, code)
        }
        return ListeningSocket(
            descriptor,
            "http://" + name(port(of: descriptor)) + "/",
            isNetwork: true
        )
    }

    /// The port that the system chose for port 0.
    private static func port(of descriptor: CInt) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(descriptor, $0, &size)
            }
            // The port is at the same offset for both families.
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }

    private static func openFile(_ path: String) throws(CommandError) -> ListeningSocket {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard path.hasPrefix("/"), bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw unreadable("unix:" + path)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(
            AF_UNIX,
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw refused(path, errno) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> CInt in
                // A socket without a process behind it is replaced; one that answers is in use.
                if connect(descriptor, pointer, size) == 0 { return EADDRINUSE }
                if errno == ECONNREFUSED {
                    guard isSocket(path) else { return EEXIST }
                    unlink(path)
                }
                // For its owner and the owner's group; the folder decides about further users.
                let mask = umask(0o117)
                defer { umask(mask) }
                return bind(descriptor, pointer, size) == 0 && listen(descriptor, 128) == 0
                    ? 0 : errno
            }
        }
        guard code == 0 else {
            Glibc.close(descriptor)
            throw refused(path, code)
        }
        return ListeningSocket(descriptor, "unix:\(path)", isNetwork: false, path: path)
    }

    /// Whether the path itself is a socket: a file refuses a connection, too.
    private static func isSocket(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }

    private static func refused(_ text: String, _ code: CInt) -> CommandError {
        CommandError(
            .unavailable,
            "cannot serve on \(text.visible)",
            because: [Descriptor.text(of: code)],
            hint: code == EEXIST
                ? "what is there is not a socket: name another path, or move it away" : nil
        )
    }
}
