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
        return own(environment).map { isRehearsal ? $0 + "-rehearsal" : $0 }
    }

    private static func own(_ environment: (String) -> String?) -> String? {
        func absolute(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let given = absolute("STATE_DIRECTORY") {
            return given.split(separator: ":").first.map { String($0) }
        }
        if let given = absolute("XDG_STATE_HOME") { return joined(given, "yardmaster") }
        return absolute("HOME").map { joined($0, ".local/state/yardmaster") }
    }

    private static func joined(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }
}
