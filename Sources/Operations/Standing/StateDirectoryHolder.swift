import Journal

/// Who works in a state directory, as far as reading tells.
enum StateDirectoryHolder {
    static func current(_ path: String) -> LockHolder? {
        (try? StateDirectory.existing(at: path))?.holder()
    }
}
