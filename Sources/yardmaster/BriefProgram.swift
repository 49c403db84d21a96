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
        let started = ChildProgram.spawn(
            words,
            [
                (STDOUT_FILENO, .descriptor(ends[1])), (STDIN_FILENO, .nothing),
                (STDERR_FILENO, .nothing),
            ]
        )
        close(ends[1])
        guard case .success(let process) = started else { return .absent }
        let output = Self.read(ends[0], until: RealTime().now.advanced(by: limit))
        ChildProgram.end(process)
        return output.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .late
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
