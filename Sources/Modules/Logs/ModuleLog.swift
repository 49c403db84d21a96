package import Domain
import Synchronization

/// The last things that happened, for anyone who asks afterwards.
package final class ModuleLog: Sendable {
    /// As many as the log keeps.
    package static let capacity = 250

    private struct State {
        /// A ring: `start` is the oldest once it is full.
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

    /// The oldest first.
    package var entries: [LogEntry] {
        state.withLock { Array($0.entries[$0.start...] + $0.entries[..<$0.start]) }
    }

    package func clear() {
        state.withLock {
            $0.entries = []
            $0.start = 0
        }
    }

    /// Which levels are kept and shown.
    package func keep(_ levels: Set<LogLevel>) { state.withLock { $0.levels = levels } }

    /// Shows each new entry as well, or none any more.
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
        // Outside the lock: a console that logs must not wait for itself.
        if let entry { console?(entry) }
    }
}
