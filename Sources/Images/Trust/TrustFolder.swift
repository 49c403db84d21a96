import Base
import CLinux
import Glibc

/// Trusted documents in a folder on disk, locked for one process at a time.
///
/// Links are not followed, and no name can lead out of the folder.
package final class TrustFolder: TrustFiles {
    package let path: String
    private let folder: Folder
    /// Negative when the folder is not locked.
    private let lock: CInt

    /// Opens a folder, creates it when it is missing, and waits until no other process uses it.
    ///
    /// With `isHeld` false, it neither waits nor leaves a lock file.
    package init(_ path: String, isHeld: Bool = true) throws(StorageError) {
        do throws(FileFault) { folder = try Self.folder(path) } catch {
            throw StorageError(.open, path, code: error.code)
        }
        self.path = path
        guard isHeld else {
            lock = -1
            return
        }
        do throws(FileFault) {
            lock = try folder.open("lock", O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw StorageError(.lock, path, code: error.code) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let code = errno
                close(lock)
                throw StorageError(.lock, path, code: code)
            }
        }
    }

    private static func folder(_ path: String) throws(FileFault) -> Folder {
        do throws(FileFault) { return try Folder.open(path) } catch {
            guard error.code == ENOENT else { throw error }
            try FilePlace.makeFolder(path)
            return try Folder.open(path)
        }
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
    }

    private func checked(_ name: String, _ operation: StorageError.Operation) throws(StorageError) {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F),
            !name.utf8.contains(0)
        else { throw StorageError(operation, name, code: EINVAL) }
    }

    package func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        try checked(name, .read)
        let descriptor: CInt
        do throws(FileFault) { descriptor = try folder.open(name, O_RDONLY) } catch {
            if error.code == ENOENT { return nil }
            throw StorageError(.read, name, code: error.code)
        }
        defer { close(descriptor) }
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
        try remove(name, .write)
        let descriptor: CInt
        do throws(FileFault) {
            descriptor = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        } catch { throw StorageError(.write, name, code: error.code) }
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
        let descriptor: CInt
        do throws(FileFault) { descriptor = try folder.open(name, O_RDONLY) } catch {
            throw StorageError(.sync, name, code: error.code)
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError(.sync, name, code: errno) }
    }

    package func rename(_ name: String, to other: String) throws(StorageError) {
        try rename(name, to: other, in: self)
    }

    /// The same between two folders of one file system.
    package func rename(
        _ name: String,
        to other: String,
        in target: TrustFolder
    ) throws(StorageError) {
        try checked(name, .rename)
        try checked(other, .rename)
        do throws(FileFault) { try folder.rename(name, to: other, in: target.folder) } catch {
            throw StorageError(.rename, other, code: error.code)
        }
    }

    package func remove(_ name: String) throws(StorageError) {
        try checked(name, .remove)
        try remove(name, .remove)
    }

    private func remove(
        _ name: String,
        _ operation: StorageError.Operation
    ) throws(StorageError) {
        do throws(FileFault) { try folder.remove(name) } catch {
            guard error.code != ENOENT else { return }
            throw StorageError(operation, name, code: error.code)
        }
    }

    package func syncFolder() throws(StorageError) {
        do throws(FileFault) { try folder.sync() } catch {
            throw StorageError(.sync, path, code: error.code)
        }
    }

    package func names() throws(StorageError) -> [String] {
        do throws(FileFault) { return try folder.names() } catch {
            throw StorageError(.read, path, code: error.code)
        }
    }
}
