import CLinux
import Commands
import Glibc
import Operations
import Reports

/// What a command is given of the world besides its options.
struct Context: Sendable {
    let console: Console

    /// A variable of the environment, nil when it is not set or no text.
    func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(validatingCString: value)
    }

    /// What may be done on the standard streams.
    func style(noColor: Bool) -> TerminalStyle {
        TerminalStyle(
            environment: variable,
            outIsTerminal: isatty(STDOUT_FILENO) == 1,
            errIsTerminal: isWatched,
            noColor: noColor,
            columns: columns
        ).with(width: 0, height: Int(window_lines(STDERR_FILENO)))
    }

    /// Whether somebody may look at standard error.
    var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal on standard error, nil when there is none.
    var columns: Int? {
        let columns = Int(window_columns(STDERR_FILENO))
        return columns > 0 ? columns : nil
    }

    /// Its height, 0 when there is none.
    var lines: Int { Int(window_lines(STDERR_FILENO)) }
}
