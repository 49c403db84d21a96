import Base
import CLinux
import Glibc

/// An external program that we started.
///
/// It runs without a shell, as the leader of its own process group, with no signal blocked or
/// ignored, and with only the descriptors that it is given.
struct ChildProgram {
    /// The stream for one of its descriptors.
    enum Stream {
        case descriptor(CInt)
        /// `/dev/null`.
        case nothing
    }

    /// Why the program was not started.
    enum Fault: Error {
        case noPipe(CInt)
        case notStarted(CInt)

        var cause: String {
            switch self {
            case .noPipe(let code), .notStarted(let code): Descriptor.text(of: code)
            }
        }
    }

    enum End: Equatable {
        case code(Int)
        case signal(Int)
        /// It took too long and was ended.
        case late
        /// It was ended because its result is no longer needed.
        case cut
    }

    /// How often we check whether a program may still run.
    private static let patience = Duration.milliseconds(250)

    private let process: pid_t
    /// Only the program keeps the other end open: it closes when the program ends in any way.
    private let lifeline: CInt

    /// The variables of our environment that every program needs.
    static var plainEnvironment: [String] {
        ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].compactMap { (name: String) in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    /// Tells a program of the operator that what it is asked about is not real.
    static func note(isRehearsal: Bool) -> [String] {
        isRehearsal ? ["YARDMASTER_REHEARSAL=1"] : []
    }

    static func begin(
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

    /// Blocks until the program has ended or must be ended.
    func end(before deadline: Moment, unless isOver: () -> Bool = { false }) -> End {
        defer { close(lifeline) }
        let early = wait(until: deadline, unless: isOver)
        let status = early == nil ? Self.reap(process) : Self.end(process)
        if let early { return early }
        let signal = status & 0x7F
        return signal != 0 ? .signal(Int(signal)) : .code(Int((status >> 8) & 0xFF))
    }

    /// Nil when the program has ended.
    private func wait(until deadline: Moment, unless isOver: () -> Bool) -> End? {
        while true {
            if Self.waits(for: lifeline, Int16(POLLIN), until: deadline) { return nil }
            if isOver() { return .cut }
            if RealTime().now >= deadline { return .late }
        }
    }

    /// Whether a descriptor is ready, after a short wait.
    private static func waits(for descriptor: CInt, _ way: Int16, until deadline: Moment) -> Bool {
        var entry = pollfd(fd: descriptor, events: way, revents: 0)
        let left = min(patience, max(.zero, RealTime().now.duration(to: deadline)))
        // Rounded up: a wait of zero would loop during the last millisecond.
        return poll(&entry, 1, CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000)) > 0
    }

    // MARK: Pipes

    /// Its ends are open only in programs that are given one.
    static func pipe() -> Result<(out: CInt, into: CInt), Fault> {
        var ends: [CInt] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return .failure(.noPipe(errno)) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return .success((ends[0], ends[1]))
    }

    /// All output of a program, or one byte more than the limit; nil when the output did not end in
    /// time.
    static func read(
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

    /// Writes as much as the program reads; it does not wait longer than until the deadline for one
    /// that reads nothing.
    static func feed(_ bytes: [UInt8], to descriptor: CInt, until deadline: Moment) {
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

    /// Only starts the program, for callers that notice its end in another way.
    ///
    /// Our whole environment is never passed on: secrets can be in it. A program that asks a person
    /// stays in our process group, because no other may read from the terminal.
    static func spawn(
        _ words: [String],
        _ streams: [(CInt, Stream)],
        environment: [String],
        asksPerson: Bool = false
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
            Int16(
                (asksPerson ? 0 : POSIX_SPAWN_SETPGROUP) | POSIX_SPAWN_SETSIGMASK
                    | POSIX_SPAWN_SETSIGDEF
            )
        )
        // Our threads block signals, and we ignore closed pipes: the program must not.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer {
            for text in arguments + variables { free(text) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var process: pid_t = 0
        let code = posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
        return code == 0 ? .success(process) : .failure(.notStarted(code))
    }

    /// Ends the whole process group, including programs that this one has started.
    @discardableResult
    static func end(_ process: pid_t) -> CInt {
        kill(-process, SIGKILL)
        return reap(process)
    }

    static func reap(_ process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
