import Domain
import Modules

/// One line of the log; no secret is ever in it.
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
    /// Since 1970, by the air's clock.
    public let milliseconds: Int64
    public let text: String
    /// With its time and level.
    public let description: String

    init(_ entry: LogEntry) {
        level = Level(entry.level)
        milliseconds = entry.time.milliseconds
        text = entry.text
        description = entry.description
    }
}

extension ModuleRadio {
    /// The last 250 entries, the oldest first; no secret is in them.
    public var logEntries: [ModuleLogEntry] { log.entries.map { ModuleLogEntry($0) } }

    /// The same as text.
    public var logs: [String] { log.entries.map(\.description) }

    public func clearLogs() { log.clear() }

    /// Keeps and hands on entries of these levels alone, from now on.
    public func keepLogs(of levels: Set<ModuleLogEntry.Level>) {
        log.keep(Set(levels.map(\.level)))
    }

    /// Hands each new entry on as well, or none any more.
    ///
    /// The sink is called by anyone who logs, one call at a time or several: it is to be quick, and must not wait.
    public func log(to sink: (@Sendable (ModuleLogEntry) -> Void)?) {
        guard let sink else { return log.show(on: nil) }
        log.show { sink(ModuleLogEntry($0)) }
    }

    /// The same as text.
    public func logToConsole(_ console: (@Sendable (String) -> Void)?) {
        guard let console else { return log(to: nil) }
        log { console($0.description) }
    }
}
