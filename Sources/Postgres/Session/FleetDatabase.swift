package import Domain

/// The fleet's database, behind a thread of its own: nothing of it runs where the radio does.
///
/// The session is made when something is asked, and again after it was lost. Each call ends within its
/// time, whatever the network does.
package actor FleetDatabase {
    private let executor: any SerialExecutor
    package nonisolated let settings: FleetSettings
    private let open: Opening
    private var session: (any FleetSession)?
    /// Which of the hosts is asked first: the last one that answered.
    private var first = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a session with one of the hosts.
    package typealias Opening =
        @Sendable (FleetSettings, FleetAddress.Host) throws(FleetError) -> any FleetSession

    /// Reaches no server yet.
    ///
    /// `now` is the machine's clock that goes on while it sleeps. The executor has a thread that may be
    /// blocked; anyone who starts it stops it.
    package init(
        _ settings: FleetSettings,
        on executor: any SerialExecutor,
        now: @escaping @Sendable () -> Moment
    ) {
        self.init(settings, on: executor) { (settings, host) throws(FleetError) in
            try PostgresSession.open(settings, at: host, now: now)
        }
    }

    /// The same by sessions of another kind.
    package init(
        _ settings: FleetSettings,
        on executor: any SerialExecutor,
        opening open: @escaping Opening
    ) {
        self.settings = settings
        self.executor = executor
        self.open = open
    }

    /// One statement, in a transaction of its own.
    ///
    /// One that collided with another is tried again twice, for it did nothing.
    package func rows(_ statement: FleetStatement) throws(FleetError) -> [DatabaseRow] {
        var left = 2
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

    /// Several statements without values, all or none of them.
    package func run(_ statements: String, _ operation: String) throws(FleetError) {
        let session = try connected()
        do throws(FleetError) {
            try session.run(statements, operation, within: settings.statementTime)
        } catch {
            dropSession(after: error)
            throw error
        }
    }

    /// Part of a statement whose transaction does not wait for the disk, or for a standby, when it commits.
    ///
    /// The row of a rollout is locked by all of its gateways. While the one that has it waited for the disk, all
    /// others waited for it: one claim or verdict for each write of the disk. Anyone who uses the answer
    /// calls `sync` first.
    static let unsynced = "set_config('synchronous_commit', 'off', true)"

    /// Waits until all that was committed before is on disk, and on a standby where the server asks for that.
    ///
    /// Writes a message into the log, which nothing reads, for a transaction that wrote nothing waits for nothing. Many
    /// gateways share one write of the disk.
    func sync() throws(FleetError) {
        _ = try rows(
            FleetStatement(
                "wait for the disk",
                "SELECT pg_logical_emit_message(true, 'yardmaster', '')"
            )
        )
    }

    /// What answers now, for people and checks.
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
        throw FleetError(
            only.kind,
            "connect to one of \(failures.count) servers",
            failures.map(\.description).joined(separator: "\n")
        )
    }

    /// A session in which something is under way, or that is in a broken transaction, is of no use.
    private func dropSession(after error: FleetError) {
        switch error.kind {
        case .lost, .unreachable, .noLibrary: session = nil
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
