import Domain
import Glibc

/// A file in the making, beside the one that it replaces: that one is complete at any moment, old
/// or new.
///
/// Several processes can write the same file at the same time: each has a draft of its own, and the
/// last one to publish wins. A draft is locked, and the lock ends with its process, so that the
/// next process with the same file removes it.
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

    /// The draft, or the error number.
    ///
    /// Its mode is `mode` reduced by the process's mask.
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
            // Another process may have taken it for an orphan before it was locked.
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { continue }
            if fstat(descriptor, &status) == 0, status.st_nlink == 0 { continue }
            return .success(draft)
        }
    }

    package struct Fault: Error {
        package let code: CInt
    }

    /// Writes it to disk and gives it its name; returns the error number.
    package func publish() -> CInt? {
        guard fsync(descriptor) == 0, rename(name, path) == 0 else { return errno }
        isPublished = true
        let folder = open(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        return fsync(folder) == 0 || errno == EINVAL ? nil : errno
    }

    /// Writes a whole file.
    ///
    /// With `isExact` its mode is exactly this one, whatever the process's mask, and its owner is
    /// the one of the file at `likeness`, so that a service can read what root has written.
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

    /// Gives it the owner of a file or, when that does not exist yet, of the folder that it will be
    /// in.
    private func belong(as path: String) -> CInt? {
        var status = stat()
        guard stat(path, &status) == 0 || stat(Self.folder(of: path), &status) == 0 else {
            return nil
        }
        // Without root the owner of a file cannot be changed, but its group can be one of the
        // user's.
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

    /// Creates the folder of a file, accessible for its owner only: the owner of the folder above.
    package static func makeFolder(of path: String) {
        let folder = folder(of: path)
        guard mkdir(folder, 0o700) == 0, geteuid() == 0 else { return }
        var status = stat()
        guard stat(Self.folder(of: folder), &status) == 0 else { return }
        _ = chown(folder, status.st_uid, status.st_gid)
    }

    /// Syncs the folder of a file.
    package static func sync(folderOf path: String) {
        let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    // MARK: Leftovers

    private static let ending = ".part"

    /// A random name, so that no other process has it, not even a killed one with our process id.
    private static func mark() -> String {
        Hex.text((0..<8).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Whether this is the name of a draft.
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
