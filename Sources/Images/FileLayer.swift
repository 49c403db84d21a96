import Glibc

/// The calls by which the store changes a disk, so that a test can end the process at each.
package protocol FileLayer: Sendable {
    /// As open(2), with `O_CLOEXEC` and `O_NOFOLLOW` added.
    func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32
    /// Writes some of the bytes and tells how many.
    func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int
    ) throws(FileFault) -> Int
    func truncate(_ descriptor: Int32, to length: Int) throws(FileFault)
    /// Takes away everybody's right to write.
    func seal(_ descriptor: Int32) throws(FileFault)
    func sync(_ descriptor: Int32) throws(FileFault)
    func rename(_ path: String, to name: String) throws(FileFault)
    func remove(_ path: String) throws(FileFault)
    /// Makes a folder for the owner alone; one that is there already is as good.
    func makeFolder(_ path: String) throws(FileFault)
}

/// The number of a call that failed.
package struct FileFault: Error, Equatable, Sendable {
    package let code: Int32

    package init(code: Int32) { self.code = code }
}

/// The system's own calls.
package struct SystemFiles: FileLayer {
    package init() {}

    package func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw FileFault(code: errno) }
        return descriptor
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
        try check(Glibc.rename(path, name))
    }

    package func remove(_ path: String) throws(FileFault) { try check(unlink(path)) }

    package func makeFolder(_ path: String) throws(FileFault) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw FileFault(code: errno)
    }

    private func check(_ result: Int32) throws(FileFault) {
        guard result == 0 else { throw FileFault(code: errno) }
    }
}

extension FileLayer {
    /// Makes what is in a folder, and not only in its files, survive a loss of power.
    func syncFolder(_ path: String) throws(FileFault) {
        let folder = try open(path, flags: O_RDONLY | O_DIRECTORY, mode: 0)
        defer { close(folder) }
        try sync(folder)
    }

    /// Writes all bytes from `offset` on.
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

    /// The same for bytes that are at hand as an array.
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
