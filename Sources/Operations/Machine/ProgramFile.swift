import Glibc

/// The file that this program was started from.
package enum ProgramFile {
    /// Resolved through all links; nil when the system does not report it.
    package static let path: String? = {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }()
}
