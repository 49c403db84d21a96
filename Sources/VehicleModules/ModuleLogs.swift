import Base

/// One line of the log; it never contains a secret.
public struct ModuleLogEntry: Sendable, Hashable, CustomStringConvertible {
    /// How much an entry matters.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Something failed; something may fail; something was done.
        case error, warning, info
    }

    /// How much the entry matters.
    public let level: Level
    /// Milliseconds since 1970, by the clock of the air.
    public let milliseconds: Int64
    /// What happened.
    public let text: String
    /// The entry with its time and level.
    public let description: String

    init(_ level: Level, at time: WallTime, _ text: String) {
        self.level = level
        milliseconds = time.milliseconds
        self.text = text
        description = "\(time) \(level.rawValue): \(text)"
    }
}

extension ModuleRadio {
    /// The last 250 entries, oldest first; they contain no secrets.
    public var logEntries: [ModuleLogEntry] { log.entries }

    /// The log entries as text.
    public var logs: [String] { log.entries.map(\.description) }

    /// Forgets the entries of the log.
    public func clearLogs() { log.clear() }

    /// Keeps and passes on only entries of these levels from now on.
    public func keepLogs(of levels: Set<ModuleLogEntry.Level>) {
        log.keep(levels)
    }

    /// Passes each new entry to `sink`, in place of any earlier sink or console; nil ends that.
    ///
    /// The sink is called by every task that logs, sometimes by several at the same time: it must
    /// be fast and must not block.
    public func log(to sink: (@Sendable (ModuleLogEntry) -> Void)?) {
        log.show(on: sink)
    }

    /// Passes the text of each new entry to `console`, which prints it, in place of any other sink.
    public func logToConsole(_ console: (@Sendable (String) -> Void)?) {
        guard let console else { return log(to: nil) }
        log { console($0.description) }
    }
}
