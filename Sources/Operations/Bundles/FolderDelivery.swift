import Base
import Commands
import Glibc

/// Writes several files below a folder: all of them or none.
///
/// No link below the folder is followed, and no different file is overwritten. A process that is
/// killed in the middle leaves a folder of drafts, which the next delivery removes, and complete
/// files, which the next delivery accepts.
package final class FolderDelivery {
    package struct File {
        let path: [String]
        let bytes: [UInt8]
        let mode: UInt32

        init(path: [String], bytes: [UInt8], mode: UInt32 = 0o644) {
            self.path = path
            self.bytes = bytes
            self.mode = mode
        }

        var name: String { path.joined(separator: "/") }
    }

    private static let mark = ".yardmaster-takeover-"

    private let target: String
    private var files: [File]
    private var root: CInt = -1
    private var drafts: CInt = -1
    private var madeTarget = false
    private var draftsName: String { "\(Self.mark)\(getpid())" }

    /// Checks whether all files can be written; nothing is written yet.
    init(_ files: [File], into target: String) throws(CommandError) {
        self.target = target
        self.files = files
        root = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else {
            guard errno == ENOENT else { throw failure(.cannotCreate, target, errno) }
            // The folder will be created, if its parent allows it.
            let parent = FolderDelivery.parent(of: target)
            guard access(parent, W_OK | X_OK) == 0 else {
                throw failure(.cannotCreate, target, errno)
            }
            return
        }
        guard faccessat(root, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw failure(.cannotCreate, target, errno)
        }
        var missing: [File] = []
        for file in files where try !isThere(file) { missing.append(file) }
        self.files = missing
    }

    deinit {
        removeDrafts(draftsName, of: drafts)
        if drafts >= 0 { close(drafts) }
        if madeTarget { rmdir(target) }
        if root >= 0 {
            flock(root, LOCK_UN)
            close(root)
        }
    }

    private static func parent(of path: String) -> String {
        var trimmed = Array(path.utf8)
        while trimmed.last == 0x2F { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: 0x2F) else { return "." }
        return slash == 0 ? "/" : String(decoding: trimmed.prefix(slash), as: UTF8.self)
    }

    // MARK: Looking

    /// Whether the file exists with exactly these bytes.
    private func isThere(_ file: File) throws(CommandError) -> Bool {
        guard let folder = try folder(of: file, isMade: false) else { return false }
        defer { close(folder) }
        let name = file.path.last ?? ""
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let descriptor = openat(folder, name, flags)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            if errno == ELOOP { throw link(file.name) }
            throw failure(.cannotCreate, "\(target)/\(file.name)", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size == file.bytes.count, holds(descriptor, file.bytes)
        else { throw other(file.name) }
        return true
    }

    private func holds(_ descriptor: CInt, _ bytes: [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var done = 0
        while done < bytes.count {
            let count = pread(descriptor, &piece, piece.count, done)
            if count < 0, errno == EINTR { continue }
            guard count > 0, done + count <= bytes.count,
                piece[..<count].elementsEqual(bytes[done..<done + count])
            else { return false }
            done += count
        }
        return true
    }

    /// Opens the folder of a file, along a path without links; nil when it does not exist.
    private func folder(of file: File, isMade: Bool) throws(CommandError) -> CInt? {
        var folder = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure(.cannotCreate, target, errno) }
        var way = target
        for part in file.path.dropLast() {
            way += "/" + part
            if isMade {
                if mkdirat(folder, part, 0o755) == 0 {
                    fsync(folder)
                    made.append(way)
                } else if errno != EEXIST {
                    let code = errno
                    close(folder)
                    throw failure(.cannotCreate, way, code)
                }
            }
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            var status = stat()
            let isLink =
                next < 0 && fstatat(folder, part, &status, AT_SYMLINK_NOFOLLOW) == 0
                && status.st_mode & S_IFMT == S_IFLNK
            close(folder)
            guard next >= 0 else {
                if code == ENOENT { return nil }
                let name = String(way.dropFirst(target.count + 1))
                if isLink { throw link(name) }
                if code == ENOTDIR { throw other(name) }
                throw failure(.cannotCreate, way, code)
            }
            folder = next
        }
        return folder
    }

    // MARK: Writing

    /// The created folders and the named files, to be undone after a fault.
    private var made: [String] = []
    private var placed: [File] = []

    /// Writes all missing files into a hidden folder.
    func stage() throws(CommandError) {
        if root < 0 {
            guard mkdir(target, 0o755) == 0 else { throw failure(.cannotCreate, target, errno) }
            madeTarget = true
            root = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw failure(.cannotCreate, target, errno) }
        }
        // One delivery at a time: so all existing drafts are from processes that ended.
        while flock(root, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure(.cannotWrite, target, errno) }
        }
        removeOrphans()
        guard !files.isEmpty else { return }
        guard mkdirat(root, draftsName, 0o700) == 0 else {
            throw failure(.cannotCreate, target, errno)
        }
        drafts = openat(root, draftsName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard drafts >= 0 else { throw failure(.cannotCreate, target, errno) }
        for (number, file) in files.enumerated() {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let descriptor = openat(drafts, "\(number)", flags, file.mode)
            guard descriptor >= 0 else { throw failure(.cannotCreate, target, errno) }
            defer { close(descriptor) }
            var written = 0
            while written < file.bytes.count {
                let count = file.bytes[written...].withUnsafeBytes {
                    write(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure(.cannotWrite, file.name, errno) }
                written += count
            }
            guard fsync(descriptor) == 0 else { throw failure(.cannotWrite, file.name, errno) }
        }
    }

    /// Gives every file its name; when that fails for one, it is undone for all.
    func publish() throws(CommandError) {
        do throws(CommandError) {
            for (number, file) in files.enumerated() { try publish(file, number) }
            guard fsync(root) == 0 else { throw failure(.cannotWrite, target, errno) }
            madeTarget = false
        } catch {
            for file in placed.reversed() {
                if let folder = try? folder(of: file, isMade: false) {
                    unlinkat(folder, file.path.last ?? "", 0)
                    close(folder)
                }
            }
            for way in made.reversed() { rmdir(way) }
            throw error
        }
    }

    private func publish(_ file: File, _ number: Int) throws(CommandError) {
        guard let folder = try folder(of: file, isMade: true) else {
            throw failure(.cannotCreate, "\(target)/\(file.name)", ENOENT)
        }
        defer { close(folder) }
        let name = file.path.last ?? ""
        // A link never replaces another file; on file systems without links, an earlier check must
        // be enough.
        if linkat(drafts, "\(number)", folder, name, 0) != 0 {
            let code = errno
            if code == EEXIST {
                guard try !isThere(file) else { return }
                throw failure(.cannotCreate, "\(target)/\(file.name)", code)
            }
            guard code == EPERM || code == ENOTSUP || code == ENOSYS || code == EMLINK,
                try !isThere(file), renameat(drafts, "\(number)", folder, name) == 0
            else { throw failure(.cannotCreate, "\(target)/\(file.name)", code) }
        }
        placed.append(file)
        guard fsync(folder) == 0 else { throw failure(.cannotWrite, file.name, errno) }
    }

    // MARK: Drafts

    /// Removes the drafts of processes that have ended.
    private func removeOrphans() {
        for name in names(in: root) where name.utf8.starts(with: Self.mark.utf8) {
            let folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { continue }
            removeDrafts(name, of: folder)
            close(folder)
        }
    }

    private func removeDrafts(_ name: String, of folder: CInt) {
        guard folder >= 0 else { return }
        for draft in names(in: folder) { unlinkat(folder, draft, 0) }
        unlinkat(root, name, AT_REMOVEDIR)
    }

    private func names(in folder: CInt) -> [String] {
        let again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0, let stream = fdopendir(again) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    // MARK: Refusals

    private func link(_ name: String) -> CommandError {
        refusal(
            "\(name.visible) is a link there, and links are not followed",
            hint: "nothing was written; name another folder, or remove the link"
        )
    }

    private func other(_ name: String) -> CommandError {
        refusal(
            "\(name.visible) is there already and is another file",
            hint: "nothing was written; name another folder, or move that file away"
        )
    }

    /// What stands in the way of this bundle only: other bundles have other folders.
    private func refusal(_ cause: String, hint: String) -> CommandError {
        CommandError(
            .trust,
            "the bundle cannot be taken over into '\(target.visible)'",
            because: [cause],
            hint: hint
        )
    }

    private func failure(
        _ kind: CommandError.Kind,
        _ path: String,
        _ code: CInt
    ) -> CommandError {
        CommandError(
            kind,
            "the bundle cannot be taken over into '\(target.visible)'",
            because: ["\(path.visible): \(String(cString: strerror(code)))"],
            hint: "nothing was written; make room or name another folder"
        )
    }
}
