/// Where the journal, the images and the lock are kept.
package enum StateLocation {
    /// The flag's directory, else the service manager's, else the user's.
    ///
    /// Nil when nothing says where. A variable that is no absolute path is passed over, as the XDG
    /// specification asks; the service manager may name several, of which the first is ours.
    package static func path(
        flag: String?,
        environment: (String) -> String?
    ) -> String? {
        if let flag { return flag }
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
