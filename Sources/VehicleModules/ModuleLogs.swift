import Base
import Radio

/// One line of the log; it never contains a secret.
public struct ModuleLogEntry: Sendable, Hashable, CustomStringConvertible {
    public enum Level: String, Sendable, Hashable, CaseIterable {
        case error, warning, info

        init(_ level: LogLevel) {
            switch level {
            case .error: self = .error
            case .warning: self = .warning
            case .info: self = .info
            }
        }

        var level: LogLevel {
            switch self {
            case .error: .error
            case .warning: .warning
            case .info: .info
            }
        }
    }

    public let level: Level
    /// Milliseconds since 1970, by the clock of the air.
    public let milliseconds: Int64
    public let text: String
    /// The entry with its time and level.
    public let description: String

    init(_ entry: LogEntry) {
        level = Level(entry.level)
        milliseconds = entry.time.milliseconds
        text = entry.text
        description = entry.description
    }
}

extension ModuleRadio {
    /// The last 250 entries, oldest first; they contain no secrets.
    public var logEntries: [ModuleLogEntry] { log.entries.map { ModuleLogEntry($0) } }

    /// The log entries as text.
    public var logs: [String] { log.entries.map(\.description) }

    public func clearLogs() { log.clear() }

    /// Keeps and passes on only entries of these levels from now on.
    public func keepLogs(of levels: Set<ModuleLogEntry.Level>) {
        log.keep(Set(levels.map(\.level)))
    }

    /// Also passes each new entry to `sink`; nil ends that.
    ///
    /// The sink is called by every task that logs, sometimes by several at the same time: it must
    /// be fast and must not block.
    public func log(to sink: (@Sendable (ModuleLogEntry) -> Void)?) {
        guard let sink else { return log.show(on: nil) }
        log.show { sink(ModuleLogEntry($0)) }
    }

    /// Also passes the text of each new entry to `console`; nil ends that.
    public func logToConsole(_ console: (@Sendable (String) -> Void)?) {
        guard let console else { return log(to: nil) }
        log { console($0.description) }
    }
}
