import Base
import Glibc
import Operations

/// What the units of the service manager cannot see of this machine.
package enum UnitSight {
    /// The folder for manifests, which all units can read.
    static let folder = "/etc/yardmaster"

    /// The warning about a manifest that no unit would find; nil when it is in a good place.
    ///
    /// `seesHome` is for units that were made for that manifest.
    package static func warning(_ manifest: String, seesHome: Bool) -> String? {
        guard let place = try? FilePlace(manifest), let path = try? place.folder.path() else {
            return nil
        }
        guard let reason = reason(path, seesHome) else { return nil }
        return
            "yardmaster: warning: no unit of this machine can read \(path)/\(place.name): \(reason)\n"
            + "  hint: put it into \(folder), for the user yardmaster to read\n"
    }

    private static func reason(_ folder: String, _ seesHome: Bool) -> String? {
        func isIn(_ others: [String]) -> Bool {
            others.contains { folder == $0 || folder.hasPrefix($0 + "/") }
        }
        if isIn(["/tmp", "/var/tmp"]) { return "each has a /tmp and a /var/tmp of its own" }
        if isIn(["/home", "/root", "/run/user"]), !seesHome { return "homes are hidden from them" }
        var path = folder
        while path != "/" {
            var facts = stat()
            // Root's own folders for a service are open to its group.
            if stat(path, &facts) == 0, facts.st_mode & 0o001 == 0, facts.st_gid == facts.st_uid {
                return "only \(Owner(id: facts.st_uid)) may look into \(path)"
            }
            path = FilePlace.folder(of: path)
        }
        return nil
    }
}
