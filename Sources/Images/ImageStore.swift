import CLinux
package import Domain
import Glibc

/// What is asked of the store: an image by the digest that the manifest promises.
package struct ImageRequest: Sendable {
    /// No image for a module comes near: it bounds memory and disk.
    package static let largest = ByteCount(bytes: 64 << 20)

    package let name: String
    package let digest: SHA256Digest
    package let size: ByteCount?
    package let limit: ByteCount

    /// Nil when the size asked for is beyond the limit, or the limit beyond 64 MiB.
    package init?(name: String, digest: SHA256Digest, size: ByteCount?, limit: ByteCount? = nil) {
        guard let largest = Self.largest else { return nil }
        let limit = limit ?? largest
        guard limit <= largest, size.map({ $0 <= limit }) ?? true else { return nil }
        self.name = name
        self.digest = digest
        self.size = size
        self.limit = limit
    }
}

/// Verified images by their digest, in the state directory's `images/sha256/ab/<hex>`.
///
/// A file gets its name only when it is whole, verified and on disk. Several processes may share a
/// store: whoever comes second waits for the first one's copy. Its calls block, so outside a
/// simulation the executor is a thread of its own.
package actor ImageStore {
    private let executor: any SerialExecutor
    private let root: String

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The store in an existing state directory; folders are made when the first image comes.
    package init(stateDirectory: String, executor: any SerialExecutor) {
        root = stateDirectory + "/images"
        self.executor = executor
    }

    /// The image asked for, from the store if it has it, otherwise from `source`.
    ///
    /// Either way its digest was computed in this call. What does not match leaves nothing behind.
    package func acquire(
        _ request: ImageRequest,
        from source: some ImageSource
    ) throws(ImageError) -> StoredImage {
        let hex = request.digest.description
        let folder = "\(root)/sha256/\(hex.prefix(2))"
        let path = "\(folder)/\(hex)"
        if let image = try StoredImage.verified(request, at: path) { return image }
        for parent in [root, root + "/sha256", folder] {
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST else {
                throw .writing(parent, errno)
            }
        }
        let part = try Part(at: path + ".part")
        // Somebody else may have brought it while we waited for the lock.
        if let image = try StoredImage.verified(request, at: path) { return image }
        var sink = ImageSink(
            descriptor: part.descriptor,
            path: part.path,
            expectedSize: request.size,
            limit: request.limit
        )
        try source.deliver(to: &sink)
        let size = try sink.finish(expecting: request.digest)
        try part.publish(as: path, in: folder)
        return StoredImage(name: request.name, digest: request.digest, size: size, path: path)
    }
}

/// A file in the making, locked for this process and removed unless it is published.
private struct Part: ~Copyable {
    let descriptor: CInt
    let path: String
    private var isPublished = false

    /// Waits while another process makes the same file.
    init(at path: String) throws(ImageError) {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw .writing(path, errno) }
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            // The lock is on the file, not on its name: the one we waited for may have renamed
            // or removed it.
            var (held, named) = (stat(), stat())
            if fstat(descriptor, &held) == 0, lstat(path, &named) == 0,
                held.st_ino == named.st_ino, held.st_dev == named.st_dev
            {
                // What a crash left is of no use: its hash is lost.
                guard ftruncate(descriptor, 0) == 0 else {
                    let code = errno
                    close(descriptor)
                    throw .writing(path, code)
                }
                self.descriptor = descriptor
                self.path = path
                return
            }
            close(descriptor)
        }
    }

    deinit {
        if !isPublished { unlink(path) }
        close(descriptor)
    }

    /// Gives the file its name, in this order: bytes on disk, name, name on disk.
    consuming func publish(as name: String, in folder: String) throws(ImageError) {
        guard fchmod(descriptor, 0o444) == 0, fsync(descriptor) == 0,
            rename(path, name) == 0
        else { throw .writing(name, errno) }
        isPublished = true
        let handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw .writing(folder, errno) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw .writing(folder, errno) }
    }
}
