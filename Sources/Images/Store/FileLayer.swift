package import Base
import Glibc

/// The calls by which the store changes a disk; a test can end the process at each of them.
package protocol FileLayer: Sendable {
    /// As `FilePlace.open`; with `O_DIRECTORY` a folder is opened.
    func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32
    /// Writes some of the bytes; returns how many.
    func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int
    ) throws(FileFault) -> Int
    func truncate(_ descriptor: Int32, to length: Int) throws(FileFault)
    /// Removes the write permission of all users.
    func seal(_ descriptor: Int32) throws(FileFault)
    func sync(_ descriptor: Int32) throws(FileFault)
    func rename(_ path: String, to name: String) throws(FileFault)
    func remove(_ path: String) throws(FileFault)
    /// Creates a folder that only the owner can access; an existing one is accepted.
    func makeFolder(_ path: String) throws(FileFault)
}

/// The calls of the system.
package struct SystemFiles: FileLayer {
    package init() {}

    package func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
        try FilePlace.open(path, flags, mode: mode)
    }

    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int
    ) throws(FileFault) -> Int {
        let count = pwrite(descriptor, bytes.baseAddress, bytes.count, offset)
        if count < 0, errno == EINTR { return 0 }
        guard count >= 0 else { throw FileFault(code: errno) }
        return count
    }

    package func truncate(_ descriptor: Int32, to length: Int) throws(FileFault) {
        try check(ftruncate(descriptor, length))
    }

    package func seal(_ descriptor: Int32) throws(FileFault) {
        try check(fchmod(descriptor, 0o444))
    }

    package func sync(_ descriptor: Int32) throws(FileFault) { try check(fsync(descriptor)) }

    package func rename(_ path: String, to name: String) throws(FileFault) {
        try FilePlace.rename(path, to: name)
    }

    package func remove(_ path: String) throws(FileFault) { try FilePlace.remove(path) }

    package func makeFolder(_ path: String) throws(FileFault) {
        try FilePlace.makeFolder(path)
    }

    private func check(_ result: Int32) throws(FileFault) {
        guard result == 0 else { throw FileFault(code: errno) }
    }
}

extension FileLayer {
    /// Syncs a folder, so that its entries survive a power failure, not only its files.
    func syncFolder(_ path: String) throws(FileFault) {
        let folder = try open(path, flags: O_RDONLY | O_DIRECTORY, mode: 0)
        defer { close(folder) }
        try sync(folder)
    }

    /// Writes all bytes, beginning at `offset`.
    func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int
    ) throws(FileFault) {
        var written = 0
        while written < bytes.count {
            written += try write(
                UnsafeRawBufferPointer(rebasing: bytes[written...]),
                to: descriptor,
                at: offset + written
            )
        }
    }

    /// The same for the bytes of an array.
    func writeAll(
        _ bytes: [UInt8],
        to descriptor: Int32,
        at offset: Int
    ) throws(FileFault) {
        var result: Result<Void, FileFault> = .success(())
        bytes.withUnsafeBytes { bytes in
            do throws(FileFault) { try writeAll(bytes, to: descriptor, at: offset) } catch {
                result = .failure(error)
            }
        }
        try result.get()
    }
}
