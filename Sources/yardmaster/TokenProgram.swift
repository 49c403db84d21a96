import Domain
import Glibc

/// A program of the operator's that hands out a token: what it prints is the token.
struct TokenProgram {
    enum Output {
        case token([UInt8])
        /// Nothing that it printed is in the sentence.
        case none(String)
    }

    let words: [String]
    /// What it finds in its environment, beside what it needs to run at all.
    let variables: [String]

    /// Runs it without a shell and blocks until it has ended.
    func run(
        within limit: Duration,
        most: Int,
        unless isOver: () -> Bool = { false }
    ) -> Output {
        guard let program = words.first else { return .none("no program is named") }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return .none("no pipe: \(Descriptor.text(of: errno))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        // What it says besides goes nowhere: it might be the token, or what it was had with.
        let begun = ChildProgram.begin(
            words,
            [
                (STDIN_FILENO, .nothing), (STDOUT_FILENO, .descriptor(ends[1])),
                (STDERR_FILENO, .nothing),
            ],
            environment: ChildProgram.plainEnvironment + variables
        )
        close(ends[1])
        let deadline = RealTime().now.advanced(by: limit)
        let child: ChildProgram
        switch begun {
        case .success(let running): child = running
        case .failure(.noPipe(let code)): return .none("no pipe: \(Descriptor.text(of: code))")
        case .failure(.notStarted(let code)):
            return .none("cannot run \(program): \(Descriptor.text(of: code))")
        }
        let bytes = Self.read(ends[0], most: most, until: deadline, unless: isOver)
        switch child.end(before: deadline, unless: isOver) {
        case .late: return .none("\(program) took longer than \(limit.brief)")
        case .cut: return .none("\(program) was ended because the run ends")
        case .signal(let number): return .none("\(program) was ended by signal \(number)")
        case .code(0):
            return bytes.count > most
                ? .none("\(program) printed more than any token has") : .token(bytes)
        case .code(let code): return .none("\(program) ended with \(code)")
        }
    }

    /// All that there is to its end, or one byte more than is wanted.
    private static func read(
        _ descriptor: CInt,
        most: Int,
        until deadline: Moment,
        unless isOver: () -> Bool
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= most, !isOver() {
            let left = min(.milliseconds(250), RealTime().now.duration(to: deadline))
            guard left > .zero else { return bytes }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, CInt(clamping: (left.nanoseconds + 999_999) / 1_000_000))
            if ready < 0, errno != EINTR { return bytes }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<min(count, most + 1 - bytes.count)]
        }
        return bytes
    }
}
