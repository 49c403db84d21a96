package import Store

/// The process that works in a state directory, if there is one.
package enum StateDirectoryHolder {
    package static func current(_ path: String) -> LockHolder? {
        (try? StateDirectory.existing(at: path))?.holder()
    }
}
