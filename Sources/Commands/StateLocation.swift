/// The directory of the journal, the images and the lock.
package enum StateLocation {
    /// The flag's directory, or else the service manager's, or else the user's.
    ///
    /// Nil when none is set. A variable that is not an absolute path is ignored, as the XDG
    /// specification requires; of several directories from the service manager, the first is used.
    ///
    /// A rehearsal without a flag has the directory beside it.
    package static func path(
        flag: String?,
        isRehearsal: Bool = false,
        environment: (String) -> String?
    ) -> String? {
        if let flag { return flag }
        let own = given(flag: nil, environment: environment) ?? ofUser(environment)
        return own.map { isRehearsal ? $0 + "-rehearsal" : $0 }
    }

    /// The directory of the units of a machine: the service manager makes it for `StateDirectory=yardmaster`.
    package static let ofUnits = "/var/lib/yardmaster"

    /// The directory that a person or the service manager names.
    package static func given(
        flag: String?,
        environment: (String) -> String?
    ) -> String? {
        if let flag { return flag }
        guard let given = absolute("STATE_DIRECTORY", environment) else { return nil }
        return given.split(separator: ":").first.map { String($0) }
    }

    /// The directory of this user's own runs.
    package static func ofUser(_ environment: (String) -> String?) -> String? {
        if let given = absolute("XDG_STATE_HOME", environment) {
            return joined(given, "yardmaster")
        }
        return absolute("HOME", environment).map { joined($0, ".local/state/yardmaster") }
    }

    private static func absolute(_ name: String, _ environment: (String) -> String?) -> String? {
        environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func joined(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }
}
