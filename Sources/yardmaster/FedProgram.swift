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
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let begun = ChildProgram.begin(
            words,
            [
                (STDIN_FILENO, .descriptor(ends[0])), (STDOUT_FILENO, .nothing),
                (STDERR_FILENO, .nothing),
            ],
            environment: ChildProgram.plainEnvironment
        )
        close(ends[0])
        let deadline = RealTime().now.advanced(by: limit)
        if case .success = begun { Self.feed(Array(input.utf8), to: ends[1], until: deadline) }
        close(ends[1])
        let child: ChildProgram
        switch begun {
        case .success(let running): child = running
        case .failure(.noPipe(let code)): return .cut(Descriptor.text(of: code))
        case .failure(.notStarted(let code)):
            return .absent("\(program): \(Descriptor.text(of: code))")
        }
        return switch child.end(before: deadline) {
        case .code(let code): .ended(code)
        case .signal(let number): .cut("\(program) was ended by signal \(number)")
        case .late, .cut: .cut("\(program) took longer than \(limit.brief)")
        }
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
}
