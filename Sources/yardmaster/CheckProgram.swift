import Domain
import Glibc
import Manifest
import Rollout

/// A program of the operator's that is asked whether it may go on: between two waves, or before a
/// vehicle keeps its new image.
struct CheckProgram: Sendable {
    enum Answer: Sendable, Equatable {
        case yes
        /// It ended with 75, which says that nobody can tell yet.
        case later(String)
        case no(String)
        /// It was ended because the run ends.
        case cut(String)
    }

    /// By `sysexits.h`: a failure that passes.
    private static let laterCode = 75

    private let words: [String]
    private let timeout: Duration
    /// What it finds in its environment, beside what it needs to run at all.
    private let variables: [String]

    init(_ between: BetweenWaves, rollout: String, wave: Int) {
        words = between.check
        timeout = between.timeout
        variables = ["YARDMASTER_ROLLOUT=\(rollout)", "YARDMASTER_WAVE=\(wave + 1)"]
    }

    init(_ judgement: Judgement, rollout: String) {
        words = judgement.program
        timeout = judgement.limit
        variables = [
            "YARDMASTER_ROLLOUT=\(rollout)", "YARDMASTER_VEHICLE=\(judgement.vehicle)",
            "YARDMASTER_SERIAL=\(judgement.serial)", "YARDMASTER_IMAGE=\(judgement.image)",
            "YARDMASTER_VERSION=\(judgement.version)", "YARDMASTER_ADAPTER=\(judgement.adapter)",
        ]
    }

    /// How long a program may run before it is asked whether it still has to.
    private static let patience = Duration.milliseconds(250)

    /// Whether it may go on; blocks until the program has ended, or is ended because the run is.
    ///
    /// Run without a shell; what it prints goes to standard error.
    func run(unless isOver: () -> Bool = { false }) -> Answer {
        guard let program = words.first else { return .yes }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return .no("no pipe: \(Self.text(errno))") }
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
            Self.withStrings(environment) { variables in
                posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
            }
        }
        close(ends[1])
        guard code == 0 else { return .no("cannot run \(program): \(Self.text(code))") }
        let wait = Self.wait(for: ends[0], timeout, unless: isOver)
        // The whole group: what the program has started ends with it.
        if wait != .ended { kill(-process, SIGKILL) }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        switch wait {
        case .ended: break
        case .late: return .no("\(program) took longer than \(timeout.brief)")
        case .cut: return .cut("\(program) was ended because the run ends")
        }
        let exit = (status >> 8) & 0xFF
        if status & 0x7F != 0 { return .no("\(program) was ended by signal \(status & 0x7F)") }
        let sentence = "\(program) ended with \(exit)"
        switch Int(exit) {
        case 0: return .yes
        case Self.laterCode: return .later(sentence)
        default: return .no(sentence)
        }
    }

    private var environment: [String] {
        let kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].compactMap { (name: String) in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        return kept + variables
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

extension CheckProgram.Answer {
    /// Why the rollout may not go on; nil when it may.
    var objection: String? {
        switch self {
        case .yes: nil
        case .later(let sentence), .no(let sentence), .cut(let sentence): sentence
        }
    }

    var verdict: Judgement.Verdict {
        switch self {
        case .yes: .well
        case .later(let sentence), .cut(let sentence): .notYet(sentence)
        case .no(let sentence): .unwell(sentence)
        }
    }
}
