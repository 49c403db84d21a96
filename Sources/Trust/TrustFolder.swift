import Glibc

/// Trusted documents in a folder on disk, locked for one process at a time.
///
/// Links are not followed, and no name can lead out of the folder.
package final class TrustFolder: TrustFiles {
    package let path: String
    private let folder: CInt
    /// Negative when the folder is not locked.
    private let lock: CInt

    /// Opens a folder, creates it when it is missing, and waits until no other process uses it.
    ///
    /// With `isHeld` false, it neither waits nor leaves a lock file.
    package init(_ path: String, isHeld: Bool = true) throws(StorageError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StorageError(.open, path, code: errno)
        }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw StorageError(.open, path, code: errno) }
        self.path = path
        self.folder = folder
        guard isHeld else {
            lock = -1
            return
        }
        let lock = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            let code = errno
            close(folder)
            throw StorageError(.lock, path, code: code)
        }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let code = errno
                close(lock)
                close(folder)
                throw StorageError(.lock, path, code: code)
            }
        }
        self.lock = lock
    }

    /// Whether this folder exists.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    deinit {
        if lock >= 0 {
            flock(lock, LOCK_UN)
            close(lock)
        }
        close(folder)
    }

    private func checked(_ name: String, _ operation: StorageError.Operation) throws(StorageError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F),
            !name.utf8.contains(0)
        else { throw StorageError(operation, name, code: EINVAL) }
    }

    package func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        try checked(name, .read)
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let descriptor = openat(folder, name, flags)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw StorageError(.read, name, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StorageError(.read, name, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.read, name, code: EINVAL)
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StorageError(.read, name, code: errno) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            guard Int64(bytes.count) <= limit else { return nil }
        }
    }

    package func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        try checked(name, .write)
        // A file that a crash left may not be writable for us: replace it.
        guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else {
            throw StorageError(.write, name, code: errno)
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = openat(folder, name, flags, 0o600)
        guard descriptor >= 0 else { throw StorageError(.write, name, code: errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StorageError(.write, name, code: errno) }
            written += count
        }
    }

    package func sync(_ name: String) throws(StorageError) {
        try checked(name, .sync)
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw StorageError(.sync, name, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError(.sync, name, code: errno) }
    }

    package func rename(_ name: String, to other: String) throws(StorageError) {
        try checked(name, .rename)
        try checked(other, .rename)
        guard renameat(folder, name, folder, other) == 0 else {
            throw StorageError(.rename, other, code: errno)
        }
    }

    /// The same between two folders of one file system.
    package func rename(
        _ name: String,
        to other: String,
        in target: TrustFolder
    ) throws(StorageError) {
        try checked(name, .rename)
        try checked(other, .rename)
        guard renameat(folder, name, target.folder, other) == 0 else {
            throw StorageError(.rename, other, code: errno)
        }
    }

    package func remove(_ name: String) throws(StorageError) {
        try checked(name, .remove)
        guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else {
            throw StorageError(.remove, name, code: errno)
        }
    }

    package func syncFolder() throws(StorageError) {
        guard fsync(folder) == 0 else { throw StorageError(.sync, path, code: errno) }
    }

    package func names() throws(StorageError) -> [String] {
        guard let stream = opendir(path) else { throw StorageError(.read, path, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    String(validatingCString: $0)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
