import CLinux
import Glibc

/// A directory that is open: everything in it is reached by its name there, and never through a link.
///
/// Anyone who may write into a directory can exchange what is below it at any moment. A path that is used twice can mean
/// two files; a descriptor cannot.
package final class Folder: Sendable {
    package let descriptor: CInt

    private init(owning descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Links on one way, as the kernel limits them.
    private static let mostLinks = 40

    /// Opens a directory by its path.
    ///
    /// A link on the way is followed only when it is root's or the user's own: nobody else decides where we write.
    package static func open(_ path: String) throws(FileFault) -> Folder {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw FileFault(code: ENOENT) }
        var folder = try start(of: path)
        var rest = parts(path)
        var links = 0
        while let part = rest.popLast() {
            let next = unsafe Folder(
                owning: try opened(openat(folder.descriptor, part, Self.toWalk))
            )
            let facts = try next.facts()
            switch facts.kind {
            case .folder: folder = next
            case .link:
                links += 1
                guard facts.owner == 0 || facts.owner == geteuid(), links <= mostLinks else {
                    throw FileFault(code: ELOOP)
                }
                let target = try next.target()
                if target.hasPrefix("/") { folder = try start(of: target) }
                rest += parts(target)
            case .file, .other: throw FileFault(code: ENOTDIR)
            }
        }
        return folder
    }

    private static let toWalk = open_path | O_NOFOLLOW | O_CLOEXEC

    private static func start(of path: String) throws(FileFault) -> Folder {
        let name = path.hasPrefix("/") ? "/" : "."
        return unsafe Folder(
            owning: try opened(Glibc.open(name, open_path | O_DIRECTORY | O_CLOEXEC))
        )
    }

    /// The parts of a path, the first one last.
    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map { String($0) }
    }

    private static func opened(_ descriptor: CInt) throws(FileFault) -> CInt {
        guard descriptor >= 0 else { throw FileFault(code: errno) }
        return descriptor
    }

    private static func check(_ result: CInt) throws(FileFault) {
        guard result == 0 else { throw FileFault(code: errno) }
    }

    /// What a link, opened as itself, names.
    private func target() throws(FileFault) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlinkat(descriptor, "", &bytes, bytes.count - 1)
        guard count > 0 else { throw FileFault(code: count < 0 ? errno : ENOENT) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: The directory itself

    package func facts() throws(FileFault) -> FileFacts { try FileFacts(of: descriptor) }

    /// Its path without links, for libraries that open files themselves.
    package func path() throws(FileFault) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count - 1)
        guard count > 0 else { throw FileFault(code: errno) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Puts its entries on disk.
    package func sync() throws(FileFault) {
        let folder = try readable()
        defer { close(folder) }
        guard fsync(folder) == 0 || errno == EINVAL else { throw FileFault(code: errno) }
    }

    /// The names in it, sorted.
    package func names() throws(FileFault) -> [String] {
        let folder = try readable()
        guard let stream = unsafe fdopendir(folder) else {
            let fault = FileFault(code: errno)
            close(folder)
            throw fault
        }
        return unsafe Self.names(of: stream)
    }

    /// The names in a directory that is only read, sorted; a link to it is followed.
    package static func names(in path: String) throws(FileFault) -> [String] {
        guard let stream = unsafe opendir(path) else { throw FileFault(code: errno) }
        return unsafe names(of: stream)
    }

    private static func names(of stream: OpaquePointer) -> [String] {
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func readable() throws(FileFault) -> CInt {
        try unsafe Self.opened(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    // MARK: What is in it

    /// Opens a regular file.
    ///
    /// One that is made here belongs to the owner of the directory, also when root makes it: otherwise that owner could
    /// not open it again.
    package func open(
        _ name: String,
        _ flags: CInt,
        mode: UInt32 = 0
    ) throws(FileFault) -> CInt {
        let safe = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = unsafe openat(self.descriptor, name, flags | safe, mode)
        guard descriptor >= 0 else {
            switch errno {
            case ENXIO, ENODEV: throw .notAFile
            default: throw FileFault(code: errno)
            }
        }
        do throws(FileFault) {
            let facts = try FileFacts(of: descriptor)
            guard facts.kind == .file || flags & O_DIRECTORY != 0 else { throw .notAFile }
            if flags & O_CREAT != 0 { try own(descriptor, facts) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Gives something that root has just made here to the owner of the directory.
    private func own(_ descriptor: CInt, _ made: FileFacts) throws(FileFault) {
        guard geteuid() == 0, made.owner == 0 else { return }
        let facts = try facts()
        guard facts.owner != 0 else { return }
        try Self.check(fchown(descriptor, facts.owner, facts.group))
    }

    /// The facts about an entry, which may be a link; nil when there is none.
    package func facts(of name: String) throws(FileFault) -> FileFacts? {
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
            return FileFacts(status)
        }
        guard errno == ENOENT else { throw FileFault(code: errno) }
        return nil
    }

    /// Gives a file another name, here or in another directory of the same file system; a file of that name is
    /// replaced.
    package func rename(
        _ name: String,
        to other: String,
        in target: Folder? = nil
    ) throws(FileFault) {
        try unsafe Self.check(renameat(descriptor, name, (target ?? self).descriptor, other))
    }

    /// Gives a file a second name, unless something has it.
    package func link(_ name: String, to other: String) throws(FileFault) {
        try unsafe Self.check(linkat(descriptor, name, descriptor, other, 0))
    }

    /// Makes a symbolic link with this text.
    package func makeLink(_ name: String, to text: String) throws(FileFault) {
        try unsafe Self.check(symlinkat(text, descriptor, name))
    }

    /// Removes a file or a link.
    package func remove(_ name: String) throws(FileFault) {
        try unsafe Self.check(unlinkat(descriptor, name, 0))
    }

    /// Makes a directory; false when there is something of that name.
    @discardableResult
    package func makeFolder(_ name: String, mode: UInt32 = 0o700) throws(FileFault) -> Bool {
        guard unsafe mkdirat(descriptor, name, mode) == 0 else {
            guard errno == EEXIST else { throw FileFault(code: errno) }
            return false
        }
        guard geteuid() == 0 else { return true }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let made = try unsafe Self.opened(openat(descriptor, name, flags))
        defer { close(made) }
        try own(made, FileFacts(of: made))
        return true
    }
}
