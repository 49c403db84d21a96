import Glibc

/// The file that this program was started from.
enum ProgramFile {
    /// Resolved through all links; nil when the system does not report it.
    static let path: String? = {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }()
}
