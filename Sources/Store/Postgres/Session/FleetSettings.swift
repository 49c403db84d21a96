package import Base

/// How the fleet's database is reached: libpq's parameters, and how long to wait.
package struct FleetSettings: Sendable {
    package let address: FleetAddress
    /// From a credential; nil when libpq finds it in a password file, or none is needed.
    package let password: Secret?
    /// The name in the server's list of sessions, such as `yardmaster/north-1`.
    package let name: String
    /// How long one server may take to accept a session.
    package let connectTime: Duration
    package static let usualConnectTime = Duration.seconds(4)
    /// How long to wait here for one statement; the server itself ends it a little earlier.
    package let statementTime: Duration

    /// Debian's trusted certificates; libpq alone would only look into the user's home.
    package static let usualRoots = "/etc/ssl/certs/ca-certificates.crt"

    package init(
        _ address: FleetAddress,
        password: Secret? = nil,
        name: String,
        connectTime: Duration = usualConnectTime,
        statementTime: Duration = .seconds(8)
    ) {
        self.address = address
        self.password = password
        self.name = name
        self.connectTime = connectTime
        self.statementTime = statementTime
    }

    /// The parameters of libpq for one of the hosts, in a fixed order.
    ///
    /// They include everything that its environment variables could weaken.
    package func parameters(for host: FleetAddress.Host) -> [(String, String)] {
        var list: [(String, String)] = [
            ("host", host.name),
            ("port", "\(host.port)"),
            ("dbname", address.database),
        ]
        if let user = address.user { list.append(("user", user)) }
        if host.isLocal {
            // No data leaves the machine, and its certificate can rarely be verified.
            list += [("sslmode", "prefer"), ("channel_binding", "prefer")]
        } else {
            list.append(("sslmode", "verify-full"))
            list.append(("ssl_min_protocol_version", "TLSv1.2"))
            if address.files[.sslrootcert] == nil {
                list.append(("sslrootcert", Self.usualRoots))
            }
            // A password must not go to a server that cannot prove that it knows it; a client with
            // its own certificate needs none.
            list.append(
                ("channel_binding", address.files[.sslcert] == nil ? "require" : "prefer")
            )
        }
        for file in FleetAddress.File.allCases {
            if let path = address.files[file] { list.append((file.rawValue, path)) }
        }
        list += [
            ("gssencmode", "disable"),
            ("target_session_attrs", "read-write"),
            ("client_encoding", "UTF8"),
            ("application_name", name),
            ("keepalives", "1"),
            ("keepalives_idle", "5"),
            ("keepalives_interval", "2"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "8000"),
            ("options", options),
        ]
        return list
    }

    /// The session's own settings.
    private var options: String {
        let limit = max(1, statementTime.nanoseconds / 1_000_000 * 5 / 8)
        return [
            "statement_timeout=\(limit)",
            "lock_timeout=\(max(1, limit * 2 / 5))",
            "idle_in_transaction_session_timeout=\(2 * limit)",
            "timezone=UTC",
            "search_path=yardmaster,pg_temp",
            // Each look is another statement: compiling it takes longer than it.
            "jit=off",
            "synchronous_commit=on",
            "default_transaction_isolation=read\\ committed",
        ].map { "-c \($0)" }.joined(separator: " ")
    }
}
