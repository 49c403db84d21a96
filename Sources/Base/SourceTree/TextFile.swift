import Glibc

/// A file that could not be read at all, so that the error has no line.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable, CustomStringConvertible {
        case missing
        case notPermitted
        /// A directory, a pipe or a device: reading it might never end.
        case notAFile
        case tooLarge(limit: Int)
        /// The path cannot be the name of a file.
        case badPath
        case system(errno: CInt)

        package var description: String {
            switch self {
            case .missing: "no such file"
            case .notPermitted: "not permitted"
            case .notAFile: "not a regular file"
            case .tooLarge(let limit):
                "larger than \(ByteCount(bytes: limit)?.description ?? "allowed")"
            case .badPath: "not a usable path"
            case .system(let code): unsafe String(cString: strerror(code))
            }
        }
    }

    package let path: String
    package let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "cannot read \(quoted(path)): \(reason)" }
}

/// Reads small regular files only.
package enum TextFile {
    /// The bytes of a regular file of at most `limit` bytes.
    ///
    /// The file is opened without blocking and checked by its descriptor, so that a pipe or a
    /// device in its place is rejected and cannot hang an unattended run.
    package static func read(path: String, limit: Int) throws(FileError) -> [UInt8] {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FileError(path: path, reason: .badPath)
        }
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw FileError(path: path, reason: reason(errno)) }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else {
            throw FileError(path: path, reason: reason(errno))
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw FileError(path: path, reason: .notAFile)
        }
        guard facts.st_size <= limit else {
            throw FileError(path: path, reason: .tooLarge(limit: limit))
        }
        // The size may have changed since it was read, so reading continues to the end of the file.
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: max(4_096, min(Int(facts.st_size) + 1, 1 << 16)))
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileError(path: path, reason: reason(errno))
            }
            bytes.append(contentsOf: chunk.prefix(count))
            guard bytes.count <= limit else {
                throw FileError(path: path, reason: .tooLarge(limit: limit))
            }
        }
    }

    private static func reason(_ code: CInt) -> FileError.Reason {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .notPermitted
        case EISDIR, ENXIO, ENODEV: .notAFile
        case ENAMETOOLONG, ELOOP: .badPath
        default: .system(errno: code)
        }
    }
}
