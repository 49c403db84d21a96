import Base
import Glibc

/// The operator's program that issues a token: its output is the token.
struct TokenProgram {
    enum Output {
        case token([UInt8])
        /// The sentence contains no part of its output.
        case none(String)
    }

    private let words: [String]
    private let variables: [String]

    /// `variables` are in its environment, in addition to those that every program needs.
    init(_ words: [String], with variables: [String]) {
        self.words = words
        self.variables = variables
    }

    /// Runs it without a shell and blocks until it has ended.
    func run(
        within limit: Duration,
        most: Int,
        unless isOver: () -> Bool = { false }
    ) -> Output {
        guard let program = words.first else { return .none("no program is named") }
        let ends: (out: CInt, into: CInt)
        switch ChildProgram.pipe() {
        case .success(let made): ends = made
        case .failure(let fault): return .none("no pipe: \(fault.cause)")
        }
        defer { close(ends.out) }
        // Its error output is discarded: it could contain the token, or the credentials for it.
        let begun = ChildProgram.begin(
            words,
            [
                (STDIN_FILENO, .nothing), (STDOUT_FILENO, .descriptor(ends.into)),
                (STDERR_FILENO, .nothing),
            ],
            environment: ChildProgram.plainEnvironment + variables
        )
        close(ends.into)
        let deadline = RealTime().now.advanced(by: limit)
        let child: ChildProgram
        switch begun {
        case .success(let running): child = running
        case .failure(let fault): return .none("cannot run \(program): \(fault.cause)")
        }
        let bytes = ChildProgram.read(ends.out, most: most, until: deadline, unless: isOver)
        let late = "\(program) took longer than \(limit.brief)"
        let cut = "\(program) was ended because the run ends"
        switch child.end(before: deadline, unless: isOver) {
        case .late: return .none(late)
        case .cut: return .none(cut)
        case .signal(let number): return .none("\(program) was ended by signal \(number)")
        case .code(0):
            // A program that it started and left running may keep its output open.
            guard let bytes else { return .none(isOver() ? cut : late) }
            return bytes.count > most
                ? .none("\(program) printed more bytes than a token has") : .token(bytes)
        case .code(let code): return .none("\(program) ended with \(code)")
        }
    }
}
