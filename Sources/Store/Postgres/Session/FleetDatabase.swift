package import Base

/// The fleet's database, behind a thread of its own: none of its work runs on the radio's thread.
///
/// The session is made at the first request, and again after it was lost. Each call ends within its
/// time, whatever the network does.
package actor FleetDatabase {
    private let executor: any SerialExecutor
    package nonisolated let settings: FleetSettings
    private let open: Opening
    private var session: (any FleetSession)?
    private var isInTransaction = false
    /// The index of the host that is tried first: the last one that answered.
    private var first = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a session with one of the hosts.
    package typealias Opening =
        @Sendable (FleetSettings, FleetAddress.Host) throws(FleetError) -> any FleetSession

    /// Connects to no server yet.
    ///
    /// `now` is the machine's clock that continues while it sleeps. The executor has a thread that
    /// may be blocked; its creator stops it.
    package init(
        _ settings: FleetSettings,
        on executor: any SerialExecutor,
        now: @escaping @Sendable () -> Moment
    ) {
        self.init(settings, on: executor) { (settings, host) throws(FleetError) in
            try PostgresSession.open(settings, at: host, now: now)
        }
    }

    /// The same with sessions of another kind.
    package init(
        _ settings: FleetSettings,
        on executor: any SerialExecutor,
        opening open: @escaping Opening
    ) {
        self.settings = settings
        self.executor = executor
        self.open = open
    }

    /// How often something that collided, and so did nothing, is tried again.
    private static let retries = 2

    /// One statement, with the operation's name for error messages and its values.
    package func rows(
        _ operation: String,
        _ text: String,
        _ values: [String?] = [],
        isFrequent: Bool = false
    ) throws(FleetError) -> [DatabaseRow] {
        try rows(FleetStatement(operation, text, values, isFrequent: isFrequent))
    }

    /// One statement: in a transaction of its own, or in that of `transaction`.
    package func rows(_ statement: FleetStatement) throws(FleetError) -> [DatabaseRow] {
        var left = isInTransaction ? 0 : Self.retries
        while true {
            let session = try connected()
            do throws(FleetError) {
                return try session.rows(statement, within: settings.statementTime)
            } catch {
                dropSession(after: error)
                guard error.kind == .collided, left > 0 else { throw error }
                left -= 1
            }
        }
    }

    /// Several statements without values, all or none of them, `within` more than the usual time.
    package func run(
        _ statements: String,
        _ operation: String,
        within time: Duration? = nil
    ) throws(FleetError) {
        let session = try connected()
        do throws(FleetError) {
            try session.run(statements, operation, within: time ?? settings.statementTime)
        } catch {
            dropSession(after: error)
            throw error
        }
    }

    /// Several statements, all or none of them.
    func transaction<R>(
        _ operation: String,
        _ begin: String = "BEGIN",
        _ body: () throws(FleetError) -> R
    ) throws(FleetError) -> R {
        var left = Self.retries
        while true {
            do throws(FleetError) {
                try run(begin, operation)
                isInTransaction = true
                defer { isInTransaction = false }
                let result = try body()
                try run("COMMIT", operation)
                return result
            } catch {
                // The server drops what a closed session has begun.
                close()
                guard error.kind == .collided, left > 0 else { throw error }
                left -= 1
            }
        }
    }

    /// Part of a statement whose transaction does not wait for the disk or for a standby when it
    /// commits.
    ///
    /// All gateways of a rollout lock its row. If the gateway with the lock waited for the disk,
    /// all others would wait for it too: only one claim or verdict per write of the disk. A caller
    /// that uses the answer calls `sync` first.
    static let unsynced = "set_config('synchronous_commit', 'off', true)"

    /// Waits until all earlier commits are on disk, and on a standby if the server requires that.
    ///
    /// It writes a message into the log, which nothing reads, because a transaction that wrote
    /// nothing waits for nothing. Many gateways share one write of the disk.
    func sync() throws(FleetError) {
        _ = try rows(
            "wait for the disk",
            "SELECT pg_logical_emit_message(true, 'yardmaster', '')"
        )
    }

    /// The server that answers now, for people and checks.
    package func server() throws(FleetError) -> FleetServer {
        let session = try connected()
        return FleetServer(
            host: session.host,
            version: session.serverVersion,
            isEncrypted: session.isEncrypted
        )
    }

    package func close() { session = nil }

    private func connected() throws(FleetError) -> any FleetSession {
        if let session { return session }
        var failures: [FleetError] = []
        let hosts = settings.address.hosts
        for turn in hosts.indices {
            let index = (first + turn) % hosts.count
            do throws(FleetError) {
                let session = try open(settings, hosts[index])
                self.session = session
                first = index
                return session
            } catch {
                if error.kind == .noLibrary { throw error }
                failures.append(error)
            }
        }
        guard let only = failures.first, failures.count > 1 else {
            throw failures.first ?? FleetError(.unreachable, "connect", "there is no host")
        }
        let denied = failures.first { $0.kind == .denied }
        throw FleetError(
            denied?.kind ?? only.kind,
            "connect to one of \(failures.count) servers",
            code: denied?.code,
            failures.map(\.description).joined(separator: "\n")
        )
    }

    /// Drops a session that is lost: a pending statement or a broken transaction makes it useless.
    private func dropSession(after error: FleetError) {
        switch error.kind {
        case .lost, .unreachable, .denied, .noLibrary: session = nil
        case .collided, .busy, .forbidden, .noSchema, .refused: break
        }
    }
}

/// The server that answers.
package struct FleetServer: Sendable, Equatable {
    package let host: FleetAddress.Host
    /// 150020 for 15.20.
    package let version: Int
    package let isEncrypted: Bool

    package init(host: FleetAddress.Host, version: Int, isEncrypted: Bool) {
        self.host = host
        self.version = version
        self.isEncrypted = isEncrypted
    }

    package var versionText: String { "\(version / 10_000).\(version % 10_000)" }
}
