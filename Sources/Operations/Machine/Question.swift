import Base
import CLinux
package import Commands
import Glibc

/// A question to the person at the terminal.
package enum Question {
    /// Whether there is a terminal to ask on.
    package static func isPossible(_ context: Context) -> Bool {
        isatty(STDIN_FILENO) == 1 && context.isWatched
    }

    /// Whether the answer is yes; a signal, and the end of the input, are no answer.
    package static func agrees(
        _ text: String,
        _ context: Context
    ) async throws(CommandError) -> Bool {
        let answer = try await answer("\(text) [y/N]", context)
        return ["y", "yes"].contains(answer?.lowercased())
    }

    /// The same for something that was proposed; throws where nobody can be asked.
    package static func demand(
        _ text: String,
        _ context: Context
    ) async throws(CommandError) -> Bool {
        guard isPossible(context) else {
            throw CommandError(
                .usage,
                "nothing was done: there is no terminal to ask on",
                hint: "--yes does it without a question"
            )
        }
        if try await agrees(text, context) { return true }
        context.console.note("yardmaster: nothing was done\n")
        return false
    }

    /// The line that is typed; nil when it is empty.
    package static func answer(
        _ text: String,
        _ context: Context
    ) async throws(CommandError) -> String? {
        context.console.note("\(text) ")
        let thread = try ThreadExecutor.working("question")
        defer { thread.stop() }
        let answer = await CheckRunner(executor: thread).wait { line() }
        return answer.isEmpty ? nil : answer
    }

    /// The largest line that is read: an invitation to a fleet has at most 16 KiB.
    private static let limit = 32_768

    /// A line of standard input.
    static func line() -> String {
        var bytes: [UInt8] = []
        while !Signals.isStopRequested {
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 250) != 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1, byte != 0x0A, bytes.count < Self.limit else {
                break
            }
            bytes.append(byte)
        }
        guard !Signals.isStopRequested else { return "" }
        let text = bytes.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 || $0 == 0x0D }.reversed()
        return String(decoding: Array(text), as: UTF8.self)
    }
}
