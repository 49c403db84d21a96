import Glibc

/// A private bus: a dbus-daemon with its own folder and the limits of the system bus.
///
/// It ends with this object, and also when the process is killed: a shell between them waits for
/// the end of its input.
package final class PrivateBus: @unchecked Sendable {
    package let folder: String
    /// The address for connections; it stays the same over restarts.
    package var address: String { "unix:path=\(folder)/bus" }

    // Started and stopped by one task at a time, which the test must ensure.
    private var shell: pid_t = -1
    private var leash: CInt = -1

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// `name` is a name that may not be called; nil for none.
    package init(denying name: String? = nil) throws {
        var template = Array("/tmp/yardmaster-bus-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no folder") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        try write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>custom</type>
              <listen>unix:path=\(folder)/bus</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <allow own="*"/>
                <allow send_type="method_call"/>
                <allow send_type="signal"/>
                <allow send_requested_reply="true" send_type="method_return"/>
                <allow send_requested_reply="true" send_type="error"/>
                <allow receive_type="method_call"/>
                <allow receive_type="method_return"/>
                <allow receive_type="error"/>
                <allow receive_type="signal"/>
                \(name.map { "<deny send_destination=\"\($0)\"/>" } ?? "")
              </policy>
            </busconfig>

            """,
            to: folder + "/bus.conf"
        )
        try start()
    }

    deinit {
        stop()
        for name in ["bus", "bus.conf"] { unlink(folder + "/" + name) }
        rmdir(folder)
    }

    /// Returns when the bus listens.
    package func start() throws {
        precondition(shell < 0, "the bus runs")
        var pair: [CInt] = [-1, -1]
        var pipes: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0, socketpair(AF_UNIX, kind, 0, &pipes) == 0
        else { throw Failure(description: "no sockets") }
        defer {
            close(pair[1])
            close(pipes[0])
            close(pipes[1])
        }
        unlink(folder + "/bus")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pair[1], 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        // Threads of a test may block signals, and then the shell would wait forever for its child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let script = """
            dbus-daemon --config-file="$0/bus.conf" --nofork --nopidfile --print-address=1 2>/dev/null &
            exec 1>&-; read _; kill -9 $!; wait
            """
        let words: [String] = ["sh", "-c", script, folder]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&shell, "/bin/sh", &actions, &attributes, arguments, environ) == 0 else {
            throw Failure(description: "no shell")
        }
        leash = pair[0]
        close(pipes[1])
        pipes[1] = -1
        var byte: UInt8 = 0
        guard read(pipes[0], &byte, 1) == 1 else {
            stop()
            throw Failure(description: "dbus-daemon did not start: is it installed?")
        }
    }

    /// Kills the bus: every connection is cut.
    package func stop() {
        guard shell > 0 else { return }
        close(leash)
        var status: CInt = 0
        waitpid(shell, &status, 0)
        shell = -1
    }

    private func write(_ text: String, to path: String) throws {
        let file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot write \(path)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Failure(description: "cannot write \(path)")
        }
    }
}

/// The number of descriptors that this process has open, to find leaks.
package func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Not counting ".", ".." and the descriptor of the folder itself.
    return count - 3
}
