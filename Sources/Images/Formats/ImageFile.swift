import CLinux
import Glibc

/// An open regular file, closed with its value.
struct ImageFile: ~Copyable {
    let descriptor: CInt
    private let path: String

    init(reading path: String, following: Bool = true) throws(ImageError) {
        // Without O_NONBLOCK, opening a pipe without a writer would block forever.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (following ? 0 : O_NOFOLLOW)
        descriptor = open(path, flags)
        self.path = path
        guard descriptor >= 0 else { throw .reading(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .reading(path, errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .isDirectory(path)
        default: throw .notAFile(path)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The bytes from `offset` on, as many as a chunk holds; nil at the end.
    borrowing func chunk(at offset: Int) throws(ImageError) -> Chunk? {
        let chunk = Chunk()
        while true {
            let count = chunk.fill { pread(descriptor, $0.baseAddress, $0.count, offset) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .reading(path, errno) }
            return count == 0 ? nil : chunk
        }
    }

    /// Passes the file's bytes to `take`, from its beginning and in pieces of up to 256 KiB.
    borrowing func read(
        _ take: (Span<UInt8>) throws(ImageError) -> Void
    ) throws(ImageError) {
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        var offset = 0
        while true {
            let count = pread(descriptor, &piece, piece.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .reading(path, errno) }
            if count == 0 { return }
            try take(piece.span.extracting(first: count))
            offset += count
        }
    }
}
