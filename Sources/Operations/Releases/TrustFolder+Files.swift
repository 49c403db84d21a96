import Glibc
import Images

extension TrustFolder {
    /// The folder, locked for this process.
    static func held(_ path: String) throws(TrustError) -> TrustFolder {
        do throws(StorageError) {
            return try TrustFolder(path)
        } catch { throw .storage(error) }
    }

    static func shared(_ path: String) throws(TrustError) -> TrustFolder {
        do throws(StorageError) {
            return try TrustFolder(path, isHeld: false)
        } catch { throw .storage(error) }
    }

    /// A small file at any path; links are followed.
    static func contents(of path: String, limit: Int64) throws(TrustError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .storage(StorageError(.read, path, code: errno)) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .storage(StorageError(.read, path, code: errno)) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            guard Int64(bytes.count) <= limit else {
                throw .storage(StorageError(.read, path, code: EFBIG))
            }
        }
    }
}
