import Glibc
package import Workbench

/// A private PostgreSQL server in its own folder: the distribution's server, run as a plain user.
///
/// It ends with this object, and also when the process is killed: a shell between them waits for
/// the end of its input.
package final class PrivatePostgres: @unchecked Sendable {
    /// Why this machine has no PostgreSQL; nil when it has one.
    package static let absence: String? =
        binaries == nil ? "PostgreSQL is not installed (apt-get install postgresql)" : nil

    /// The folder of the programs of the newest version, as in Debian.
    private static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (1...99).reversed().map { "\(root)/\($0)/bin" }
        return versions.first { access($0 + "/postgres", X_OK) == 0 }
    }()

    package let scratch: Scratch
    private var data: String { scratch.path + "/data" }
    package let port: UInt16
    // Started and stopped by one task at a time, which the test must ensure.
    private var shell: pid_t = -1
    private var leash: CInt = -1

    /// The superuser of the cluster.
    package static let superuser = "depot"

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes the cluster and starts it; it requires passwords on TCP but not on its socket.
    package init() throws {
        guard let binaries = Self.binaries else {
            throw Failure(description: Self.absence ?? "")
        }
        scratch = try Scratch()
        port = try withExtendedLifetime(ClosedPort()) { $0.number }
        try PlainUser.own(scratch.path)
        chmod(scratch.path, 0o711)
        let made = try execute(
            [
                binaries + "/initdb", "-D", data, "-U", Self.superuser, "--auth-local=trust",
                "--auth-host=scram-sha-256", "--no-sync", "--locale=C", "-E", "UTF8",
                "--no-instructions",
            ],
            to: "initdb.log"
        )
        guard made == 0 else { throw Failure(description: "initdb: \(log("initdb.log"))") }
        try start()
    }

    /// Makes a standby of a running server: it follows the primary until `loseTouch`, and replaces
    /// it after `promote`.
    package init(standbyOf primary: PrivatePostgres) throws {
        guard let binaries = Self.binaries else {
            throw Failure(description: Self.absence ?? "")
        }
        scratch = try Scratch()
        port = try withExtendedLifetime(ClosedPort()) { $0.number }
        try PlainUser.own(scratch.path)
        chmod(scratch.path, 0o711)
        let made = try execute(
            [
                binaries + "/pg_basebackup", "-h", primary.socket, "-p", "\(primary.port)", "-U",
                Self.superuser, "-D", data, "-X", "stream", "-c", "fast", "-R", "--no-sync",
            ],
            to: "basebackup.log"
        )
        guard made == 0 else {
            throw Failure(description: "pg_basebackup: \(log("basebackup.log"))")
        }
        try start()
    }

    /// Ends the replication: later writes of the primary do not arrive here.
    package func loseTouch() throws {
        try query("postgres", "ALTER SYSTEM SET primary_conninfo = ''")
        try query("postgres", "SELECT pg_reload_conf()")
        try wait(for: "the standby to lose touch") {
            try query("postgres", "SELECT count(*) FROM pg_stat_wal_receiver") == "0\n"
        }
    }

    /// Makes the standby a server that accepts writes.
    package func promote() throws {
        try query("postgres", "SELECT pg_promote(true, 60)")
    }

    deinit { stop() }

    /// The directory of the server's socket, as the host of an address.
    package var socket: String { scratch.path }

    package func address(_ database: String, user: String = PrivatePostgres.superuser) -> String {
        let host = scratch.path.split(separator: "/").map { "%2F" + $0 }.joined()
        return "postgresql://\(user)@\(host):\(port)/\(database)"
    }

    /// Starts the server; returns when it accepts sessions.
    package func start() throws {
        precondition(shell < 0, "the server runs")
        guard let binaries = Self.binaries else { return }
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw FileFailure("a socket pair") }
        defer { close(pair[1]) }
        // Without the word `keep`, the process has ended, or the server is not needed any more: the
        // folder is removed.
        let script = """
            "$@" >>"$0" 2>&1 </dev/null & server=$!
            read word; kill -QUIT $server 2>/dev/null; wait
            [ "$word" = keep ] || rm -rf "${0%/*}"
            """
        let words: [String] =
            PlainUser.prefix + ["/bin/sh", "-c", script, scratch.path + "/server.log"] + [
                binaries + "/postgres", "-D", data, "-k", scratch.path, "-p", "\(port)",
                "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
                "-c", "max_connections=80", "-c", "shared_buffers=8MB",
                "-c", "autovacuum=off", "-c", "log_min_messages=warning",
            ]
        shell = try spawn(words, input: pair[1])
        leash = pair[0]
        try wait(for: "PostgreSQL to start") {
            (try? query("postgres", "SELECT 1")) == "1\n"
        }
    }

    /// Ends the server immediately, as a power cut would; its folder is kept.
    package func kill() throws {
        let text = String(decoding: try contents(data + "/postmaster.pid"), as: UTF8.self)
        guard let pid = text.split(separator: "\n").first.flatMap({ pid_t(String($0)) }) else {
            throw Failure(description: "no process number")
        }
        let list = try contents("/proc/\(pid)/task/\(pid)/children")
        let children = String(decoding: list, as: UTF8.self).split(separator: " ")
        Glibc.kill(pid, SIGKILL)
        end(keeping: true)
        // The child processes end when they notice the loss, and a new server does not start before
        // that.
        try wait(for: "the processes of the killed server to end") {
            children.allSatisfy { child in
                let state = try? contents("/proc/\(child)/stat")
                // The child has ended, even if it has not been reaped.
                return state.map { String(decoding: $0, as: UTF8.self).contains(") Z ") } ?? true
            }
        }
    }

    /// Ends the server in order, and removes its folder.
    package func stop() { end(keeping: false) }

    private func end(keeping: Bool) {
        guard shell > 0 else { return }
        if keeping {
            let word = Array("keep\n".utf8)
            _ = Glibc.write(leash, word, word.count)
        }
        close(leash)
        var status: CInt = 0
        waitpid(shell, &status, 0)
        shell = -1
    }

    /// The answer of psql to statements, with columns separated by `|`.
    @discardableResult
    package func query(
        _ database: String,
        _ statements: String,
        user: String = PrivatePostgres.superuser
    ) throws -> String {
        let name = "query-\(UInt64.random(in: .min ... .max)).txt"
        defer { unlink(scratch.path + "/" + name) }
        let code = try execute(
            [
                "/usr/bin/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", socket,
                "-p", "\(port)", "-U", user, "-d", database, "-c", statements,
            ],
            to: name
        )
        guard code == 0 else { throw Failure(description: log(name)) }
        return log(name)
    }

    /// A session that stays open, such as one that has locked something.
    package final class Session {
        private let shell: pid_t
        private var input: CInt

        fileprivate init(_ shell: pid_t, input: CInt) { (self.shell, self.input) = (shell, input) }

        package func say(_ statements: String) throws {
            let bytes = Array((statements + "\n").utf8)
            guard Glibc.write(input, bytes, bytes.count) == bytes.count else {
                throw FileFailure("a session")
            }
        }

        /// Ends it; a transaction that is open is rolled back.
        package func end() {
            guard input >= 0 else { return }
            close(input)
            input = -1
            var status: CInt = 0
            waitpid(shell, &status, 0)
        }

        deinit { end() }
    }

    package func session(of database: String) throws -> Session {
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw FileFailure("a socket pair") }
        defer { close(pair[1]) }
        let psql = [
            "/usr/bin/psql", "-X", "-q", "-o", "/dev/null", "-h", socket, "-p", "\(port)", "-U",
            Self.superuser, "-d", database,
        ]
        return Session(try spawn(PlainUser.prefix + psql, input: pair[1]), input: pair[0])
    }

    /// Makes a new, empty database.
    package func database() throws -> String {
        let name = "fleet_\(UInt32.random(in: .min ... .max))"
        try query("postgres", "CREATE DATABASE \(name)")
        return name
    }

    /// Runs one of PostgreSQL's programs on a database, with its output in a file of the folder.
    package func tool(_ name: String, _ arguments: [String], to file: String) throws {
        guard let binaries = Self.binaries else { return }
        let code = try execute(
            [binaries + "/" + name, "-h", socket, "-p", "\(port)", "-U", Self.superuser]
                + arguments,
            to: file
        )
        guard code == 0 else { throw Failure(description: "\(name): \(log(file))") }
    }

    private func log(_ name: String) -> String {
        String(decoding: (try? contents(scratch.path + "/" + name)) ?? [], as: UTF8.self)
    }

    private func execute(_ arguments: [String], to file: String) throws -> Int32 {
        let script = "exec \"$@\" >\"$0\" 2>&1"
        let pid = try spawn(
            PlainUser.prefix + ["/bin/sh", "-c", script, scratch.path + "/" + file] + arguments,
            input: nil
        )
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status >> 8 & 0xFF
    }

    private func spawn(_ words: [String], input: CInt?) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        // Threads of a test may block signals, and then the shell would wait forever for its child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A separate session: a signal to the test's whole process group must not stop the
        // clean-up.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | 0x80)
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        guard posix_spawnp(&pid, words[0], &actions, &attributes, arguments, environ) == 0 else {
            throw FileFailure(words[0])
        }
        return pid
    }
}
