import Glibc

/// The file that this program was started from.
enum ProgramFile {
    /// With all links followed; nil where the system does not tell.
    static var path: String? {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
