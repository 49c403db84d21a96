import CLinux
import Digests
import Domain
import Glibc

/// A file in the making, locked for this process until it has its name or is given up.
///
/// The lock is the kernel's and goes with the process, however that ends. Whether the file is kept
/// when it is given up is for `keep` and `discard` to say; unless told, it is removed.
final class Part {
    let path: String
    private let store: StoreFolder
    private let digest: SHA256Digest
    private let descriptor: Int32
    private var hash = SHA256()
    private(set) var count = 0
    private var isDone = false

    /// Nil while another process has it.
    convenience init?(locking digest: SHA256Digest, in store: StoreFolder) throws(ImageError) {
        guard let descriptor = try Self.lock(digest, store, LOCK_NB) else { return nil }
        self.init(descriptor, digest, store)
    }

    /// Blocks while another process has it.
    convenience init(waitingFor digest: SHA256Digest, in store: StoreFolder) throws(ImageError) {
        guard let descriptor = try Self.lock(digest, store, 0) else {
            preconditionFailure("a lock was waited for and not had")
        }
        self.init(descriptor, digest, store)
    }

    private init(_ descriptor: Int32, _ digest: SHA256Digest, _ store: StoreFolder) {
        self.descriptor = descriptor
        self.store = store
        self.digest = digest
        path = store.partPath(of: digest)
    }

    private static func lock(
        _ digest: SHA256Digest,
        _ store: StoreFolder,
        _ flags: Int32
    ) throws(ImageError) -> Int32? {
        let path = store.partPath(of: digest)
        while true {
            switch try PartFile.open(path, in: store) {
            case .toWrite(let descriptor):
                guard try hold(descriptor, path, flags) else { return nil }
                if isNamed(descriptor, path) { return descriptor }
                close(descriptor)
            case .sealed(let descriptor):
                // Whoever sealed it may be about to give it its name: the lock tells.
                guard try hold(descriptor, path, flags) else { return nil }
                if isNamed(descriptor, path) { _ = fchmod(descriptor, PartFile.mode) }
                close(descriptor)
            }
        }
    }

    /// False, and the file closed, while another process has the lock.
    private static func hold(
        _ descriptor: Int32,
        _ path: String,
        _ flags: Int32
    ) throws(ImageError) -> Bool {
        while flock(descriptor, LOCK_EX | flags) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .writing(path, code) }
            return false
        }
        return true
    }

    /// The lock is on the file, not on its name: whoever had it may have renamed or removed it
    /// since we opened it.
    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0
            && held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    deinit {
        if !isDone { remove() }
        // Closing alone would leave it to a child that is about to start a program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private func remove() {
        try? store.files.remove(path)
        try? store.files.remove(store.notePath(of: digest))
    }

    /// Takes up what an earlier process left: reads and hashes it, for its hash was lost with it.
    ///
    /// What is beyond `limit` cannot belong to the image: then it begins anew.
    func takeUp(limit: ByteCount) throws(ImageError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .reading(path, errno) }
        guard status.st_size > 0 else { return }
        guard status.st_size <= limit.bytes else { return try restart() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        while count < status.st_size {
            guard !Task.isCancelled else { throw .cancelled }
            let read = pread(descriptor, buffer.baseAddress, buffer.count, count)
            if read < 0, errno == EINTR { continue }
            // A file that cannot be read back is of no use, and its place can be written anew.
            guard read > 0 else { return try restart() }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            count += read
        }
    }

    /// Forgets all bytes.
    func restart() throws(ImageError) {
        do throws(FileFault) { try store.files.truncate(descriptor, to: 0) } catch {
            throw .writing(path, error.code)
        }
        hash = SHA256()
        count = 0
    }

    /// Hashes and writes more bytes.
    func take(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        do throws(FileFault) {
            try store.files.writeAll(bytes, to: descriptor, at: count)
        } catch { throw .writing(path, error.code) }
        hash.update(bytes)
        count += bytes.count
    }

    /// Whether what is here so far is the image.
    var isWhole: Bool { hash.copy().finish() == digest }

    /// The digest of what is here so far.
    var actual: SHA256Digest { hash.copy().finish() }

    /// Keeps the bytes for a later call or process.
    ///
    /// They need not be on disk: whoever takes them up hashes them again.
    func keep() {
        guard count > 0 else { return }
        isDone = true
    }

    /// What is left to do for it to be an image; the part must be kept until that is done.
    var publication: Publication {
        Publication(store: store, digest: digest, descriptor: descriptor, count: count)
    }

    /// It has its name now, or will be found by whoever comes next.
    func settle() { isDone = true }

    /// Gives the file its name.
    func publish() throws(ImageError) -> String {
        let path = try publication.perform()
        settle()
        return path
    }
}
