package import CLinux
package import Domain
import Glibc

/// A program of others that we have started.
///
/// It runs without a shell, as the head of a group of its own, with no signal held back or ignored, and of
/// our descriptors it has those alone that it is given.
package struct ChildProgram {
    /// What it has for one of its descriptors.
    package enum Stream {
        case descriptor(CInt)
        /// `/dev/null`.
        case nothing
    }

    /// Why there is none.
    package enum Fault: Error {
        case noPipe(CInt)
        case notStarted(CInt)

        package var cause: String {
            switch self {
            case .noPipe(let code), .notStarted(let code): Descriptor.text(of: code)
            }
        }
    }

    package enum End: Equatable {
        case code(Int)
        case signal(Int)
        /// It took too long, and was ended.
        case late
        /// It was ended because it is needed no more.
        case cut
    }

    /// How long a program may run before it is asked whether it still has to.
    private static let patience = Duration.milliseconds(250)

    private let process: pid_t
    /// The other end is kept open by the program alone: it closes when the program ends, however it does.
    private let lifeline: CInt

    /// What a program needs of our environment to run at all.
    package static var plainEnvironment: [String] {
        ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].compactMap { (name: String) in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    package static func begin(
        _ words: [String],
        _ streams: [(CInt, Stream)],
        environment: [String]
    ) -> Result<ChildProgram, Fault> {
        let ends: (out: CInt, into: CInt)
        switch pipe() {
        case .success(let made): ends = made
        case .failure(let fault): return .failure(fault)
        }
        defer { close(ends.into) }
        switch spawn(words, streams + [(3, .descriptor(ends.into))], environment: environment) {
        case .success(let process):
            return .success(ChildProgram(process: process, lifeline: ends.out))
        case .failure(let fault):
            close(ends.out)
            return .failure(fault)
        }
    }

    /// Blocks until it has ended, or has to.
    package func end(before deadline: Moment, unless isOver: () -> Bool = { false }) -> End {
        defer { close(lifeline) }
        let early = wait(until: deadline, unless: isOver)
        let status = early == nil ? Self.reap(process) : Self.end(process)
        if let early { return early }
        let signal = status & 0x7F
        return signal != 0 ? .signal(Int(signal)) : .code(Int((status >> 8) & 0xFF))
    }

    /// Nil when it has ended by itself.
    private func wait(until deadline: Moment, unless isOver: () -> Bool) -> End? {
        while true {
            if Self.waits(for: lifeline, Int16(POLLIN), until: deadline) { return nil }
            if isOver() { return .cut }
            if RealTime().now >= deadline { return .late }
        }
    }

    /// Whether a descriptor is ready, after a wait for it that is never long.
    private static func waits(for descriptor: CInt, _ way: Int16, until deadline: Moment) -> Bool {
        var entry = pollfd(fd: descriptor, events: way, revents: 0)
        let left = min(patience, max(.zero, RealTime().now.duration(to: deadline)))
        // Rounded up: a wait of nothing would spin through the last millisecond.
        return poll(&entry, 1, CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000)) > 0
    }

    // MARK: Pipes

    /// Its ends are open in no program but those that are given one.
    package static func pipe() -> Result<(out: CInt, into: CInt), Fault> {
        var ends: [CInt] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return .failure(.noPipe(errno)) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return .success((ends[0], ends[1]))
    }

    /// All that a program prints, or one byte more than is wanted; nil when its end did not come in time.
    package static func read(
        _ descriptor: CInt,
        most: Int,
        until deadline: Moment,
        unless isOver: () -> Bool = { false }
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= most {
            guard waits(for: descriptor, Int16(POLLIN), until: deadline) else {
                if isOver() || RealTime().now >= deadline { return nil }
                continue
            }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<min(count, most + 1 - bytes.count)]
        }
        return bytes
    }

    /// As much as a program takes: one that reads nothing is not waited for longer than the rest.
    package static func feed(_ bytes: [UInt8], to descriptor: CInt, until deadline: Moment) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var rest = bytes[...]
        while !rest.isEmpty {
            guard waits(for: descriptor, Int16(POLLOUT), until: deadline) else {
                if RealTime().now >= deadline { return }
                continue
            }
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    // MARK: Processes

    /// The program alone, for callers that see its end in another way; nil is all of our environment.
    package static func spawn(
        _ words: [String],
        _ streams: [(CInt, Stream)],
        environment: [String]? = nil
    ) -> Result<pid_t, Fault> {
        guard let program = words.first else { return .failure(.notStarted(ENOENT)) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for (number, stream) in streams {
            switch stream {
            case .descriptor(let own): posix_spawn_file_actions_adddup2(&actions, own, number)
            case .nothing:
                let way = number == STDIN_FILENO ? O_RDONLY : O_WRONLY
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", way, 0)
            }
        }
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
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { list in list.map { strdup($0) } + [nil] }
        defer {
            for text in arguments + (variables ?? []) { free(text) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var process: pid_t = 0
        let code =
            if let variables {
                posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
            } else {
                posix_spawnp(&process, program, &actions, &attributes, arguments, environ)
            }
        return code == 0 ? .success(process) : .failure(.notStarted(code))
    }

    /// Ends the whole group: what the program has started ends with it.
    @discardableResult
    package static func end(_ process: pid_t) -> CInt {
        kill(-process, SIGKILL)
        return reap(process)
    }

    private static func reap(_ process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
