import Domain
import Glibc

/// A file in the making, beside the one whose place it takes: that is whole at any moment, old or new.
///
/// Several processes can write the same file at once: each has a draft of its own, and the last one to
/// publish wins. A draft is held by a lock that ends with its process, so that the next one
/// for the same file removes it.
package final class Draft {
    package let descriptor: CInt
    private let path: String
    private let name: String
    private var isPublished = false

    private init(_ descriptor: CInt, _ name: String, for path: String) {
        self.descriptor = descriptor
        self.name = name
        self.path = path
    }

    deinit {
        if !isPublished { unlink(name) }
        close(descriptor)
    }

    /// The draft, or the number of what stands in its way.
    ///
    /// Its mode is what the process's mask leaves of `mode`.
    package static func begin(for path: String, mode: UInt32) -> Result<Draft, Fault> {
        removeOrphans(of: path)
        while true {
            let name = "\(path).\(Self.mark())\(ending)"
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            let descriptor = open(name, flags, mode)
            guard descriptor >= 0 else {
                if errno == EEXIST || errno == EINTR { continue }
                return .failure(Fault(code: errno))
            }
            let draft = Draft(descriptor, name, for: path)
            var status = stat()
            // Somebody may have taken it for an orphan before it was held.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { continue }
            if fstat(descriptor, &status) == 0, status.st_nlink == 0 { continue }
            return .success(draft)
        }
    }

    package struct Fault: Error {
        package let code: CInt
    }

    /// Puts it on the disk and gives it its name; the number of what went wrong.
    package func publish() -> CInt? {
        guard fsync(descriptor) == 0, rename(name, path) == 0 else { return errno }
        isPublished = true
        let folder = open(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        return fsync(folder) == 0 || errno == EINVAL ? nil : errno
    }

    /// Writes a whole file; with `isExact` its mode is this one, whatever the process's mask, and it is the
    /// same user's as what stands at `likeness`, so that a service reads what root has written.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32,
        isExact: Bool = false,
        ownedAs likeness: String? = nil
    ) -> CInt? {
        switch begin(for: path, mode: mode) {
        case .failure(let fault): return fault.code
        case .success(let draft):
            if let code = draft.write(bytes) { return code }
            if let likeness, let code = draft.belong(as: likeness) { return code }
            if isExact, fchmod(draft.descriptor, mode) != 0 { return errno }
            return draft.publish()
        }
    }

    /// Gives it the owner of a file or, where there is none yet, of the folder that it is to be in.
    private func belong(as path: String) -> CInt? {
        var status = stat()
        guard stat(path, &status) == 0 || stat(Self.folder(of: path), &status) == 0 else {
            return nil
        }
        // Without root a file cannot be given away, but it can be shared with a group of the user.
        guard geteuid() == 0 else {
            _ = fchown(descriptor, .max, status.st_gid)
            return nil
        }
        return fchown(descriptor, status.st_uid, status.st_gid) == 0 ? nil : errno
    }

    private func write(_ bytes: [UInt8]) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EIO : errno }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    /// Makes the folder that a file is to be in, for its owner alone: that of the folder above.
    package static func makeFolder(of path: String) {
        let folder = folder(of: path)
        guard mkdir(folder, 0o700) == 0, geteuid() == 0 else { return }
        var status = stat()
        guard stat(Self.folder(of: folder), &status) == 0 else { return }
        _ = chown(folder, status.st_uid, status.st_gid)
    }

    /// Puts on the disk what was done in a file's folder.
    package static func sync(folderOf path: String) {
        let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    // MARK: What others left

    private static let ending = ".part"

    /// Nobody else's, not even that of a process that had our number and was killed.
    private static func mark() -> String {
        Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Whether a file's name is that of a draft.
    package static func isName(_ name: String) -> Bool {
        guard name.hasSuffix(ending) else { return false }
        let mark = name.utf8.dropLast(ending.utf8.count).split(separator: 0x2E).last ?? [][...]
        return Hex.bytes(String(decoding: mark, as: UTF8.self))?.count == 8
    }

    package static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Removes the drafts of processes that have ended.
    private static func removeOrphans(of path: String) {
        let folder = folder(of: path)
        let own = Array(path.utf8.split(separator: 0x2F).last ?? []) + [0x2E]
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                Array(bytes.prefix { $0 != 0 })
            }
            guard name.count == own.count + 16 + ending.utf8.count, name.starts(with: own),
                name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
            else { continue }
            let orphan = folder + "/" + String(decoding: name, as: UTF8.self)
            let descriptor = open(orphan, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(orphan) }
            close(descriptor)
        }
    }
}
