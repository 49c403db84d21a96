import Domain
import Glibc

/// A program that is given a text on its standard input and does not get long for it.
struct FedProgram {
    enum Result: Equatable {
        case ended(Int)
        /// By a signal, or because it took too long.
        case cut(String)
        /// It cannot be run.
        case absent(String)
    }

    let words: [String]

    /// Runs it without a shell and blocks until it has ended; what it prints goes nowhere.
    func run(_ input: String, within limit: Duration) -> Result {
        guard let program = words.first else { return .absent("no program is named") }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return .cut(Descriptor.text(of: errno)) }
        var done: [CInt] = [-1, -1]
        guard pipe(&done) == 0 else {
            for end in ends { close(end) }
            return .cut(Descriptor.text(of: errno))
        }
        for end in ends + done { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var process: pid_t = 0
        let code = start(program, reading: ends[0], holding: done[1], &process)
        close(ends[0])
        close(done[1])
        defer { close(done[0]) }
        guard code == 0 else {
            close(ends[1])
            return .absent("\(program): \(Descriptor.text(of: code))")
        }
        let deadline = RealTime().now.advanced(by: limit)
        Self.feed(Array(input.utf8), to: ends[1], until: deadline)
        close(ends[1])
        let isLate = !Self.waits(done[0], until: deadline)
        // The whole group: what it has started ends with it.
        if isLate { kill(-process, SIGKILL) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if isLate { return .cut("\(program) took longer than \(limit.brief)") }
        if status & 0x7F != 0 { return .cut("\(program) was ended by signal \(status & 0x7F)") }
        return .ended(Int((status >> 8) & 0xFF))
    }

    /// `end` is kept open by the program alone, as its descriptor 3: it closes when it has ended.
    private func start(
        _ program: String,
        reading input: CInt,
        holding end: CInt,
        _ process: inout pid_t
    ) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, end, 3)
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
        let kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].compactMap { (name: String) in
            getenv(name).map { strdup("\(name)=\(String(cString: $0))") }
        }
        let variables: [UnsafeMutablePointer<CChar>?] = kept + [nil]
        defer {
            for text in arguments + variables { free(text) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        return posix_spawn(&process, program, &actions, &attributes, arguments, variables)
    }

    /// As much as it takes: one that reads nothing is not waited for longer than the rest.
    private static func feed(_ bytes: [UInt8], to descriptor: CInt, until deadline: Moment) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var rest = bytes[...]
        while !rest.isEmpty {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let left = RealTime().now.duration(to: deadline)
            guard left > .zero else { return }
            let ready = poll(&entry, 1, CInt(clamping: left.nanoseconds / 1_000_000 + 1))
            if ready < 0, errno != EINTR { return }
            guard ready > 0 else { continue }
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func waits(_ descriptor: CInt, until deadline: Moment) -> Bool {
        while true {
            let left = RealTime().now.duration(to: deadline)
            guard left > .zero else { return false }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, CInt(clamping: left.nanoseconds / 1_000_000 + 1))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return true }
        }
    }
}
