import Glibc

/// The place of a file: the directory that it is in, open, and its name there.
///
/// This is the only way to make, write, rename and remove files of ours. Nothing that others do to the directories on
/// the way changes which file is meant, and a link in the place of the file is never followed.
package struct FilePlace: Sendable {
    package let folder: Folder
    package let name: String

    package init(_ path: String) throws(FileFault) {
        let name = Self.name(of: path)
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0) else {
            throw FileFault(code: path.isEmpty ? ENOENT : EISDIR)
        }
        folder = try Folder.open(Self.folder(of: path))
        self.name = name
    }

    private init(_ folder: Folder, _ name: String) {
        self.folder = folder
        self.name = name
    }

    /// Another name in the same directory.
    package func beside(_ name: String) -> FilePlace { FilePlace(folder, name) }

    /// The path of the directory that a path is in.
    package static func folder(of path: String) -> String {
        let path = trimmed(path)
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        let folder = trimmed(path[..<slash])
        return folder.isEmpty ? "/" : String(folder)
    }

    private static func name(of path: String) -> String {
        let path = trimmed(path)
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return String(path) }
        return String(path[path.utf8.index(after: slash)...])
    }

    private static func trimmed(_ path: some StringProtocol) -> Substring {
        var rest = Substring(path)
        while rest.utf8.count > 1, rest.utf8.last == 0x2F { rest.removeLast() }
        return rest
    }

    // MARK: The file

    /// As `Folder.open`.
    package func open(_ flags: CInt, mode: UInt32 = 0) throws(FileFault) -> CInt {
        try folder.open(name, flags, mode: mode)
    }

    /// The facts about what has the name; nil for nothing.
    package func facts() throws(FileFault) -> FileFacts? { try folder.facts(of: name) }

    /// Whether this user may write it.
    package var isWritable: Bool { unsafe faccessat(folder.descriptor, name, W_OK, 0) == 0 }

    package func remove() throws(FileFault) { try folder.remove(name) }

    @discardableResult
    package func makeFolder(mode: UInt32 = 0o700) throws(FileFault) -> Bool {
        try folder.makeFolder(name, mode: mode)
    }

    // MARK: By path

    package static func open(
        _ path: String,
        _ flags: CInt,
        mode: UInt32 = 0
    ) throws(FileFault) -> CInt {
        try FilePlace(path).open(flags, mode: mode)
    }

    package static func rename(_ path: String, to other: String) throws(FileFault) {
        let (old, new) = (try FilePlace(path), try FilePlace(other))
        try old.folder.rename(old.name, to: new.name, in: new.folder)
    }

    package static func remove(_ path: String) throws(FileFault) { try FilePlace(path).remove() }

    /// Makes a directory for its owner alone; an existing one is accepted.
    package static func makeFolder(_ path: String) throws(FileFault) {
        try FilePlace(path).makeFolder()
    }
}
