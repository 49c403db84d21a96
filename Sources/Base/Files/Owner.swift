import CLinux
import Glibc

/// The user that something on disk belongs to.
package struct Owner: Sendable, Equatable, CustomStringConvertible {
    package let id: UInt32

    package init(id: UInt32) { self.id = id }

    /// The owner of a directory or, where it is missing, of the nearest one above it; nil when it cannot be reached.
    package static func ofFolder(_ path: String) throws(FileFault) -> Owner? {
        var path = path
        while true {
            do throws(FileFault) {
                return Owner(id: try Folder.open(path).facts().owner)
            } catch {
                guard error.code == ENOENT else { throw error }
            }
            let above = FilePlace.folder(of: path)
            guard above != path else { return nil }
            path = above
        }
    }

    /// The user of this name; nil when there is none.
    package init?(named name: String) {
        guard let id = unsafe getpwnam(name)?.pointee.pw_uid else { return nil }
        self.init(id: id)
    }

    /// Its own group.
    package var group: UInt32? { unsafe getpwuid(id)?.pointee.pw_gid }

    private var account: String? {
        unsafe getpwuid(id)?.pointee.pw_name.map { unsafe String(cString: $0) }
    }

    /// Whether nobody can be logged in as this user.
    package var isService: Bool {
        guard id != 0, let shell = unsafe getpwuid(id)?.pointee.pw_shell else { return false }
        let path = unsafe String(cString: shell)
        return path.hasSuffix("/nologin") || path.hasSuffix("/false")
    }

    /// The name for people.
    package var description: String { account ?? "user \(id)" }

    /// The name as `sudo -u` and `chown` take it.
    package var word: String { account ?? "\(id)" }

    /// The beginning of a command line that runs a command as this user.
    package var sudo: String { "sudo -u " + (account ?? "'#\(id)'") }
}

extension FilePlace {
    /// What is wrong with the owner of a file and how it is put right; nil when it belongs to the owner of its directory.
    package var strayed: String? {
        guard let facts = (try? facts()) ?? nil, let above = try? folder.facts(),
            let path = try? folder.path(), facts.owner != above.owner
        else { return nil }
        let (file, owner) = (Owner(id: facts.owner), Owner(id: above.owner))
        return "\(path)/\(name) belongs to \(file), and its directory to \(owner): "
            + "sudo chown -R \(owner.word): \(path)"
    }
}
