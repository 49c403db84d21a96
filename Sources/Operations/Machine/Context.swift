import CLinux
package import Commands
import Glibc
package import Show

/// The environment of a command, besides its options.
package struct Context: Sendable {
    package let console: Console
    /// What the command may change.
    package private(set) var reach = Reach.nothing
    /// Whether lines for people are as long as they are, whatever the width of the terminal.
    private var isWide = false

    package init(console: Console) {
        self.console = console
    }

    /// The environment of this command line.
    package func reaching(_ invocation: Invocation) throws(CommandError) -> Context {
        var context = self
        context.reach = try Reach(invocation, self)
        context.isWide = invocation[Command.wide]
        return context
    }

    /// A variable of the environment; nil when it is not set or not valid text.
    package func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(validatingCString: value)
    }

    /// The style of output on the standard streams.
    package func style(noColor: Bool) -> TerminalStyle {
        var style = TerminalStyle(
            environment: variable,
            outIsTerminal: isatty(STDOUT_FILENO) == 1,
            errIsTerminal: isWatched,
            noColor: noColor,
            columns: columns
        ).with(width: 0, height: Int(window_lines(STDERR_FILENO)))
        style.isWide = isWide
        return style
    }

    /// Whether standard error is a terminal.
    var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal on standard error, nil when there is none.
    package var columns: Int? {
        let columns = Int(window_columns(STDERR_FILENO))
        return columns > 0 ? columns : nil
    }

    /// Where a text for people is wrapped.
    package var textWidth: Int { isWide ? .max : columns ?? 80 }

    /// Its height, 0 when there is none.
    package var lines: Int { Int(window_lines(STDERR_FILENO)) }

    /// Writes a result for people to standard output; long lines go on below on a terminal.
    package func show(_ text: String) {
        let columns =
            isatty(STDOUT_FILENO) == 1 && !isWide ? Int(window_columns(STDOUT_FILENO)) : 0
        console.result(columns > 1 ? Columns.folded(text, columns - 1) : text)
    }
}
