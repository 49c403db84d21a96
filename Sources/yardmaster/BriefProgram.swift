import Domain
import Glibc

/// A program that is asked for a line and does not get long for it.
struct BriefProgram {
    enum Output: Equatable {
        case text(String)
        /// It cannot be run.
        case absent
        /// It was ended, because it took too long.
        case late
    }

    private let words: [String]

    init(_ words: [String]) { self.words = words }

    /// What it prints, the first 4 KiB of it.
    func output(within limit: Duration) -> Output {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return .absent }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        guard let process = start(writingTo: ends[1]) else {
            close(ends[1])
            return .absent
        }
        close(ends[1])
        let output = Self.read(ends[0], until: RealTime().now.advanced(by: limit))
        // The whole group: what it has started ends with it.
        kill(-process, SIGKILL)
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return output.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .late
    }

    private func start(writingTo end: CInt) -> pid_t? {
        guard let program = words.first else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let arguments = words.map { strdup($0) } + [nil]
        defer {
            for argument in arguments { free(argument) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var process: pid_t = 0
        let code = posix_spawnp(&process, program, &actions, &attributes, arguments, environ)
        return code == 0 ? process : nil
    }

    /// All there is to its end; nil when that does not come in time.
    private static func read(_ descriptor: CInt, until deadline: Moment) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        while bytes.count < 4_096 {
            let left = RealTime().now.duration(to: deadline)
            guard left > .zero else { return nil }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000))
            if ready < 0, errno != EINTR { return bytes }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
