package import Base
import CPostgres
import Glibc

/// A session with a server, used on one thread.
package protocol FleetSession {
    var host: FleetAddress.Host { get }
    /// PostgreSQL's version as a number, 150020 for 15.20.
    var serverVersion: Int { get }
    var isEncrypted: Bool { get }

    /// Runs one statement; its values appear as `$1`, `$2`, with casts when they are not text.
    func rows(
        _ statement: FleetStatement,
        within time: Duration
    ) throws(FleetError) -> [DatabaseRow]

    /// Runs several statements without values, in one transaction unless they begin others.
    func run(_ statements: String, _ operation: String, within time: Duration) throws(FleetError)
}

/// One session with a server: opened, used and ended on one thread, which it may block until a
/// deadline.
///
/// It does not use libpq's own waits: none of them has a time limit.
package final class PostgresSession: FleetSession {
    private let handle: OpaquePointer
    private let now: @Sendable () -> Moment
    package let host: FleetAddress.Host
    /// The names of the statements that the server has prepared in this session, by their texts.
    private var prepared: [String: String] = [:]

    private init(
        _ handle: OpaquePointer,
        _ host: FleetAddress.Host,
        now: @escaping @Sendable () -> Moment
    ) {
        self.handle = handle
        self.host = host
        self.now = now
    }

    deinit { pq_finish(handle) }

    package var serverVersion: Int { Int(pq_server_version(handle)) }
    package var isEncrypted: Bool { pq_ssl_in_use(handle) == 1 }

    // MARK: Connecting

    /// Asks one server for a session that may write.
    package static func open(
        _ settings: FleetSettings,
        at host: FleetAddress.Host,
        now: @escaping @Sendable () -> Moment
    ) throws(FleetError) -> PostgresSession {
        if let problem = pq_load() {
            throw FleetError(.noLibrary, "load libpq", String(cString: problem))
        }
        var parameters = settings.parameters(for: host)
        if let password = settings.password {
            parameters.append(("password", password.withBytes(Self.line)))
        }
        let operation = "connect to \(host.text)"
        let handle = Self.withTexts(parameters.map(\.0) + [nil]) { keywords in
            Self.withTexts(parameters.map(\.1) + [nil]) { pq_connect_start(keywords, $0) }
        }
        guard let handle else { throw FleetError(.unreachable, operation, "no memory") }
        let session = PostgresSession(handle, host, now: now)
        try session.connect(
            by: now().advanced(by: settings.connectTime),
            operation,
            settings.connectTime
        )
        try session.mustBeDirect(operation, settings.statementTime)
        return session
    }

    /// A password file of the service manager may end with a line feed.
    private static func line(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, as: UTF8.self)
    }

    private func connect(
        by deadline: Moment,
        _ operation: String,
        _ time: Duration
    ) throws(FleetError) {
        var wanted = CInt(PQ_POLLING_WRITING)
        while pq_status(handle) != CInt(PQ_CONNECTION_BAD) {
            let events = wanted == CInt(PQ_POLLING_READING) ? POLLIN : POLLOUT
            // The descriptor differs after each address that was tried.
            guard wait(for: events, until: deadline) else {
                throw FleetError(.unreachable, operation, "no answer for \(time.brief)")
            }
            wanted = pq_connect_poll(handle)
            if wanted == CInt(PQ_POLLING_OK) {
                guard pq_prepare_session(handle) == 0 else { break }
                return
            }
            if wanted == CInt(PQ_POLLING_FAILED) { break }
        }
        let (code, said) = Self.told(words)
        let missing = pq_needs_password(handle) == 1 ? FleetError.refusedPassword : nil
        throw FleetError(session: operation, code: code ?? missing, said)
    }

    /// Refuses a pooler, between whose servers the settings of a session and its requests to cancel get lost.
    private func mustBeDirect(_ operation: String, _ time: Duration) throws(FleetError) {
        let asked = FleetStatement(operation, "SELECT pg_backend_pid()")
        guard try rows(asked, within: time).first?.integer(0) != Int64(pq_backend_pid(handle))
        else {
            return
        }
        let words = "another program answers for the server, and shares its sessions"
        throw FleetError(.denied, operation, code: FleetError.pooled, words)
    }

    /// The code in the words about a session that was not made, and the words without it.
    static func told(_ words: String) -> (code: String?, words: String) {
        var code: String?
        let lines = words.split(separator: "\n").filter { !$0.hasPrefix("LOCATION: ") }.map {
            line in
            guard let found = line.firstMatch(of: #/: +((?=[A-Z]*[0-9])[0-9A-Z]{5}): /#) else {
                return line
            }
            code = String(found.1)
            return line[..<found.range.lowerBound] + ": " + line[found.range.upperBound...]
        }
        return (code, lines.joined(separator: "\n"))
    }

    // MARK: Statements

    package func rows(
        _ statement: FleetStatement,
        within time: Duration
    ) throws(FleetError) -> [DatabaseRow] {
        let deadline = now().advanced(by: time)
        let operation = statement.operation
        let name = statement.isFrequent ? try name(of: statement, by: deadline, time) : nil
        let sent = Self.withTexts(statement.values) {
            let count = CInt(statement.values.count)
            guard let name else { return pq_send_params(handle, statement.text, count, $0) }
            return pq_send_prepared(handle, name, count, $0)
        }
        guard sent == 1 else { throw FleetError(.lost, operation, words) }
        return try results(of: operation, by: deadline, time)
    }

    /// The name of a statement that the server reads and plans once for the session.
    private func name(
        of statement: FleetStatement,
        by deadline: Moment,
        _ time: Duration
    ) throws(FleetError) -> String {
        if let known = prepared[statement.text] { return known }
        let name = "s\(prepared.count)"
        guard pq_send_prepare(handle, name, statement.text) == 1 else {
            throw FleetError(.lost, statement.operation, words)
        }
        _ = try results(of: statement.operation, by: deadline, time)
        prepared[statement.text] = name
        return name
    }

    package func run(
        _ statements: String,
        _ operation: String,
        within time: Duration
    ) throws(FleetError) {
        let deadline = now().advanced(by: time)
        guard pq_send(handle, statements) == 1 else { throw FleetError(.lost, operation, words) }
        _ = try results(of: operation, by: deadline, time)
    }

    private func results(
        of operation: String,
        by deadline: Moment,
        _ time: Duration
    ) throws(FleetError) -> [DatabaseRow] {
        let silence = FleetError(.lost, operation, "no answer for \(time.brief)")
        while true {
            let left = pq_flush(handle)
            if left == 0 { break }
            guard left == 1 else { throw FleetError(.lost, operation, words) }
            guard wait(for: POLLIN | POLLOUT, until: deadline) else { throw silence }
            guard pq_consume(handle) == 1 else { throw FleetError(.lost, operation, words) }
        }
        var rows: [DatabaseRow] = []
        // The first error is the one that matters: after the end of a session a second one follows,
        // without a code.
        var failure: FleetError?
        while true {
            while pq_is_busy(handle) == 1 {
                guard wait(for: POLLIN, until: deadline) else {
                    // The server does not notice our end while it waits for a lock or for a
                    // standby, and would keep the session. Whatever it has said before: with the
                    // statement not over, the session is of no use.
                    pq_cancel(handle)
                    throw silence
                }
                guard pq_consume(handle) == 1 else {
                    throw failure ?? FleetError(.lost, operation, words)
                }
            }
            guard let result = pq_result(handle) else { break }
            defer { pq_clear(result) }
            switch pq_result_status(result) {
            case CInt(PQ_COMMAND_OK): break
            case CInt(PQ_TUPLES_OK): rows = Self.rows(of: result)
            default:
                let code = pq_result_code(result).map { String(cString: $0) }
                var said = pq_result_words(result).map { String(cString: $0) } ?? words
                if let detail = pq_result_detail(result) { said += "; " + String(cString: detail) }
                failure = failure ?? FleetError(operation, code: code, said)
            }
        }
        if let failure { throw failure }
        guard pq_status(handle) == CInt(PQ_CONNECTION_OK) else {
            throw FleetError(.lost, operation, words)
        }
        return rows
    }

    private static func rows(of result: OpaquePointer) -> [DatabaseRow] {
        let columns = pq_columns(result)
        return (0..<pq_rows(result)).map { row in
            DatabaseRow((0..<columns).map { pq_value(result, row, $0).map { String(cString: $0) } })
        }
    }

    private var words: String {
        let text = pq_error(handle).map { String(cString: $0) } ?? ""
        return text.isEmpty ? "the session has ended" : text
    }

    /// False when the deadline passed first.
    private func wait(for events: CInt, until deadline: Moment) -> Bool {
        while true {
            var entry = pollfd(fd: pq_socket(handle), events: Int16(events), revents: 0)
            let left = now().duration(to: deadline).nanoseconds
            guard left > 0 else { return false }
            let count = poll(&entry, 1, CInt(clamping: left / 1_000_000 + 1))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return true }
        }
    }

    /// Passes texts as C strings, which are valid for the time of the call.
    private static func withTexts<R>(
        _ texts: [String?],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
        let copies = texts.map { $0.flatMap { strdup($0) } }
        defer { for copy in copies { free(copy) } }
        return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}

/// One statement with its values, and the operation's name for error messages.
package struct FleetStatement: Sendable {
    package let operation: String
    package let text: String
    package let values: [String?]
    /// Whether the server plans it once for each session.
    ///
    /// That is for what gateways send again and again and what reads single rows by key: a kept plan does not see how a
    /// rollout's vehicles grow.
    let isFrequent: Bool

    package init(
        _ operation: String,
        _ text: String,
        _ values: [String?] = [],
        isFrequent: Bool = false
    ) {
        (self.operation, self.text, self.values) = (operation, text, values)
        self.isFrequent = isFrequent
    }
}

/// One row of an answer, its values as text.
package struct DatabaseRow: Sendable, Equatable {
    private let values: [String?]

    package init(_ values: [String?]) { self.values = values }

    /// Nil for null, and for a column that does not exist.
    package func text(_ column: Int) -> String? {
        values.indices.contains(column) ? values[column] : nil
    }

    /// The columns from this one on.
    func from(_ column: Int) -> DatabaseRow { DatabaseRow(Array(values.dropFirst(column))) }

    package func integer(_ column: Int) -> Int64? { text(column).flatMap { Int64($0) } }
    package func isTrue(_ column: Int) -> Bool { text(column) == "t" }
}
