import Glibc
import Reports

/// The two standard streams, as everything in the program writes to them.
struct Console: Sendable {
    let outlet: Outlet

    /// What was asked for, to standard output.
    func result(_ text: String) { outlet.write(text, to: STDOUT_FILENO) }

    /// Progress and warnings, to standard error: better lost than kept without end.
    func note(_ text: String) { outlet.write(text, to: STDERR_FILENO, mayDrop: true) }

    func write(_ outputs: [Output]) {
        for output in outputs {
            switch output.stream {
            case .out: result(output.text)
            case .err: note(output.text)
            }
        }
    }
}
