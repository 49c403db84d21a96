import Glibc

/// Paths that mean the same file wherever the command is given.
package enum AbsolutePath {
    /// The path from the root, through the real folder when that exists.
    package static func of(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : current + "/" + path
        let (folder, name) = (FilePlace.folder(of: whole), whole.split(separator: "/").last ?? "")
        if name != "..", name != ".", let real = unsafe realpath(folder, nil) {
            defer { unsafe free(real) }
            let above = unsafe String(cString: real)
            return (above == "/" ? "" : above) + "/" + name
        }
        var parts: [Substring] = []
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static var current: String {
        guard let folder = unsafe getcwd(nil, 0) else { return "" }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder)
    }
}
