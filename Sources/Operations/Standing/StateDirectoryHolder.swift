import Store

/// The process that works in a state directory, if there is one.
enum StateDirectoryHolder {
    static func current(_ path: String) -> LockHolder? {
        (try? StateDirectory.existing(at: path))?.holder()
    }
}
