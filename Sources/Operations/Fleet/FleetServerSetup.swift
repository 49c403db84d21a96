import Base
package import Commands
import Glibc
package import Store

/// The PostgreSQL of this machine, which is prepared for a fleet: owner, database, certificate, access and address.
///
/// Each step looks first what is there, so that it can be repeated.
package struct FleetServerSetup {
    private static let authority = "yardmaster-ca"
    private static let key = "yardmaster.key"

    private let access: FleetAccess
    private let context: Context
    private let names: [FleetAddress.Host]

    /// Nil when only the tables of an address are asked for.
    package init?(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        let given = invocation[Command.serverNames]
        guard given != nil || invocation[Command.fleetAddress] == nil else { return nil }
        access = try FleetAccess.ofServer(invocation, context)
        guard access.address.hosts[0].isSocket else {
            throw CommandError(
                .usage,
                "a server is set up on its own machine, and \(access.address.text.visible) is elsewhere",
                hint: "there: sudo yardmaster fleet create --host NAME"
            )
        }
        names = try Self.names(given ?? NoticeSender.host)
        self.context = context
    }

    /// The names by which gateways reach a server.
    package static func names(_ text: String) throws(CommandError) -> [FleetAddress.Host] {
        guard text.contains(/^[A-Za-z0-9.,:\[\]-]+$/), !text.contains("localhost"),
            let hosts = try? FleetAddress("postgresql://\(text)/any").hosts
        else {
            throw CommandError(
                .usage,
                "gateways cannot reach a server by the name '\(text.visible)'",
                hint: "name it with --host db.example, or by its address in the network"
            )
        }
        return hosts
    }

    /// What it does, for an administrator who does it by hand, up to the tables.
    package static func statements(_ names: String) -> String {
        """
        -- 1. In postgresql.conf: listen_addresses = '*', ssl = on, and a certificate for \(names).
        -- 2. In pg_hba.conf, before all other lines:
        --    \(AccessRules.rule(for: "yardmaster"))
        -- 3. With psql, as a superuser:
        CREATE ROLE yardmaster_owner NOLOGIN;
        CREATE DATABASE yardmaster OWNER yardmaster_owner;
        ALTER DATABASE yardmaster SET yardmaster.hosts = '\(names)';
        \\connect yardmaster

        """
    }

    /// Makes the owner and the database; returns the server's settings from before.
    package func makeDatabase() async throws(CommandError) -> FleetServerSettings {
        let name = access.address.database
        return try await administering { fleet throws(FleetError) in
            let settings = try await fleet.serverSettings(name)
            try await fleet.make(name, settings)
            return settings
        }
    }

    /// Lets the fleet's members in from other machines; returns what was done, and what is to be done.
    package func open(_ settings: FleetServerSettings) async throws(CommandError) -> [String] {
        var lines: [String] = []
        var values: [(name: String, value: String)] = []
        var authority = ""
        if settings.hasOwnCertificate {
            lines.append("kept the server's certificate, \(settings.certificate)")
        } else {
            authority = try await makeCertificate(settings.directory)
            lines.append(
                "made a certificate for \(names.map(\.name).joined(separator: ", ")), which "
                    + "\(settings.directory)/\(Self.authority).crt signs"
            )
            let file = FleetServerSettings.certificateName
            values = [("ssl_cert_file", file), ("ssl_key_file", Self.key), ("ssl", "on")]
        }
        let folder = try FleetFiles(FilePlace.folder(of: settings.accessFile), context)
        let file = String(settings.accessFile.split(separator: "/").last ?? "")
        if let text = AccessRules.adding(access.address.database, to: try folder.text(file)) {
            try folder.write(file, text, mode: 0o640)
            lines.append("let the fleet's members in, in \(settings.accessFile)")
        }
        if settings.listensHere { values.append(("listen_addresses", "*")) }
        let hosts = names.map { $0.port == 5_432 ? .init($0.name, port: settings.port) : $0 }
        let text = hosts.map(\.text).joined(separator: ",")
        try await access.withServer(as: nil) { [authority] fleet throws(FleetError) in
            try await fleet.note(hosts: text, authority: authority)
        }
        try await administering { [values] fleet throws(FleetError) in
            try await fleet.configure(values)
        }
        lines.append(
            "gateways reach it at \(text): let TCP port \(settings.port) through a firewall"
        )
        return lines
    }

    /// Starts a server again that listened to its own machine alone, or says what to do.
    ///
    /// For root: Debian's own program does it, when nobody else is cut off.
    package func restart(_ settings: FleetServerSettings) async -> String? {
        guard settings.listensHere else { return nil }
        let parts = settings.accessFile.split(separator: "/").map(String.init)
        guard geteuid() == 0, settings.otherSessions == 0, parts.count == 5,
            parts[1] == "postgresql",
            await Self.succeeds(["pg_ctlcluster", parts[2], parts[3], "restart"])
        else {
            return "to do: restart the server, so that it listens to other machines: "
                + "systemctl restart postgresql"
        }
        return "restarted the server, which listens to other machines now"
    }

    /// The certificate of the authority as Base64; it is made once, and the server's each time.
    private func makeCertificate(_ directory: String) async throws(CommandError) -> String {
        let files = try FleetFiles(directory, context)
        let (authority, authorityKey) = (
            Self.authority + ".crt", files.path(Self.authority + ".key")
        )
        let settings = "yardmaster-openssl.cnf"
        try files.write(settings, "[req]\ndistinguished_name=d\n[d]\n", mode: 0o600)
        defer { try? FilePlace.remove(files.path(settings)) }
        let fresh = [
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
        ]
        func make(_ subject: String, _ name: String, _ more: [String]) async throws(CommandError) {
            let words = ["openssl", "req", "-x509", "-config", files.path(settings)]
            let what = ["-subj", "/CN=" + subject, "-out", files.path(name + ".new")]
            guard await Self.succeeds(words + what + more) else {
                throw CommandError(
                    .unavailable,
                    "openssl does not make the server's certificate in \(directory)",
                    hint: "apt-get install openssl"
                )
            }
            try files.rename(name + ".new", to: name)
        }
        if !files.has(authority) {
            let extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"]
            try await make(
                "Yardmaster fleet \(names[0].name)",
                authority,
                fresh + [authorityKey, "-days", "7300"] + extensions.flatMap { ["-addext", $0] }
            )
        }
        let own = (files.has(Self.key) ? ["-key"] : fresh) + [files.path(Self.key)]
        try await make(
            names[0].name,
            FleetServerSettings.certificateName,
            own + ["-CA", files.path(authority), "-CAkey", authorityKey, "-days", "3650"]
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-addext", "subjectAltName=" + Self.subjects(names)]
        )
        return try files.text(authority).split(separator: "\n").filter { !$0.hasPrefix("-") }
            .joined()
    }

    /// The names as openssl reads them.
    ///
    /// Clients differ in where they look for an address.
    private static func subjects(_ names: [FleetAddress.Host]) -> String {
        var subjects: [String] = []
        for name in names.map(\.name) {
            if !name.contains(":") { subjects.append("DNS:" + name) }
            if !name.contains(/[^0-9.]/) || name.contains(":") { subjects.append("IP:" + name) }
        }
        return subjects.joined(separator: ",")
    }

    private static func succeeds(_ words: [String]) async -> Bool {
        guard let thread = try? ThreadExecutor.working("program") else { return false }
        defer { thread.stop() }
        return await CheckRunner(executor: thread).wait {
            guard
                case .success(let process) = ChildProgram.spawn(
                    words,
                    [(0, .nothing), (1, .nothing), (2, .nothing)],
                    environment: ChildProgram.plainEnvironment
                )
            else { return false }
            return ChildProgram.reap(process) == 0
        }
    }

    private func administering<R: Sendable>(
        _ body: (FleetDatabase) async throws(FleetError) -> R
    ) async throws(CommandError) -> R {
        try await access.at(access.address.with(database: "postgres")).withServer(as: nil, body)
    }
}

extension FleetAccess {
    /// Calls `body` as the user to whom the server's socket belongs, when root asks: by that the server knows its
    /// superuser, and the server's files belong to that user.
    package func asServerUser<R>(
        _ body: () async throws(CommandError) -> R
    ) async throws(CommandError) -> R {
        var status = stat()
        guard geteuid() == 0, address.hosts[0].isSocket, stat(address.hosts[0].text, &status) == 0,
            status.st_uid != 0
        else { return try await body() }
        let group = getegid()
        guard setegid(status.st_gid) == 0, seteuid(status.st_uid) == 0 else {
            throw CommandError(.configuration, "root cannot become \(Owner(id: status.st_uid))")
        }
        defer {
            // The real user is root all the time.
            let isBack = seteuid(0) == 0 && setegid(group) == 0
            precondition(isBack, "root stays root")
        }
        return try await body()
    }
}
