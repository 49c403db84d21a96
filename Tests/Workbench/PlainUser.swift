import Glibc

/// A user without rights of its own, for tests that a root would pass whatever the code does.
package enum PlainUser {
    private static let id: uid_t = 65_534

    /// Gives up root for the rest of this process; for exit tests, which have one of their own.
    ///
    /// A process that is no root already is as good as it is.
    package static func become() throws {
        guard geteuid() == 0 else { return }
        guard setgroups(0, nil) == 0, setgid(id) == 0, setuid(id) == 0
        else { throw FileFailure("to become a plain user") }
    }

    /// Gives a folder and everything in it to the plain user, when we could take it from them.
    package static func own(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard try run("chown", "-R", "\(id):\(id)", path) == 0 else {
            throw FileFailure("to give away \(path)")
        }
    }

    /// What a program's line begins with so that it runs as the plain user.
    package static var prefix: [String] {
        guard geteuid() == 0 else { return [] }
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    }
}
