import Base
import CLinux
import Glibc

/// A file in the making, locked for this process until it gets its name or is given up.
///
/// The lock is the kernel's and ends with the process in any case. When the part is given up,
/// `keep` keeps its file; otherwise the file is removed.
final class Part {
    let path: String
    private let store: StoreFolder
    private let digest: SHA256Digest
    private let descriptor: Int32
    private var sum = SHA256()
    /// The numbers of bytes that are written and hashed.
    private(set) var count = 0
    private(set) var hashed = 0
    private var isDone = false
    /// Whether the origin of its bytes may have been noted.
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
                // The process that sealed it may be about to give it its name: the lock shows that.
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

    /// Removes the note first, so that no note is left without its part.
    private func remove() {
        if mayHaveNote { try? store.files.remove(store.notePath(of: digest)) }
        try? store.files.remove(path)
    }

    /// The known facts about the origin of the bytes that are here.
    var note: PartNote? {
        count > 0 && mayHaveNote ? PartNote.read(from: store.notePath(of: digest)) : nil
    }

    /// Notes where the bytes come from, for a process that continues the part.
    func keep(_ note: PartNote) throws(ImageError) {
        let path = store.notePath(of: digest)
        mayHaveNote = true
        do throws(FileFault) { try note.write(to: path, by: store.files) } catch {
            throw .writing(path, error.code)
        }
    }

    /// Continues a part of an earlier process: reads and hashes its bytes, because their hash was
    /// lost with the process.
    ///
    /// When it has more than `limit` bytes it cannot belong to the image: then it begins again.
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
            // A file that cannot be read is useless, and can be written again.
            guard read > 0 else { return try restart() }
            hash(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            count += read
        }
    }

    /// Drops all bytes.
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

    /// Hashes bytes, the first half of `take`.
    ///
    /// Hashed bytes must be written before the state of the part is used.
    func hash(_ bytes: UnsafeRawBufferPointer) {
        sum.update(bytes)
        hashed += bytes.count
    }

    /// Writes bytes, the second half of `take`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        do throws(FileFault) {
            try store.files.writeAll(bytes, to: descriptor, at: count)
        } catch { throw .writing(path, error.code) }
        count += bytes.count
    }

    /// Whether the bytes so far are the image.
    var isWhole: Bool { count == hashed && sum.copy().finish() == digest }

    /// The digest of the bytes so far.
    var actual: SHA256Digest { sum.copy().finish() }

    /// Keeps the bytes for a later call or process.
    ///
    /// They need not be on disk: a process that continues the part hashes them again.
    func keep() {
        guard count > 0 else { return }
        isDone = true
    }

    /// The steps that make it an image; the part must be kept until they are done.
    var publication: Publication {
        Publication(
            store: store,
            digest: digest,
            descriptor: descriptor,
            count: count,
            mayHaveNote: mayHaveNote
        )
    }

    /// The part has its name, or stays for the next process.
    func settle() { isDone = true }

    /// Gives the file its name.
    func publish() throws(ImageError) -> String {
        let path = try publication.perform()
        settle()
        return path
    }
}
