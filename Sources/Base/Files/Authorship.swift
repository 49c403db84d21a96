import Glibc

/// Whether somebody besides root and this user may have written a file.
///
/// A file that names programs is obeyed only when nobody else can write it: anyone who can runs programs as this user.
package struct Authorship: Sendable, Equatable {
    /// Why the file must not be obeyed, for people.
    package let cause: String
    /// The command that puts it right.
    package let remedy: String

    /// The doubt about a file; nil when there is none, and when there is no such file.
    package static func doubt(_ path: String, user: UInt32 = geteuid()) -> Authorship? {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        guard facts.st_uid == 0 || facts.st_uid == user else {
            return Authorship(
                cause: "\(path.visible) belongs to \(Owner(id: facts.st_uid))",
                remedy: "look at it, then: chown \(Owner(id: user).word) \(path)"
            )
        }
        let isShared =
            facts.st_mode & 0o020 != 0 && !isPrivate(group: facts.st_gid, of: facts.st_uid)
        guard facts.st_mode & 0o002 != 0 || isShared else { return nil }
        return Authorship(
            cause: "\(path.visible) can be written by other users",
            remedy: "look at it, then: chmod go-w \(path)"
        )
    }

    /// Whether a group has the owner's name: then it is the owner's alone.
    private static func isPrivate(group: gid_t, of owner: uid_t) -> Bool {
        guard let name = unsafe getgrgid(group)?.pointee.gr_name else { return false }
        return unsafe String(cString: name) == Owner(id: owner).word
    }
}
