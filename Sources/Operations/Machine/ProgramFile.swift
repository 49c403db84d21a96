import Glibc

/// The file that this program was started from.
package enum ProgramFile {
    /// With all links followed; nil where the system does not say.
    package static let path: String? = {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }()
}
