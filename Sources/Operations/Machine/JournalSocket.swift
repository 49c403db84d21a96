import Glibc

/// The socket at which the journal of systemd takes records with fields.
package struct JournalSocket: Sendable {
    static let path = "/run/systemd/journal/socket"

    let descriptor: CInt

    /// Whether text on standard error goes to the journal anyway.
    ///
    /// `$JOURNAL_STREAM` contains device and inode of the stream that the service manager
    /// connected. After a redirection the stream is a different one, and plain lines are wanted
    /// there.
    static var takesStandardError: Bool {
        guard let value = getenv("JOURNAL_STREAM"), let text = String(validatingCString: value)
        else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return text == "\(status.st_dev):\(status.st_ino)"
    }

    /// Nil when no process listens at it.
    package init?(path: String = Self.path) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }
}
