import Base
import Glibc

/// A program that gets a text on its standard input and must end within a short time.
package struct FedProgram {
    package enum Result: Equatable {
        case ended(Int)
        /// By a signal, or because it took too long.
        case cut(String)
        /// It cannot be run.
        case absent(String)
    }

    let words: [String]

    init(_ words: [String]) { self.words = words }

    /// Runs it without a shell and blocks until it has ended; its output is discarded.
    package func run(_ input: String, within limit: Duration) -> Result {
        guard let program = words.first else { return .absent("no program is named") }
        let ends: (out: CInt, into: CInt)
        switch ChildProgram.pipe() {
        case .success(let made): ends = made
        case .failure(let fault): return .cut(fault.cause)
        }
        let begun = ChildProgram.begin(
            words,
            [
                (STDIN_FILENO, .descriptor(ends.out)), (STDOUT_FILENO, .nothing),
                (STDERR_FILENO, .nothing),
            ],
            environment: ChildProgram.plainEnvironment
        )
        close(ends.out)
        let deadline = RealTime().now.advanced(by: limit)
        if case .success = begun {
            ChildProgram.feed(Array(input.utf8), to: ends.into, until: deadline)
        }
        close(ends.into)
        let child: ChildProgram
        switch begun {
        case .success(let running): child = running
        case .failure(let fault): return .absent("\(program): \(fault.cause)")
        }
        return switch child.end(before: deadline) {
        case .code(let code): .ended(code)
        case .signal(let number): .cut("\(program) was ended by signal \(number)")
        case .late, .cut: .cut("\(program) took longer than \(limit.brief)")
        }
    }
}
