import Domain
import Glibc
import Manifest

/// The program that is asked between two waves whether the rollout may go on.
struct CheckProgram: Sendable {
    private let words: [String]
    private let timeout: Duration

    init(_ between: BetweenWaves) {
        words = between.check
        timeout = between.timeout
    }

    /// How long a program may run before it is asked whether it still has to.
    private static let patience = Duration.milliseconds(250)

    var isEmpty: Bool { words.isEmpty }

    /// Why the rollout may not go on, nil when it may; blocks until the program has ended, or is
    /// ended because the run is.
    ///
    /// Run without a shell, with the rollout's name and the wave that has ended in its environment;
    /// what it prints goes to standard error.
    func run(
        rollout: String,
        wave: Int,
        unless isOver: () -> Bool = { false }
    ) -> String? {
        guard let program = words.first else { return nil }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return "no pipe: \(Self.text(errno))" }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        // Kept open by the program alone: it closes when the program ends, however it does.
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )
        // Our threads take no signals, and we ignore a closed pipe: the program is not to.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var process: pid_t = 0
        let code = Self.withStrings(words) { arguments in
            Self.withStrings(environment(rollout, wave)) { variables in
                posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
            }
        }
        close(ends[1])
        guard code == 0 else { return "cannot run \(program): \(Self.text(code))" }
        let wait = Self.wait(for: ends[0], timeout, unless: isOver)
        // The whole group: what the program has started ends with it.
        if wait != .ended { kill(-process, SIGKILL) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        switch wait {
        case .ended: break
        case .late: return "\(program) took longer than \(timeout.brief)"
        case .cut: return "\(program) was ended because the run ends"
        }
        let exit = (status >> 8) & 0xFF
        if status & 0x7F != 0 { return "\(program) was ended by signal \(status & 0x7F)" }
        return exit == 0 ? nil : "\(program) ended with \(exit)"
    }

    private func environment(_ rollout: String, _ wave: Int) -> [String] {
        let kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].compactMap { (name: String) in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        return kept + ["YARDMASTER_ROLLOUT=\(rollout)", "YARDMASTER_WAVE=\(wave + 1)"]
    }

    private enum Wait { case ended, late, cut }

    private static func wait(
        for descriptor: CInt,
        _ timeout: Duration,
        unless isOver: () -> Bool
    ) -> Wait {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let deadline = RealTime().now.advanced(by: timeout)
        while true {
            let left = min(patience, max(.zero, RealTime().now.duration(to: deadline)))
            // Rounded up: a wait of nothing would spin through the last millisecond.
            let milliseconds = CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000)
            if poll(&entry, 1, milliseconds) > 0 { return .ended }
            if isOver() { return .cut }
            if RealTime().now >= deadline { return .late }
        }
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }

    /// A list of C strings that ends with a null pointer, for as long as `body` runs.
    private static func withStrings<R>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
