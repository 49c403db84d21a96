package import Base
import Synchronization

/// Keeps the newest log entries.
package final class ModuleLog: Sendable {
    /// The most entries that the log keeps.
    package static let capacity = 250

    private struct State {
        /// A ring buffer: once it is full, `start` is the index of the oldest entry.
        var entries: [LogEntry] = []
        var start = 0
        var levels = Set(LogLevel.allCases)
        var console: (@Sendable (LogEntry) -> Void)?
    }

    private let time: any Timekeeper
    private let state: Mutex<State>

    package init(
        time: any Timekeeper,
        levels: Set<LogLevel> = Set(LogLevel.allCases),
        console: (@Sendable (LogEntry) -> Void)? = nil
    ) {
        self.time = time
        state = Mutex(State(levels: levels, console: console))
    }

    /// All entries, oldest first.
    package var entries: [LogEntry] {
        state.withLock { Array($0.entries[$0.start...] + $0.entries[..<$0.start]) }
    }

    package func clear() {
        state.withLock {
            $0.entries = []
            $0.start = 0
        }
    }

    /// Sets which levels are kept and shown.
    package func keep(_ levels: Set<LogLevel>) { state.withLock { $0.levels = levels } }

    /// Also passes each new entry to `console`; nil ends that.
    package func show(on console: (@Sendable (LogEntry) -> Void)?) {
        state.withLock { $0.console = console }
    }

    package func error(_ message: LogMessage) { add(.error, message) }
    package func warning(_ message: LogMessage) { add(.warning, message) }
    package func info(_ message: LogMessage) { add(.info, message) }

    private func add(_ level: LogLevel, _ message: LogMessage) {
        let now = time.wallTime
        let (entry, console): (LogEntry?, (@Sendable (LogEntry) -> Void)?) = state.withLock {
            state in
            guard state.levels.contains(level) else { return (nil, nil) }
            let entry = LogEntry(level: level, time: now, text: message.description)
            if state.entries.count < Self.capacity {
                state.entries.append(entry)
            } else {
                state.entries[state.start] = entry
                state.start = (state.start + 1) % Self.capacity
            }
            return (entry, state.console)
        }
        // Called without the lock, so that a console that logs does not wait for itself.
        if let entry { console?(entry) }
    }
}
