import Base
import Glibc

/// Paths that mean the same file wherever the command is given.
enum AbsolutePath {
    /// The path from the root, through the real folder when that exists.
    static func of(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : current + "/" + path
        let (folder, name) = (FilePlace.folder(of: whole), whole.split(separator: "/").last ?? "")
        if name != "..", name != ".", let real = realpath(folder, nil) {
            defer { free(real) }
            let above = String(cString: real)
            return (above == "/" ? "" : above) + "/" + name
        }
        var parts: [Substring] = []
        for part in whole.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static var current: String {
        guard let folder = getcwd(nil, 0) else { return "" }
        defer { free(folder) }
        return String(cString: folder)
    }
}
