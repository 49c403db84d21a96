import Base
import Radio
import Synchronization

/// Keeps the newest log entries.
final class ModuleLog: Sendable {
    /// The most entries that the log keeps.
    static let capacity = 250

    private struct State {
        /// A ring buffer: once it is full, `start` is the index of the oldest entry.
        var entries: [ModuleLogEntry] = []
        var start = 0
        var levels = Set(ModuleLogEntry.Level.allCases)
        var console: (@Sendable (ModuleLogEntry) -> Void)?
    }

    private let time: any Timekeeper
    private let state: Mutex<State>

    init(
        time: any Timekeeper,
        levels: Set<ModuleLogEntry.Level> = Set(ModuleLogEntry.Level.allCases),
        console: (@Sendable (ModuleLogEntry) -> Void)? = nil
    ) {
        self.time = time
        state = Mutex(State(levels: levels, console: console))
    }

    /// All entries, oldest first.
    var entries: [ModuleLogEntry] {
        state.withLock { Array($0.entries[$0.start...] + $0.entries[..<$0.start]) }
    }

    func clear() {
        state.withLock {
            $0.entries = []
            $0.start = 0
        }
    }

    /// Sets which levels are kept and shown.
    func keep(_ levels: Set<ModuleLogEntry.Level>) { state.withLock { $0.levels = levels } }

    /// Also passes each new entry to `console`; nil ends that.
    func show(on console: (@Sendable (ModuleLogEntry) -> Void)?) {
        state.withLock { $0.console = console }
    }

    func error(_ message: LogMessage) { add(.error, message) }
    func warning(_ message: LogMessage) { add(.warning, message) }
    func info(_ message: LogMessage) { add(.info, message) }

    private func add(_ level: ModuleLogEntry.Level, _ message: LogMessage) {
        let now = time.wallTime
        let (entry, console): (ModuleLogEntry?, (@Sendable (ModuleLogEntry) -> Void)?) =
            state.withLock {
                state in
                guard state.levels.contains(level) else { return (nil, nil) }
                let entry = ModuleLogEntry(level, at: now, message.description)
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
