import Base
import Glibc

/// A program that must print a line within a short time.
package struct BriefProgram {
    package enum Output: Equatable {
        case text(String)
        /// It cannot be run.
        case absent
        /// It was ended, because it took too long.
        case late
    }

    private let words: [String]

    package init(_ words: [String]) { self.words = words }

    /// Its output, up to 4 KiB.
    package func output(within limit: Duration) -> Output {
        guard case .success(let ends) = ChildProgram.pipe() else { return .absent }
        defer { close(ends.out) }
        let started = ChildProgram.spawn(
            words,
            [
                (STDOUT_FILENO, .descriptor(ends.into)), (STDIN_FILENO, .nothing),
                (STDERR_FILENO, .nothing),
            ],
            environment: ChildProgram.plainEnvironment
        )
        close(ends.into)
        guard case .success(let process) = started else { return .absent }
        let output = ChildProgram.read(
            ends.out,
            most: 4_096,
            until: RealTime().now.advanced(by: limit)
        )
        ChildProgram.end(process)
        return output.map { .text(String(decoding: $0.prefix(4_096), as: UTF8.self)) } ?? .late
    }
}
