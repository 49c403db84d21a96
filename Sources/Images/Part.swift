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
    private var sum = SHA256()
    /// How many bytes are written, and how many are hashed.
    private(set) var count = 0
    private(set) var hashed = 0
    private var isDone = false
    /// Whether somebody may have noted where its bytes come from.
    private var mayHaveNote: Bool

    /// Nil while another process has it.
    convenience init?(locking digest: SHA256Digest, in store: StoreFolder) throws(ImageError) {
        guard let (descriptor, isNew) = try Self.lock(digest, store, LOCK_NB) else { return nil }
        self.init(descriptor, isNew, digest, store)
    }

    /// Blocks while another process has it.
    convenience init(waitingFor digest: SHA256Digest, in store: StoreFolder) throws(ImageError) {
        guard let (descriptor, isNew) = try Self.lock(digest, store, 0) else {
            preconditionFailure("a lock was waited for and not had")
        }
        self.init(descriptor, isNew, digest, store)
    }

    private init(
        _ descriptor: Int32,
        _ isNew: Bool,
        _ digest: SHA256Digest,
        _ store: StoreFolder
    ) {
        self.descriptor = descriptor
        mayHaveNote = !isNew
        self.store = store
        self.digest = digest
        path = store.partPath(of: digest)
    }

    private static func lock(
        _ digest: SHA256Digest,
        _ store: StoreFolder,
        _ flags: Int32
    ) throws(ImageError) -> (descriptor: Int32, isNew: Bool)? {
        let path = store.partPath(of: digest)
        while true {
            let file = try PartFile.open(path, in: store)
            switch file {
            case .made(let descriptor), .toWrite(let descriptor):
                guard try FileLock.hold(descriptor, path, flags) else { return nil }
                if FileLock.isNamed(descriptor, path) {
                    if case .made = file { return (descriptor, true) }
                    return (descriptor, false)
                }
                close(descriptor)
            case .sealed(let descriptor):
                // Anyone who sealed it may be about to give it its name: the lock tells.
                guard try FileLock.hold(descriptor, path, flags) else { return nil }
                if FileLock.isNamed(descriptor, path) { _ = fchmod(descriptor, PartFile.mode) }
                close(descriptor)
            }
        }
    }

    deinit {
        if !isDone { remove() }
        FileLock.release(descriptor)
    }

    /// The note first, so that there is none without its part.
    private func remove() {
        if mayHaveNote { try? store.files.remove(store.notePath(of: digest)) }
        try? store.files.remove(path)
    }

    /// What is known of the origin of the bytes that are here.
    var note: PartNote? {
        count > 0 && mayHaveNote ? PartNote.read(from: store.notePath(of: digest)) : nil
    }

    /// Notes where the bytes come from, for anyone who takes them up.
    func keep(_ note: PartNote) throws(ImageError) {
        let path = store.notePath(of: digest)
        mayHaveNote = true
        do throws(FileFault) { try note.write(to: path, by: store.files) } catch {
            throw .writing(path, error.code)
        }
    }

    /// Takes up what an earlier process left: reads and hashes it, for its hash was lost with it.
    ///
    /// What is beyond `limit` cannot belong to the image: then it begins again.
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
            // A file that cannot be read back is of no use, and its place can be written again.
            guard read > 0 else { return try restart() }
            hash(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            count += read
        }
    }

    /// Forgets all bytes.
    func restart() throws(ImageError) {
        do throws(FileFault) { try store.files.truncate(descriptor, to: 0) } catch {
            throw .writing(path, error.code)
        }
        sum = SHA256()
        count = 0
        hashed = 0
    }

    /// Writes and hashes more bytes.
    func take(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        try write(bytes)
        hash(bytes)
    }

    /// The first half of it.
    ///
    /// What is hashed must be written before anybody asks what is here.
    func hash(_ bytes: UnsafeRawBufferPointer) {
        sum.update(bytes)
        hashed += bytes.count
    }

    /// The other half.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        do throws(FileFault) {
            try store.files.writeAll(bytes, to: descriptor, at: count)
        } catch { throw .writing(path, error.code) }
        count += bytes.count
    }

    /// Whether what is here so far is the image.
    var isWhole: Bool { count == hashed && sum.copy().finish() == digest }

    /// The digest of what is here so far.
    var actual: SHA256Digest { sum.copy().finish() }

    /// Keeps the bytes for a later call or process.
    ///
    /// They need not be on disk: anyone who takes them up hashes them again.
    func keep() {
        guard count > 0 else { return }
        isDone = true
    }

    /// What is left to do for it to be an image; the part must be kept until that is done.
    var publication: Publication {
        Publication(
            store: store,
            digest: digest,
            descriptor: descriptor,
            count: count,
            mayHaveNote: mayHaveNote
        )
    }

    /// It has its name now, or will be found by anyone who comes next.
    func settle() { isDone = true }

    /// Gives the file its name.
    func publish() throws(ImageError) -> String {
        let path = try publication.perform()
        settle()
        return path
    }
}
